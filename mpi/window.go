package mpi

import "github.com/weft-hpc/weft/internal/engine"

// Notifications is the number of notification counters of each rank in a window.
const Notifications = engine.Notifications

// Win is a window: memory of every rank of a communicator that the others read and write
// without its help (MPI_Win).
//
// An access is complete, at the target too, after Flush, Unlock or Fence. Accesses to one
// place must be ordered by these, by a lock or by messages between the ranks; otherwise they
// are a race. Accumulations with the same operation may be unordered. A rank may read the
// writes of others to its memory after a Fence, a notification, or a message sent after
// their completion. Accesses to target ProcNull do nothing.
type Win engine.Win

// inner returns the window as engines see it.
func (w *Win) inner() *engine.Win { return (*engine.Win)(w) }

// NewWin opens b to all ranks of c. b is contiguous and may be empty. All ranks use the same
// kind of elements; the lengths may differ. Collective.
func (c *Comm) NewWin(b Buffer) (*Win, error) {
	if err := c.inner().Usable("new window"); err != nil {
		return nil, err
	}
	m := engine.Buffer(b)
	k := &engine.Call{Kind: engine.CallFence, Comm: c.inner(), Recv: m}
	if err := b.Err(); err != nil {
		k.Err = err
	} else if !b.Contiguous() || b.IsInPlace() {
		k.Err = ErrBuffer
	}
	mine := [][3]int64{{int64(b.Len()), int64(m.Kind()), int64(m.ElemSize())}}
	if k.Err != nil {
		mine[0][0] = -1
	}
	all := make([][3]int64, c.Size())
	if err := c.Allgather(Of(mine), Of(all)); err != nil {
		return nil, err
	}
	sizes := make([]int, c.Size())
	for r, x := range all {
		if x[0] < 0 {
			return nil, k.Fail(ErrBuffer, 0, 0, "the memory of rank %d cannot be a window: it must be a contiguous buffer without pointers", r)
		}
		if x[1] != all[0][1] || x[2] != all[0][2] {
			return nil, k.Fail(ErrKind, 0, 0, "rank 0 opens elements of %v, rank %d of %v", engine.Kind(all[0][1]), r, engine.Kind(x[1]))
		}
		sizes[r] = int(x[0])
	}
	w, err := engine.NewWin(c.inner(), m, sizes)
	if err != nil {
		return nil, err
	}
	return (*Win)(w), c.Barrier()
}

// Comm returns the communicator of the window.
func (w *Win) Comm() *Comm { return (*Comm)(w.inner().Comm()) }

// Memory returns this rank's part of the window.
func (w *Win) Memory() Buffer { return Buffer(w.inner().Memory()) }

// Size returns the number of elements of rank r.
func (w *Win) Size(r int) int { return w.inner().Size(r) }

// access holds the arguments of a one-sided call.
type access struct {
	kind       engine.CallKind
	send, recv Buffer
	op         *Op
	peer       int
	at, tag, n int
	rows, ld   int
	tile       bool
	exclusive  bool
}

func (a *access) fill(w *Win, k *engine.Call) {
	k.Kind, k.Win, k.Send, k.Recv, k.Op, k.Peer = a.kind, w.inner(), engine.Buffer(a.send), engine.Buffer(a.recv), (*engine.Op)(a.op), a.peer
	k.Offset, k.Tile, k.Rows, k.LD, k.Tag, k.Count, k.Exclusive = a.at, a.tile, a.rows, a.ld, a.tag, a.n, a.exclusive
}

func (w *Win) now(a access) error {
	c := w.Comm()
	k := c.scratch()
	defer c.release(k)
	a.fill(w, k)
	_, err := c.do(k)
	return err
}

func (w *Win) later(a access) *Request {
	r := w.Comm().request()
	a.fill(w, &r.call)
	return r.post()
}

// Put writes b to the window of rank target, from element at on. It returns when b may be
// written to again. The methods with an I before the name start an access and return a
// request.
func (w *Win) Put(b Buffer, target, at int) error {
	return w.now(access{kind: engine.CallPut, send: b, peer: target, at: at})
}

// Iput starts Put.
func (w *Win) Iput(b Buffer, target, at int) *Request {
	return w.later(access{kind: engine.CallPut, send: b, peer: target, at: at})
}

// Get reads b from the window of rank target, from element at on.
func (w *Win) Get(b Buffer, target, at int) error {
	return w.now(access{kind: engine.CallGet, recv: b, peer: target, at: at})
}

// Iget starts Get.
func (w *Win) Iget(b Buffer, target, at int) *Request {
	return w.later(access{kind: engine.CallGet, recv: b, peer: target, at: at})
}

// Accumulate combines b into the window of rank target, from element at on, each element
// atomically. op is predefined; with [Replace] the last writer wins.
func (w *Win) Accumulate(b Buffer, op *Op, target, at int) error {
	return w.now(access{kind: engine.CallAccumulate, send: b, op: op, peer: target, at: at})
}

// Iaccumulate starts Accumulate.
func (w *Win) Iaccumulate(b Buffer, op *Op, target, at int) *Request {
	return w.later(access{kind: engine.CallAccumulate, send: b, op: op, peer: target, at: at})
}

// PutNotify is Put that then adds 1 to notification counter id of the target. When the
// target sees the count, the data is in place.
func (w *Win) PutNotify(b Buffer, target, at, id int) error {
	return w.now(access{kind: engine.CallNotify, send: b, peer: target, at: at, tag: id})
}

// IputNotify starts PutNotify.
func (w *Win) IputNotify(b Buffer, target, at, id int) *Request {
	return w.later(access{kind: engine.CallNotify, send: b, peer: target, at: at, tag: id})
}

// PutTileNotify is PutNotify into a tile of the target's window, as [Tile] describes it: the first rows elements of b
// from element at on, the next rows elements ld elements behind them, and so on. b has any layout and whole columns: another
// number of elements is [ErrCount], and a tile that leaves the window, or whose columns overlap, [ErrWindow].
func (w *Win) PutTileNotify(b Buffer, target, at, rows, ld, id int) error {
	return w.now(access{kind: engine.CallNotify, send: b, peer: target, at: at, tile: true, rows: rows, ld: ld, tag: id})
}

// IputTileNotify starts PutTileNotify.
func (w *Win) IputTileNotify(b Buffer, target, at, rows, ld, id int) *Request {
	return w.later(access{kind: engine.CallNotify, send: b, peer: target, at: at, tile: true, rows: rows, ld: ld, tag: id})
}

// AwaitNotify waits until notification counter id of this rank is at least count, and
// subtracts count.
func (w *Win) AwaitNotify(id, count int) error {
	return w.now(access{kind: engine.CallAwaitNotify, tag: id, n: count})
}

// IawaitNotify starts AwaitNotify.
func (w *Win) IawaitNotify(id, count int) *Request {
	return w.later(access{kind: engine.CallAwaitNotify, tag: id, n: count})
}

// Fence waits until all ranks have called it. All accesses before it are complete and
// visible to all accesses after it. Collective.
func (w *Win) Fence() error { return w.now(access{kind: engine.CallFence}) }

// Ifence starts Fence.
func (w *Win) Ifence() *Request { return w.later(access{kind: engine.CallFence}) }

// Lock locks the window of target, exclusively or shared with others. It waits for ranks
// whose lock excludes this one. It does not keep out accesses without a lock. A rank that
// holds the lock already gets [ErrState].
func (w *Win) Lock(target int, exclusive bool) error {
	return w.now(access{kind: engine.CallLock, peer: target, exclusive: exclusive})
}

// Unlock completes this rank's accesses to target and unlocks its window.
func (w *Win) Unlock(target int) error { return w.now(access{kind: engine.CallUnlock, peer: target}) }

// Flush completes this rank's accesses to target, or to AllRanks.
func (w *Win) Flush(target int) error { return w.now(access{kind: engine.CallFlush, peer: target}) }

// Iflush starts Flush.
func (w *Win) Iflush(target int) *Request {
	return w.later(access{kind: engine.CallFlush, peer: target})
}

// Free completes all accesses of all ranks and closes the window. Collective.
func (w *Win) Free() error {
	if err := w.Fence(); err != nil {
		return err
	}
	return w.inner().Free()
}
