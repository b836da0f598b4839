package commthread

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// Send spawns a task that sends b to rank dst of c. It reads b, and ends when b may be
// written again. Like every method that spawns an operation, it belongs to the goroutine of
// the scope and returns at once: errors, also of bad arguments, are errors of the task.
// Operations with the same communicator, peer and tag (receives: that could match the same
// message) are posted in the order of their spawns, in any order of readiness; so are the
// collective operations of a communicator. This holds within one scope.
func (t *Thread) Send(in tasks.Scope, c *mpi.Comm, b mpi.Buffer, dst, tag int, cl ...tasks.Clause) {
	t.send(in, 2, c, engine.CallSend, b, dst, tag, cl)
}

// Ssend is Send that ends only when the receive has matched.
func (t *Thread) Ssend(in tasks.Scope, c *mpi.Comm, b mpi.Buffer, dst, tag int, cl ...tasks.Clause) {
	t.send(in, 2, c, engine.CallSsend, b, dst, tag, cl)
}

// SendFrom is Send of a buffer that s chooses when the call is posted (see Source). It declares no
// access to memory: order it by clauses, after the tasks that fill the buffer.
func (t *Thread) SendFrom(in tasks.Scope, c *mpi.Comm, s Source, dst, tag int, cl ...tasks.Clause) {
	if o := t.spawn(in, c, engine.CallSend, 1); o != nil {
		o.call.Peer, o.call.Tag = dst, tag
		o.from(s)
		o.submit(cl)
	}
}

// send spawns a send; skip is as for spawn.
func (t *Thread) send(in tasks.Scope, skip int, c *mpi.Comm, k engine.CallKind, b mpi.Buffer, dst, tag int, cl []tasks.Clause) {
	if o := t.spawn(in, c, k, skip); o != nil {
		o.call.Send, o.call.Peer, o.call.Tag = engine.Buffer(b), dst, tag
		o.access(b, deps.In)
		o.submit(cl)
	}
}

// Recv spawns a task that receives a message from rank src of c, or AnySource, with
// tag, or AnyTag, into b. It writes b: tasks that read b wait for the message.
func (t *Thread) Recv(in tasks.Scope, c *mpi.Comm, b mpi.Buffer, src, tag int, cl ...tasks.Clause) {
	t.recv(in, 2, c, nil, b, src, tag, cl)
}

// RecvStatus is Recv that also stores the status in st; tasks that read st wait for it.
func (t *Thread) RecvStatus(in tasks.Scope, c *mpi.Comm, st *mpi.Status, b mpi.Buffer, src, tag int, cl ...tasks.Clause) {
	t.recv(in, 2, c, st, b, src, tag, cl)
}

// recv spawns a receive; skip is as for spawn.
func (t *Thread) recv(in tasks.Scope, skip int, c *mpi.Comm, st *mpi.Status, b mpi.Buffer, src, tag int, cl []tasks.Clause) {
	if o := t.spawn(in, c, engine.CallRecv, skip); o != nil {
		o.call.Recv, o.call.Peer, o.call.Tag = engine.Buffer(b), src, tag
		o.access(b, deps.Out)
		if o.status = st; st != nil {
			o.Domain.Access(&o.Record, deps.Pointer(st), deps.Out, false, -1, nil)
		}
		o.submit(cl)
	}
}

// collective spawns a collective operation that reads send and writes recv; with InPlace,
// it updates recv.
func (t *Thread) collective(in tasks.Scope, c *mpi.Comm, k engine.CallKind, send, recv mpi.Buffer, op *mpi.Op, root int, cl []tasks.Clause) {
	o := t.spawn(in, c, k, 2)
	if o == nil {
		return
	}
	o.call.Send, o.call.Recv, o.call.Op, o.call.Peer = engine.Buffer(send), engine.Buffer(recv), (*engine.Op)(op), root
	atRoot := c == nil || !k.HasPeer() || c.Rank() == root
	switch {
	case k == engine.CallBcast && atRoot:
		o.access(recv, deps.In)
	case k == engine.CallExscan || send.IsInPlace():
		o.access(send, deps.In)
		o.access(recv, deps.Inout)
	case k == engine.CallScatter:
		if atRoot {
			o.access(send, deps.In)
		}
		o.access(recv, deps.Out)
	default:
		o.access(send, deps.In)
		if atRoot || k == engine.CallBcast {
			o.access(recv, deps.Out)
		}
	}
	o.submit(cl)
}

// Barrier spawns a task that ends when all ranks of c have reached theirs. Order it with
// other tasks by clauses: Reads, Writes, Updates.
func (t *Thread) Barrier(in tasks.Scope, c *mpi.Comm, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallBarrier, mpi.Buffer{}, mpi.Buffer{}, nil, 0, cl)
}

// Bcast spawns a task that copies b of rank root to b of all others: it reads b at the
// root and writes it elsewhere.
func (t *Thread) Bcast(in tasks.Scope, c *mpi.Comm, b mpi.Buffer, root int, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallBcast, mpi.Buffer{}, b, nil, root, cl)
}

// Reduce spawns a task that combines s of all ranks into r of rank root.
func (t *Thread) Reduce(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, op *mpi.Op, root int, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallReduce, s, r, op, root, cl)
}

// Allreduce spawns a task that combines s of all ranks into r of all.
func (t *Thread) Allreduce(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, op *mpi.Op, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallAllreduce, s, r, op, 0, cl)
}

// Scan spawns a task that combines s of this rank and all lower ones into r.
func (t *Thread) Scan(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, op *mpi.Op, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallScan, s, r, op, 0, cl)
}

// Exscan spawns a task that combines s of all lower ranks into r.
func (t *Thread) Exscan(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, op *mpi.Op, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallExscan, s, r, op, 0, cl)
}

// Gather spawns a task that puts s of all ranks into r of rank root.
func (t *Thread) Gather(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, root int, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallGather, s, r, nil, root, cl)
}

// Scatter spawns a task that puts the parts of s of rank root into r of all ranks.
func (t *Thread) Scatter(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, root int, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallScatter, s, r, nil, root, cl)
}

// Allgather spawns a task that puts s of all ranks into r of all.
func (t *Thread) Allgather(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, cl ...tasks.Clause) {
	t.collective(in, c, engine.CallAllgather, s, r, nil, 0, cl)
}

// ReduceScatter spawns a task that combines s of all ranks and puts counts[i] elements of
// the result into r of rank i; nil means equal parts. counts must not change until the task
// has ended.
func (t *Thread) ReduceScatter(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, counts []int, op *mpi.Op, cl ...tasks.Clause) {
	o := t.spawn(in, c, engine.CallReduceScatter, 1)
	if o == nil {
		return
	}
	whole := s
	if s.IsInPlace() {
		whole = r
	}
	if counts == nil && c != nil {
		counts = slices.Repeat([]int{whole.Len() / c.Size()}, c.Size())
	}
	o.call.Send, o.call.Recv, o.call.Op, o.call.RecvCounts, o.call.RecvDispls = engine.Buffer(s), engine.Buffer(r), (*engine.Op)(op), counts, oneAfterAnother(counts, nil)
	if s.IsInPlace() {
		o.access(r, deps.Inout)
	} else {
		o.access(s, deps.In)
		o.access(r, deps.Out)
	}
	o.submit(cl)
}

// Alltoall spawns tasks that put part i of s of rank j into part j of r of rank i. Each
// part is a separate task that reads or writes only its bytes: a reader of one peer's part
// starts when that part has arrived. The parts are equally long. Call Start or Use with the
// communicator first.
func (t *Thread) Alltoall(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, cl ...tasks.Clause) {
	if err := cmp.Or(s.Err(), r.Err()); err != nil {
		t.misuse(in, 2, c, fmt.Errorf("alltoall: %w", err), cl)
		return
	}
	if c == nil || !s.Contiguous() || !r.Contiguous() || s.Len()%c.Size() != 0 || r.Len() != s.Len() || r.ElemSize() != s.ElemSize() {
		t.misuse(in, 2, c, fmt.Errorf("alltoall of %d elements of %d bytes into %d of %d: both buffers are contiguous and hold the same number of elements for each rank", s.Len(), s.ElemSize(), r.Len(), r.ElemSize()), cl)
		return
	}
	n := s.Len() / c.Size()
	counts, displs := make([]int, c.Size()), make([]int, c.Size())
	for i := range counts {
		counts[i], displs[i] = n, i*n
	}
	t.exchange(in, c, s, counts, displs, r, counts, displs, cl)
}

// Alltoallv is Alltoall of parts given by counts and displacements, in elements.
func (t *Thread) Alltoallv(in tasks.Scope, c *mpi.Comm, s mpi.Buffer, scounts, sdispls []int, r mpi.Buffer, rcounts, rdispls []int, cl ...tasks.Clause) {
	if err := checkParts(c, s, scounts, sdispls); err != nil {
		t.misuse(in, 2, c, fmt.Errorf("alltoallv, send buffer: %w", err), cl)
		return
	}
	if err := checkParts(c, r, rcounts, rdispls); err != nil {
		t.misuse(in, 2, c, fmt.Errorf("alltoallv, receive buffer: %w", err), cl)
		return
	}
	if me := c.Rank(); scounts[me] != rcounts[me] || s.ElemSize() != r.ElemSize() && scounts[me] > 0 {
		t.misuse(in, 2, c, fmt.Errorf("alltoallv: this rank sends itself %d elements of %d bytes and receives %d of %d", scounts[me], s.ElemSize(), rcounts[me], r.ElemSize()), cl)
		return
	}
	t.exchange(in, c, s, scounts, sdispls, r, rcounts, rdispls, cl)
}

func checkParts(c *mpi.Comm, b mpi.Buffer, counts, displs []int) error {
	if err := b.Err(); err != nil {
		return err
	}
	if c == nil || !b.Contiguous() || len(counts) != c.Size() || len(displs) != c.Size() {
		return fmt.Errorf("%d counts and %d displacements for a contiguous buffer of a communicator", len(counts), len(displs))
	}
	for i, n := range counts {
		if n < 0 || displs[i] < 0 || n > b.Len()-displs[i] {
			return fmt.Errorf("elements %d to %d, the part of rank %d, lie outside of %d", displs[i], displs[i]+n, i, b.Len())
		}
	}
	return nil
}

// misuse spawns a task that fails; skip is as for spawn.
func (t *Thread) misuse(in tasks.Scope, skip int, c *mpi.Comm, err error, cl []tasks.Clause) {
	if o := t.spawn(in, c, engine.CallAlltoall, skip); o != nil {
		o.Fail(err)
		o.submit(cl)
	}
}

// exchange spawns the messages of an all-to-all: receives first, then the sends, each rank
// beginning with its neighbour so that not all send to one.
func (t *Thread) exchange(in tasks.Scope, c *mpi.Comm, s mpi.Buffer, sc, sd []int, r mpi.Buffer, rc, rd []int, cl []tasks.Clause) {
	t.mu.Lock()
	k := t.family[c]
	tag := 0
	if k != nil {
		tag = k.exchanges % ((*engine.Comm)(c).Engine().Limits().MaxTag + 1)
		k.exchanges++
	}
	t.mu.Unlock()
	if k == nil {
		t.misuse(in, 3, c, fmt.Errorf("alltoall on %s, which the communication thread does not know: call Use on all its ranks first", c.Name()), cl)
		return
	}
	me, p := c.Rank(), c.Size()
	for i := 1; i < p; i++ {
		if from := (me + p - i) % p; rc[from] > 0 {
			t.recv(in, 3, k.private, nil, r.Part(rd[from], rc[from]), from, tag, cl)
		}
	}
	for i := 1; i < p; i++ {
		if to := (me + i) % p; sc[to] > 0 {
			t.send(in, 3, k.private, engine.CallSend, s.Part(sd[to], sc[to]), to, tag, cl)
		}
	}
	own, ownTo := engine.Buffer(s.Part(sd[me], sc[me])), engine.Buffer(r.Part(rd[me], rc[me]))
	from, _ := regionOf(own)
	to, _ := regionOf(ownTo)
	tasks.Spawn(task.Above(in, 2), "alltoall own part", func(*tasks.Context) error {
		engine.Copy(ownTo, own)
		return nil
	}, append([]tasks.Clause{tasks.Reads(from), tasks.Writes(to)}, cl...)...)
}

// oneSided spawns an access of a window. The accesses of one window are posted in spawn
// order.
func (t *Thread) oneSided(in tasks.Scope, w *mpi.Win, k engine.CallKind, fill func(*operation), cl []tasks.Clause) {
	var c *mpi.Comm
	if w != nil {
		c = w.Comm()
	}
	o := t.spawn(in, c, k, 2)
	if o == nil {
		return
	}
	if w == nil {
		o.Fail(errors.New("the window is nil"))
	}
	o.call.Win = (*engine.Win)(w)
	fill(o)
	o.submit(cl)
}

// Put spawns a task that writes b to the window of rank target, from element at on. It ends
// when b may be written again.
func (t *Thread) Put(in tasks.Scope, w *mpi.Win, b mpi.Buffer, target, at int, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallPut, func(o *operation) {
		o.call.Send, o.call.Peer, o.call.Offset = engine.Buffer(b), target, at
		o.access(b, deps.In)
	}, cl)
}

// PutNotify is Put that then adds 1 to notification counter id of the target.
func (t *Thread) PutNotify(in tasks.Scope, w *mpi.Win, b mpi.Buffer, target, at, id int, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallNotify, func(o *operation) {
		o.call.Send, o.call.Peer, o.call.Offset, o.call.Tag = engine.Buffer(b), target, at, id
		o.access(b, deps.In)
	}, cl)
}

// PutTileNotify is PutNotify into a tile of the target's window: columns of rows elements that start ld elements apart, the first at
// element at (mpi.Win.PutTileNotify).
func (t *Thread) PutTileNotify(in tasks.Scope, w *mpi.Win, b mpi.Buffer, target, at, rows, ld, id int, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallNotify, func(o *operation) {
		o.call.Send, o.call.Peer, o.call.Offset, o.call.Tag = engine.Buffer(b), target, at, id
		o.call.Tile, o.call.Rows, o.call.LD = true, rows, ld
		o.access(b, deps.In)
	}, cl)
}

// PutTileNotifyFrom is PutTileNotify of a buffer that s chooses when the call is posted (see Source). As with SendFrom,
// clauses order it.
func (t *Thread) PutTileNotifyFrom(in tasks.Scope, w *mpi.Win, s Source, target, at, rows, ld, id int, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallNotify, func(o *operation) {
		o.call.Peer, o.call.Offset, o.call.Tag = target, at, id
		o.call.Tile, o.call.Rows, o.call.LD = true, rows, ld
		o.from(s)
	}, cl)
}

// Get spawns a task that reads b from the window of rank target, from element at on.
func (t *Thread) Get(in tasks.Scope, w *mpi.Win, b mpi.Buffer, target, at int, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallGet, func(o *operation) {
		o.call.Recv, o.call.Peer, o.call.Offset = engine.Buffer(b), target, at
		o.access(b, deps.Out)
	}, cl)
}

// Accumulate spawns a task that combines b with op into the window of rank target, from
// element at on. It ends when b may be written again.
func (t *Thread) Accumulate(in tasks.Scope, w *mpi.Win, b mpi.Buffer, op *mpi.Op, target, at int, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallAccumulate, func(o *operation) {
		o.call.Send, o.call.Op, o.call.Peer, o.call.Offset = engine.Buffer(b), (*engine.Op)(op), target, at
		o.access(b, deps.In)
	}, cl)
}

// AwaitNotify spawns a task that ends when notification counter id of this rank has been
// incremented count times. written, which may be empty, is the part of the window with the
// notified data: tasks that read it wait for the notification.
func (t *Thread) AwaitNotify(in tasks.Scope, w *mpi.Win, written mpi.Buffer, id, count int, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallAwaitNotify, func(o *operation) {
		o.call.Tag, o.call.Count = id, count
		o.access(written, deps.Inout)
	}, cl)
}

// Fence spawns a task that ends when every access of every rank spawned before its fence
// is complete. It updates this rank's part of the window.
func (t *Thread) Fence(in tasks.Scope, w *mpi.Win, cl ...tasks.Clause) {
	t.oneSided(in, w, engine.CallFence, func(o *operation) {
		if w != nil {
			o.access(w.Memory(), deps.Inout)
		}
	}, cl)
}
