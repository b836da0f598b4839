package mpitest

import (
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// persistentCases: persistent requests, started several times.
func persistentCases() []Case {
	return []Case{
		one("persistent/rounds", persistentRounds),
		one("persistent/many at once", persistentMany),
		one("persistent/wrong use", persistentWrong),
		one("persistent/cancel and start again", persistentCancel),
	}
}

func persistentRounds(r *rank) {
	for _, n := range []int{1, 25_000} {
		x, y := make([]int64, n), blank(n)
		out, in := r.SendInit(mpi.Of(x), r.right(), 5), r.RecvInit(mpi.Of(y), r.left(), 5)
		if n == 1 {
			out = r.SsendInit(mpi.Of(x), r.right(), 5)
		}
		for round := range 8 {
			r.at("%d elements, round %d", n, round)
			copy(x, words(seedOf(r.Rank(), round), n))
			r.must(mpi.Startall(in, out))
			st, err := in.Wait()
			r.must(err)
			r.status(st, r.left(), 5, 8*n)
			same(r, "message", y, words(seedOf(r.left(), round), n))
			r.must(wait(out))
			_, err = in.Wait() // not started: returns at once
			r.must(err)
		}
	}
}

func persistentMany(r *rank) {
	const count = 20
	x, y := make([]int64, count), make([]int64, count)
	var all []*mpi.Request
	for i := range count {
		all = append(all, r.RecvInit(mpi.One(&y[i]), r.left(), i), r.SendInit(mpi.One(&x[i]), r.right(), i))
	}
	for round := range 4 {
		copy(x, words(seedOf(r.Rank(), round), count))
		copy(y, blank(count))
		r.must(mpi.Startall(all...))
		for range all {
			i, _, err := mpi.Waitany(all...)
			r.must(err)
			if i < 0 {
				r.failf("Waitany finds none under way")
			}
		}
		same(r, "messages", y, words(seedOf(r.left(), round), count))
		if i, _, _ := mpi.Waitany(all...); i != -1 {
			r.failf("request %d is under way after all have ended", i)
		}
		slices.Reverse(all)
	}
}

func persistentWrong(r *rank) {
	got := blank(1)
	q := r.RecvInit(mpi.Of(got), r.left(), 0)
	_, err := q.Wait()
	r.must(err)
	done, _, err := q.Test()
	r.must(err)
	r.equal("test of one that was not started", done, true)
	r.must(q.Start())
	r.wants(q.Start(), mpi.ErrState, "second start")
	out := r.Isend(mpi.Of([]int64{5}), r.right(), 0)
	r.wants(out.Start(), mpi.ErrState, "start of an ordinary request")
	r.must(wait(q))
	r.must(wait(out))
	same(r, "message", got, []int64{5})
	bad := r.SendInit(mpi.Of(got), r.Size()+3, 0)
	r.must(bad.Start())
	r.wants(wait(bad), mpi.ErrRank, "send to a rank that does not exist")
}

func persistentCancel(r *rank) {
	got := blank(1)
	q := r.RecvInit(mpi.Of(got), r.left(), 0)
	r.must(q.Start())
	r.must(q.Cancel())
	r.wants(wait(q), mpi.ErrCancelled, "cancelled receive")
	r.must(r.Barrier())
	r.must(q.Start())
	r.must(r.Send(mpi.Of([]int64{int64(r.Rank())}), r.right(), 0))
	r.must(wait(q))
	same(r, "message", got, []int64{int64(r.left())})
}
