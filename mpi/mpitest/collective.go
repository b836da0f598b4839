package mpitest

import (
	"errors"
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// collectiveCases: barriers, broadcasts, and properties of all collective operations.
func collectiveCases() []Case {
	return []Case{
		two("barrier/waits for the last", barrierWaits),
		one("barrier/many", barrierMany),
		one("bcast/every root and size", bcastAll),
		one("bcast/layouts differ", bcastLayouts),
		one("bcast/one after another", bcastSeries),
		two("collective/order is checked", collectiveOrder).needs(OrderCheck),
		two("collective/order of kinds of calls is checked", collectiveOrderLate).needs(OrderCheck),
		one("collective/strangers do not meet", collectiveStrangers),
	}
}

func (k Case) needs(n Needs) Case {
	k.Needs = n
	return k
}

// both runs a collective operation in its blocking or its non-blocking form.
func both(later bool, now func() error, start func() *mpi.Request) error {
	if later {
		return wait(start())
	}
	return now()
}

// forms calls f for the blocking and for the non-blocking form.
func forms(f func(later bool)) {
	f(false)
	f(true)
}

// barrierWaits: the last rank enters only after all others have reported that they entered
// and could not pass.
func barrierWaits(r *rank) {
	last := r.Size() - 1
	for round := range 3 {
		r.at("round %d", round)
		if r.Rank() == last {
			for range last {
				_, err := r.Recv(mpi.Buffer{}, mpi.AnySource, round)
				r.must(err)
			}
			r.must(both(round%2 == 0, r.Barrier, r.Ibarrier))
			continue
		}
		q := r.Ibarrier()
		for range 100 {
			done, _, err := q.Test()
			r.must(err)
			r.equal("passed the barrier before the last one came", done, false)
		}
		r.must(r.Send(mpi.Buffer{}, last, round))
		r.must(wait(q))
	}
}

func barrierMany(r *rank) {
	for range 100 {
		r.must(r.Barrier())
	}
	var all []*mpi.Request
	for range 30 {
		all = append(all, r.Ibarrier())
	}
	slices.Reverse(all)
	r.must(mpi.Waitall(all...))
}

// few returns the roots to test: all for small messages, some for large ones.
func (r *rank) few(n int) []int {
	roots := []int{0, r.Size() / 2, r.Size() - 1}
	if n < 5000 || r.long {
		roots = nil
		for i := range r.Size() {
			roots = append(roots, i)
		}
	}
	return slices.Compact(roots)
}

func bcastAll(r *rank) {
	for _, n := range append(r.lengths(), 1, 7) {
		for _, root := range r.few(n) {
			forms(func(later bool) {
				r.at("%d elements, root %d, non-blocking %v", n, root, later)
				x := blank(n + 2)
				if r.Rank() == root {
					copy(x[1:], words(seedOf(n, root), n))
				}
				b := mpi.Of(x[1 : n+1])
				r.must(both(later, func() error { return r.Bcast(b, root) }, func() *mpi.Request { return r.Ibcast(b, root) }))
				same(r, "broadcast", x[1:n+1], words(seedOf(n, root), n))
				same(r, "memory around it", []int64{x[0], x[n+1]}, blank(2))
			})
		}
	}
}

// bcastLayouts: every rank has a different layout of the elements.
func bcastLayouts(r *rank) {
	for _, n := range r.lengths() {
		for root := range r.Size() {
			for turn := range layouts {
				if turn > 1 && n > 5000 {
					continue
				}
				l := layouts[(r.Rank()+turn)%len(layouts)]
				r.at("%d elements, root %d, %s", n, root, l.name)
				x, b := l.blank(n)
				if r.Rank() == root {
					x, b = l.store(words(seedOf(root), n))
				}
				r.must(r.Bcast(b, root))
				l.check(r, "broadcast", x, words(seedOf(root), n))
			}
		}
	}
}

// bcastSeries: broadcasts from all roots in a row, which do not wait for the others, stay
// apart.
func bcastSeries(r *rank) {
	for i := range 100 {
		root := i % r.Size()
		x := make([]int64, 1+i%3)
		if r.Rank() == root {
			copy(x, words(seedOf(i), len(x)))
		}
		r.must(r.Bcast(mpi.Of(x), root))
		same(r, "broadcast", x, words(seedOf(i), len(x)))
	}
}

// collectiveOrder: rank 0 calls another operation than the others. At least one rank gets an
// error, and no rank passes.
func collectiveOrder(r *rank) {
	other := r.keep(r.Dup())
	r.must(other.Barrier())
	q := r.disagree(func() *mpi.Request { return r.Ibarrier() }, func() *mpi.Request {
		return r.Iallreduce(mpi.InPlace, mpi.Of(make([]int64, 4)), mpi.Sum)
	})
	r.toldOfOrder(q, other)
}

// collectiveOrderLate: the ranks make equal calls first, and then differ in the root.
func collectiveOrderLate(r *rank) {
	other := r.keep(r.Dup())
	x := make([]int64, 4)
	for range 5 {
		r.must(r.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Sum))
	}
	r.must(other.Barrier())
	q := r.disagree(func() *mpi.Request { return r.Ibcast(mpi.Of(x), 0) }, func() *mpi.Request {
		return r.Iallgather(mpi.Of(x[:1]), mpi.Of(make([]int64, r.Size())))
	})
	r.toldOfOrder(q, other)
}

func (r *rank) disagree(zero, others func() *mpi.Request) *mpi.Request {
	if r.Rank() == 0 {
		return zero()
	}
	return others()
}

// toldOfOrder waits for requests of which at least one fails with ErrOrder. A rank that gets
// the error revokes the communicator for the others, which may wait. They agree on the
// communicator other.
func (r *rank) toldOfOrder(q *mpi.Request, other *rank) {
	err := wait(q)
	if err == nil { // a rank that needs nothing from the others may pass
		err = wait(r.Irecv(mpi.Of(make([]byte, 1)), mpi.AnySource, 0))
	}
	told := int64(0)
	switch {
	case errors.Is(err, mpi.ErrOrder):
		told = 1
		r.Revoke(err)
	case !errors.Is(err, mpi.ErrRevoked):
		r.failf("different collective operations: %v", err)
	}
	if all := other.gatherAll(told); !slices.Contains(all, 1) {
		r.failf("no rank was told that the ranks call different operations")
	}
}

// collectiveStrangers: wildcard receives match no message of a collective operation, and get
// their own message afterwards.
func collectiveStrangers(r *rank) {
	got := blank(8)
	in := r.Irecv(mpi.Of(got), mpi.AnySource, mpi.AnyTag)
	for i := range 3 {
		r.usableCollectively(i)
	}
	done, _, err := in.Test()
	r.must(err)
	r.equal("a receive meets a message of a collective operation", done, false)
	_, found, err := r.Iprobe(mpi.AnySource, mpi.AnyTag)
	r.must(err)
	r.equal("a probe finds a message of a collective operation", found, false)
	r.must(r.Barrier())
	q := r.Ibarrier()
	out := r.Isend(mpi.Of(words(seedOf(r.Rank()), 8)), r.right(), 0)
	st, err := in.Wait()
	r.must(err)
	r.status(st, r.left(), 0, 64)
	same(r, "message", got, words(seedOf(r.left()), 8))
	r.must(mpi.Waitall(q, out))
}

// usableCollectively makes collective calls of several kinds and checks the results.
func (r *rank) usableCollectively(salt int) {
	n := r.Size()
	x := words(seedOf(salt), 3)
	if r.Rank() != salt%n {
		x = blank(3)
	}
	r.must(r.Bcast(mpi.Of(x), salt%n))
	same(r, "broadcast", x, words(seedOf(salt), 3))
	all := blank(2 * n)
	r.must(r.Allgather(mpi.Of(words(seedOf(r.Rank(), salt), 2)), mpi.Of(all)))
	for i := range n {
		same(r, "allgather", all[2*i:2*i+2], words(seedOf(i, salt), 2))
	}
	to, from := make([]int64, n), blank(n)
	for i := range to {
		to[i] = int64(100*r.Rank() + i)
	}
	r.must(r.Alltoall(mpi.Of(to), mpi.Of(from)))
	for i := range from {
		r.equal("alltoall", from[i], int64(100*i+r.Rank()))
	}
	sum := []int64{int64(salt), int64(r.Rank())}
	r.must(r.Allreduce(mpi.InPlace, mpi.Of(sum), mpi.Sum))
	same(r, "allreduce", sum, []int64{int64(salt * n), int64(n * (n - 1) / 2)})
}
