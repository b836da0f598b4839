package mpitest

import (
	"errors"
	"strings"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// misuseCases: calls with wrong arguments fail with the error class of the contract, and the
// communicator still works.
func misuseCases() []Case {
	return []Case{
		one("misuse/ranks and tags", misuseRanks),
		one("misuse/buffers", misuseBuffers),
		one("misuse/collective operations", misuseCollective),
		one("misuse/reductions", misuseReductions),
		one("misuse/parts", misuseParts),
		one("misuse/an operation that panics", misusePanic),
		one("misuse/windows", misuseWindows),
		one("misuse/memory that cannot be a window", misuseWindowMemory),
		one("misuse/the world is not freed", misuseWorld),
		one("misuse/a communicator that was freed", misuseFreed),
		one("misuse/free while in use", misuseFreeInUse),
		one("misuse/errors say where", misuseText),
	}
}

func misuseRanks(r *rank) {
	b := mpi.Of(blank(2))
	for _, peer := range []int{r.Size(), 1 << 30, -3, -100} {
		r.at("rank %d", peer)
		r.wants(r.Send(b, peer, 0), mpi.ErrRank, "send")
		r.wants(r.Ssend(b, peer, 0), mpi.ErrRank, "ssend")
		r.wants(wait(r.Isend(b, peer, 0)), mpi.ErrRank, "isend")
		_, err := r.Recv(b, peer, 0)
		r.wants(err, mpi.ErrRank, "recv")
		_, err = r.Probe(peer, 0)
		r.wants(err, mpi.ErrRank, "probe")
		_, _, err = r.Iprobe(peer, 0)
		r.wants(err, mpi.ErrRank, "iprobe")
		_, err = r.Mprobe(peer, 0)
		r.wants(err, mpi.ErrRank, "mprobe")
	}
	r.wants(r.Send(b, mpi.AnySource, 0), mpi.ErrRank, "send to any rank")
	over := r.inner().Engine().Limits().MaxTag + 1
	for _, tag := range []int{over, -1, -2, -1 << 40} {
		r.at("tag %d", tag)
		r.wants(r.Send(b, r.right(), tag), mpi.ErrTag, "send")
		r.wants(wait(r.Issend(b, r.right(), tag)), mpi.ErrTag, "issend")
		if tag != mpi.AnyTag {
			_, err := r.Recv(b, r.left(), tag)
			r.wants(err, mpi.ErrTag, "recv")
			_, err = r.Improbe(r.left(), tag)
			r.wants(err, mpi.ErrTag, "improbe")
		}
	}
	r.usable()
}

func misuseBuffers(r *rank) {
	x := blank(10)
	s := "text"
	for name, b := range map[string]mpi.Buffer{
		"pointers":              mpi.Of([]*int64{nil}),
		"a string":              mpi.One(&s),
		"a struct with a slice": mpi.Of([]struct{ A []int }{{}}),
		"negative blocks":       mpi.Strided(x, -1, 2, 2),
		"a negative block":      mpi.Strided(x, 2, -2, 2),
		"overlapping blocks":    mpi.Strided(x, 2, 4, 3),
		"too many blocks":       mpi.Strided(x, 4, 2, 3),
		"a block too long":      mpi.Strided(x, 1, 11, 11),
		"a tile that is cut":    mpi.Tile(x, 3, 3, 4),
	} {
		r.at("%s", name)
		r.wants(r.Send(b, r.right(), 0), mpi.ErrBuffer, "send")
		_, err := r.Recv(b, r.left(), 0)
		r.wants(err, mpi.ErrBuffer, "recv")
		r.wants(r.Bcast(b, 0), mpi.ErrBuffer, "bcast")
		_, err = r.SendrecvReplace(b, r.right(), 0, r.left(), 0)
		r.wants(err, mpi.ErrBuffer, "sendrecv-replace")
	}
	r.at("in place")
	r.wants(r.Send(mpi.InPlace, r.right(), 0), mpi.ErrBuffer, "send")
	_, err := r.Recv(mpi.InPlace, r.left(), 0)
	r.wants(err, mpi.ErrBuffer, "recv")
	_, err = mpi.NewOp("none", true, func(acc, in []*int) {})
	r.equal("an operation on pointers is refused", err != nil, true)
	_, err = mpi.NewOp[int64]("none", true, nil)
	r.equal("an operation without a function is refused", err != nil, true)
	r.usable()
}

func misuseCollective(r *rank) {
	b, all := mpi.Of(blank(2)), mpi.Of(blank(2*r.Size()))
	for _, root := range []int{-1, r.Size(), mpi.ProcNull} {
		r.wants(r.Bcast(b, root), mpi.ErrRank, "bcast")
		r.wants(wait(r.Ibcast(b, root)), mpi.ErrRank, "ibcast")
		r.wants(r.Reduce(b, b, mpi.Sum, root), mpi.ErrRank, "reduce")
		r.wants(r.Gather(b, all, root), mpi.ErrRank, "gather")
		r.wants(r.Scatter(all, b, root), mpi.ErrRank, "scatter")
	}
	r.wants(r.Bcast(mpi.InPlace, 0), mpi.ErrBuffer, "bcast in place")
	r.wants(r.Alltoall(mpi.InPlace, all), mpi.ErrBuffer, "alltoall in place")
	r.wants(r.Allgather(b, mpi.InPlace), mpi.ErrBuffer, "allgather into in place")
	if r.Size() > 1 {
		r.wants(r.Gather(mpi.InPlace, all, r.right()), mpi.ErrBuffer, "gather in place beside the root")
	}
	r.usable()
	r.usableCollectively(2)
}

func misuseReductions(r *rank) {
	x, y := blank(2), blank(3)
	f := []float64{1, 2}
	r.wants(r.Allreduce(mpi.Of(x), mpi.Of(y), mpi.Sum), mpi.ErrCount, "buffers of different lengths")
	r.wants(r.Allreduce(mpi.Of(x), mpi.Of(f), mpi.Sum), mpi.ErrKind, "buffers of different kinds")
	r.wants(r.Allreduce(mpi.InPlace, mpi.Of(f), mpi.Band), mpi.ErrKind, "band of floats")
	r.wants(r.Allreduce(mpi.InPlace, mpi.Of([]bool{true}), mpi.Sum), mpi.ErrKind, "sum of bool")
	r.wants(r.Scan(mpi.InPlace, mpi.Of([]complex128{1}), mpi.Max), mpi.ErrKind, "max of complex numbers")
	r.wants(r.Exscan(mpi.InPlace, mpi.Of([]pixel{{}}), mpi.Sum), mpi.ErrKind, "sum of structs")
	r.wants(r.Allreduce(mpi.InPlace, mpi.Of(x), mpi.MaxLoc), mpi.ErrKind, "maxloc of numbers")
	r.wants(r.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Replace), mpi.ErrKind, "replace in a reduction")
	r.wants(r.Allreduce(mpi.InPlace, mpi.Of(x), nil), mpi.ErrKind, "no operation")
	r.wants(r.Allreduce(mpi.InPlace, mpi.Of(x), matrixOp(r)), mpi.ErrKind, "a user's operation on another type")
	counts := make([]int, r.Size())
	counts[0] = 3
	r.wants(r.ReduceScatter(mpi.Of(x), mpi.Of(x), counts, mpi.Sum), mpi.ErrCount, "counts that add up to something else")
	counts[0] = -1
	r.wants(r.ReduceScatter(mpi.Of(x), mpi.Of(x), counts, mpi.Sum), mpi.ErrCount, "negative count")
	r.usable()
	r.usableCollectively(1)
}

// misusePanic: a function that panics makes the operation fail where it is called; Revoke frees
// the ranks that wait for this one.
func misusePanic(r *rank) {
	op, err := mpi.NewOp("lookup", true, func(acc, in []int64) { panic("no such entry") })
	r.must(err)
	c := r.newRevocable()
	failed := int64(0)
	switch err := c.Allreduce(mpi.InPlace, mpi.Of(blank(2)), op); {
	case r.Size() == 1:
		r.must(err)
	case errors.Is(err, mpi.ErrOp):
		r.equal("the error names operation and panic", strings.Contains(err.Error(), `"lookup"`) && strings.Contains(err.Error(), "no such entry"), true)
		failed = 1
		c.Revoke(errors.New("its operation panicked"))
	default:
		r.wants(err, mpi.ErrRevoked, "waiting for a rank whose operation panicked")
	}
	all := []int64{failed}
	r.must(r.Allreduce(mpi.InPlace, mpi.Of(all), mpi.Sum))
	r.equal("some rank has failed", all[0] > 0, r.Size() > 1)
	r.usable()
}

func misuseParts(r *rank) {
	n := r.Size()
	b, all := mpi.Of(blank(2)), mpi.Of(blank(2*n))
	r.wants(r.Allgather(mpi.Of(blank(3)), all), mpi.ErrCount, "a part of another length")
	r.wants(r.Allgather(mpi.Of([]float64{1, 2}), all), mpi.ErrKind, "a part of another kind")
	r.wants(r.Allgather(b, mpi.Strided(blank(4*n), 2*n, 1, 2)), mpi.ErrBuffer, "parts in a strided buffer")
	r.wants(r.Allgatherv(b, all, make([]int, n+1), nil), mpi.ErrCount, "a count too many")
	counts, displs := make([]int, n), make([]int, n)
	counts[n-1], displs[n-1] = 2, 2*n-1
	r.wants(r.Allgatherv(b, all, counts, displs), mpi.ErrCount, "a part behind the end")
	displs[n-1] = -1
	r.wants(r.Allgatherv(b, all, counts, displs), mpi.ErrCount, "a part before the beginning")
	counts[n-1], displs[n-1] = -2, 0
	r.wants(r.Alltoallv(all, counts, displs, all, counts, displs), mpi.ErrCount, "negative count")
	r.wants(r.Alltoallv(all, counts, nil, all, nil, nil), mpi.ErrCount, "counts on one side")
	r.wants(r.Alltoall(all, mpi.Of(blank(3*n))), mpi.ErrCount, "sides of different lengths")
	if n > 1 {
		r.wants(r.Alltoall(mpi.Of(blank(2*n+1)), mpi.Of(blank(2*n+1))), mpi.ErrCount, "elements that cannot be divided")
	}
	r.usable()
	r.usableCollectively(1)
}

func misuseWindows(r *rank) {
	mem := blank(4)
	w := r.open(mpi.Of(mem))
	two := mpi.Of([]int64{1, 2})
	for what, at := range map[string]int{"behind the end": 4, "across the end": 3, "before the beginning": -1} {
		r.wants(w.Put(two, r.right(), at), mpi.ErrWindow, "put "+what)
		r.wants(w.Get(two, r.right(), at), mpi.ErrWindow, "get "+what)
		r.wants(w.Accumulate(two, mpi.Sum, r.right(), at), mpi.ErrWindow, "accumulate "+what)
		r.wants(w.PutNotify(two, r.right(), at, 0), mpi.ErrWindow, "put-notify "+what)
		r.wants(w.PutTileNotify(two, r.right(), at, 2, 2, 0), mpi.ErrWindow, "put-notify of a tile "+what)
	}
	r.wants(w.PutTileNotify(two, r.right(), 0, 1, 4, 0), mpi.ErrWindow, "a tile whose last column is behind the end")
	r.wants(w.PutTileNotify(two, r.right(), 0, 1, 0, 0), mpi.ErrWindow, "a tile whose columns overlap")
	for _, rows := range []int{-1, 0, 3} {
		r.wants(w.PutTileNotify(two, r.right(), 0, rows, 3, 0), mpi.ErrCount, "a tile of no whole columns")
	}
	r.wants(w.Put(two, r.Size(), 0), mpi.ErrRank, "put to no rank")
	r.wants(w.Lock(-1, true), mpi.ErrRank, "lock of no rank")
	r.wants(w.Flush(r.Size()), mpi.ErrRank, "flush to no rank")
	r.wants(w.Put(mpi.Of([]float64{1}), r.right(), 0), mpi.ErrKind, "put of another kind")
	r.wants(w.Get(mpi.Of([]int32{1}), r.right(), 0), mpi.ErrKind, "get of another kind")
	r.wants(w.Put(mpi.InPlace, r.right(), 0), mpi.ErrBuffer, "put of InPlace")
	op, err := mpi.NewOp("mine", true, func(acc, in []int64) {})
	r.must(err)
	r.wants(w.Accumulate(two, op, r.right(), 0), mpi.ErrKind, "accumulate with a user's operation")
	r.wants(w.Accumulate(two, nil, r.right(), 0), mpi.ErrKind, "accumulate without an operation")
	for _, id := range []int{-1, mpi.Notifications} {
		r.wants(w.PutNotify(two, r.right(), 0, id), mpi.ErrTag, "put-notify")
		r.wants(w.AwaitNotify(id, 1), mpi.ErrTag, "await-notify")
	}
	r.wants(w.AwaitNotify(0, -1), mpi.ErrCount, "negative number of notifications")
	r.must(w.Fence())
	same(r, "window", mem, blank(4))
	r.must(w.Fence())
	r.must(w.Put(two, r.right(), 1))
	r.close(w)
	same(r, "window", mem, []int64{untouched, 1, 2, untouched})
	r.wants(w.Put(two, r.right(), 0), mpi.ErrState, "put into a window that was freed")
	r.wants(w.Fence(), mpi.ErrState, "fence of a window that was freed")
	r.usable()
}

func misuseWindowMemory(r *rank) {
	last := r.Rank() == r.Size()-1
	b := mpi.Of(blank(4))
	if last {
		b = mpi.Strided(blank(9), 3, 1, 3)
	}
	_, err := r.NewWin(b)
	r.wants(err, mpi.ErrBuffer, "strided memory of one rank")
	if b = mpi.Of(blank(4)); last {
		b = mpi.Of([]*int{nil})
	}
	_, err = r.NewWin(b)
	r.wants(err, mpi.ErrBuffer, "pointers of one rank")
	if r.Size() > 1 {
		if b = mpi.Of(blank(4)); last {
			b = mpi.Of([]float32{1})
		}
		_, err = r.NewWin(b)
		r.wants(err, mpi.ErrKind, "different kinds")
	}
	r.usable()
	r.close(r.open(mpi.Of(blank(4))))
}

func misuseWorld(r *rank) {
	world := (*mpi.Comm)(engine.NewWorld(r.inner().Engine()))
	r.wants(world.Free(), mpi.ErrState, "free of the world")
	r.equal("size of the world", world.Size() >= r.Size(), true)
	r.usable()
}

// misuseFreed: every use of a freed communicator is an error, and does not affect a later
// communicator in the same slot of the engine.
func misuseFreed(r *rank) {
	c := r.keep(r.Dup())
	b, got := mpi.Of(blank(2)), mpi.Of(blank(2))
	starter := c.RecvInit(got, mpi.AnySource, 0)
	out := c.Isend(b, c.right(), 0)
	m, err := c.Mprobe(c.left(), 0)
	r.must(err)
	_, err = m.Recv(got)
	r.must(err)
	r.must(wait(out))
	c.drop()
	d := r.keep(r.Dup())
	c.Revoke(errors.New("too late"))
	r.wants(c.Revoked(), mpi.ErrState, "revoked")
	r.equal("freed", c.Freed(), true)
	r.must(starter.Start())
	_, err = starter.Wait()
	r.wants(err, mpi.ErrState, "start of a persistent request")
	r.wants(c.Send(b, 0, 0), mpi.ErrState, "send")
	r.wants(c.Send(b, mpi.ProcNull, 0), mpi.ErrState, "send to ProcNull")
	r.wants(wait(c.Irecv(b, mpi.AnySource, 0)), mpi.ErrState, "irecv")
	_, _, err = c.Iprobe(mpi.AnySource, mpi.AnyTag)
	r.wants(err, mpi.ErrState, "iprobe")
	_, err = c.Sendrecv(b, 0, 0, got, 0, 0)
	r.wants(err, mpi.ErrState, "sendrecv")
	r.wants(c.Barrier(), mpi.ErrState, "barrier")
	r.wants(wait(c.Iallreduce(mpi.InPlace, b, mpi.Sum)), mpi.ErrState, "iallreduce")
	_, err = c.Dup()
	r.wants(err, mpi.ErrState, "dup")
	_, err = c.Split(0, 0)
	r.wants(err, mpi.ErrState, "split")
	_, err = c.SplitShared()
	r.wants(err, mpi.ErrState, "split by machines")
	_, err = c.NewWin(b)
	r.wants(err, mpi.ErrState, "new window")
	r.wants(c.Free(), mpi.ErrState, "second free")
	d.usable()
	d.usableCollectively(2)
	r.usable()
}

// misuseFreeInUse: Free fails on all ranks while one of them uses the communicator, and
// works afterwards.
func misuseFreeInUse(r *rank) {
	c := r.keep(r.Dup())
	w, err := c.NewWin(mpi.Of(blank(2)))
	r.must(err)
	r.wants(c.Free(), mpi.ErrState, "free with a window")
	r.must(w.Free())
	got := blank(1)
	var q *mpi.Request
	if r.Rank() == r.Size()-1 {
		q = c.Irecv(mpi.Of(got), 0, 3)
	}
	r.wants(c.Free(), mpi.ErrPending, "free with a receive of the last rank under way")
	c.usable()
	if r.Rank() == 0 {
		r.must(c.Send(mpi.Of([]int64{5}), r.Size()-1, 3))
	}
	if q != nil {
		r.must(wait(q))
		same(r, "message", got, []int64{5})
	}
	c.drop()
	r.wants(c.Free(), mpi.ErrState, "second free")
	r.usable()
}

// misuseText: errors name the operation, the communicator and the ranks.
func misuseText(r *rank) {
	_, err := r.Recv(mpi.Of(blank(2)), r.Size()+4, 17)
	var e *mpi.Error
	if !errors.As(err, &e) {
		r.failf("the error is %T, and not *mpi.Error", err)
	}
	r.equal("class", e.Class, mpi.ErrRank)
	r.equal("operation", e.Kind, "recv")
	r.equal("communicator", e.Comm, r.Name())
	r.equal("rank", e.Rank, r.Rank())
	r.equal("peer", e.Peer, r.Size()+4)
	r.equal("tag", e.Tag, 17)
}
