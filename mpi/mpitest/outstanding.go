package mpitest

import "github.com/weft-hpc/weft/mpi"

// outstandingCases: several collective operations under way at once.
func outstandingCases() []Case {
	return []Case{
		one("outstanding/one of each, with messages", outstandingMixed),
		one("outstanding/many sums", outstandingSums),
		one("outstanding/large ones, waited for backwards", outstandingLarge),
		one("outstanding/blocking beside non-blocking", outstandingBlocking),
	}
}

// outstandingMixed starts many collective operations and messages with one tag; every rank
// waits for them in a different order.
func outstandingMixed(r *rank) {
	n := r.Size()
	for round := range 4 {
		r.at("round %d", round)
		root := round % n
		bcast, gather, all := blank(9), blank(2*n), blank(3*n)
		if r.Rank() == root {
			copy(bcast, words(seedOf(round), 9))
		}
		sum, scan, one := []int64{int64(r.Rank())}, []int64{1}, blank(5)
		to, from := make([]int64, 4*n), blank(4*n)
		for p := range n {
			copy(to[4*p:], words(seedOf(r.Rank(), p, round), 4))
		}
		got := blank(5)
		q := []*mpi.Request{
			r.Irecv(mpi.Of(got), mpi.AnySource, mpi.AnyTag),
			r.Ibcast(mpi.Of(bcast), root),
			r.Iallreduce(mpi.InPlace, mpi.Of(sum), mpi.Sum),
			r.Ibarrier(),
			r.Igather(mpi.Of(words(seedOf(r.Rank()), 2)), mpi.Of(gather), root),
			r.Ialltoall(mpi.Of(to), mpi.Of(from)),
			r.Isend(mpi.Of(words(seedOf(r.Rank(), round), 5)), r.right(), 0),
			r.Iallgather(mpi.Of(words(seedOf(r.Rank(), 1), 3)), mpi.Of(all)),
			r.Iscan(mpi.InPlace, mpi.Of(scan), mpi.Sum),
			r.Ireduce(mpi.Of(words(seedOf(r.Rank(), 2), 5)), mpi.Of(one), mpi.Sum, root),
		}
		for _, i := range r.dice(round, r.Rank()).Perm(len(q)) {
			r.must(wait(q[i]))
		}
		same(r, "message", got, words(seedOf(r.left(), round), 5))
		same(r, "broadcast", bcast, words(seedOf(round), 9))
		same(r, "allreduce", sum, []int64{int64(n * (n - 1) / 2)})
		same(r, "scan", scan, []int64{int64(r.Rank() + 1)})
		for p := range n {
			same(r, "alltoall", from[4*p:4*p+4], words(seedOf(p, r.Rank(), round), 4))
		}
		same(r, "allgather", all, r.gathered(1, 3))
		if r.Rank() == root {
			same(r, "reduce", one, sums(2, 0, n, 5))
			for p := range n {
				same(r, "gather", gather[2*p:2*p+2], words(seedOf(p), 2))
			}
		}
	}
}

func outstandingSums(r *rank) {
	const count = 60
	x := make([][]int64, count)
	q := make([]*mpi.Request, count)
	for i := range count {
		x[i] = words(seedOf(r.Rank(), i), 1+i%20)
		q[i] = r.Iallreduce(mpi.InPlace, mpi.Of(x[i]), mpi.Sum)
	}
	for left := count; left > 0; {
		done, err := mpi.Waitsome(q...)
		r.must(err)
		for _, i := range done {
			same(r, "sum", x[i], sums(i, 0, r.Size(), 1+i%20))
		}
		left -= len(done)
	}
}

func outstandingLarge(r *rank) {
	const n, count = 20_000, 6
	x := make([][]int64, count)
	q := make([]*mpi.Request, count)
	for i := range count {
		x[i] = blank(n)
		if r.Rank() == i%r.Size() {
			copy(x[i], words(seedOf(i), n))
		}
		q[i] = r.Ibcast(mpi.Of(x[i]), i%r.Size())
	}
	for i := count - 1; i >= 0; i-- {
		r.must(wait(q[i]))
		same(r, "broadcast", x[i], words(seedOf(i), n))
	}
}

// outstandingBlocking makes blocking calls while others are under way.
func outstandingBlocking(r *rank) {
	early := words(seedOf(r.Rank(), 1), 1000)
	q := r.Iallreduce(mpi.InPlace, mpi.Of(early), mpi.Sum)
	b := r.Ibarrier()
	for i := range 5 {
		r.usableCollectively(i)
	}
	r.usable()
	r.must(mpi.Waitall(b, q))
	same(r, "sum", early, sums(1, 0, r.Size(), 1000))
}
