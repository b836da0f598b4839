package mpitest

import (
	"bytes"

	"github.com/weft-hpc/weft/mpi"
)

// batchCases: batches give the results of blocking calls.
func batchCases() []Case {
	return []Case{
		one("batch/results of the blocking calls", batchLikeBlocking),
	}
}

// batchLikeBlocking passes random parts of an array to the right, and receives other parts of it
// from the left: some of them are what an earlier call receives or sends. Batches leave the same
// bytes as the blocking calls, after which they run: the ranks must not keep in step.
func batchLikeBlocking(r *rank) {
	for round := range 12 {
		cells := []int{4 << 10, 512 << 10}[round%2]
		want, got := octets(seedOf(r.Rank(), round), cells), octets(seedOf(r.Rank(), round), cells)
		for i := range 6 {
			send, recv := randomParts(r, cells, round, i)
			_, err := r.Sendrecv(mpi.Of(want[send[0]:send[1]]), r.right(), i, mpi.Of(want[recv[0]:recv[1]]), r.left(), i)
			r.must(err)
		}
		var b mpi.Batch
		for i := range 6 {
			send, recv := randomParts(r, cells, round, i)
			b.Sendrecv(r.Comm, mpi.Of(got[send[0]:send[1]]), r.right(), i, mpi.Of(got[recv[0]:recv[1]]), r.left(), i)
		}
		r.must(b.Wait())
		if !bytes.Equal(want, got) {
			r.failf("round %d: a batch left other bytes than the blocking calls", round)
		}
	}
}

// randomParts returns the ranges of cells that a rank sends and receives in a call: they do not
// meet. Their size is the same on all ranks.
func randomParts(r *rank, cells, round, call int) (send, recv [2]int) {
	size := 1 + r.dice(round, call).IntN(cells/4)
	own := r.dice(round, call, r.Rank()+1)
	from, to := own.IntN(cells/2-size), cells/2+own.IntN(cells/2-size)
	if own.IntN(2) == 0 {
		from, to = to, from
	}
	return [2]int{from, from + size}, [2]int{to, to + size}
}
