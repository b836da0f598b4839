package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
)

var collectives = []engine.CallKind{engine.CallBarrier, engine.CallBcast, engine.CallReduce, engine.CallAllreduce, engine.CallScan, engine.CallExscan,
	engine.CallGather, engine.CallScatter, engine.CallAllgather, engine.CallAlltoall, engine.CallReduceScatter}

var sizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16}

// one runs one collective of each rank on random data, and checks it.
func one[T comparable](t *testing.T, kind engine.CallKind, d data[T], p, n int, seed uint64) {
	t.Helper()
	m := newSim(t, p, seed)
	x := &trial[T]{t: t, d: d, rng: m.rng, cs: m.world(), n: n}
	x.start(kind)
	m.finish(x.rs...)
	x.verify()
}

// every runs one on all kinds of elements.
func every(t *testing.T, kind engine.CallKind, p, n int, seed uint64) {
	t.Helper()
	one(t, kind, affines, p, n, seed)
	one(t, kind, matrices, p, n, seed+1)
	one(t, kind, integers, p, n, seed+2)
	one(t, kind, bytes, p, n, seed+3)
	one(t, kind, locs, p, n, seed+4)
}

func TestCollectives(t *testing.T) {
	for _, kind := range collectives {
		for _, p := range sizes {
			t.Run(fmt.Sprintf("%v_of_%d", kind, p), func(t *testing.T) {
				t.Parallel()
				for _, n := range []int{0, 1, 2, 7, 40} {
					for seed := range uint64(2) {
						every(t, kind, p, n, seed*100+uint64(n))
					}
				}
			})
		}
	}
}

// Long vectors take other algorithms.
func TestCollectivesOfLongVectors(t *testing.T) {
	for _, kind := range collectives {
		for _, p := range sizes {
			t.Run(fmt.Sprintf("%v_of_%d", kind, p), func(t *testing.T) {
				t.Parallel()
				n := 4000
				switch kind {
				case engine.CallBcast:
					n = 12000
				case engine.CallGather, engine.CallScatter, engine.CallAllgather, engine.CallAlltoall:
					n = 400
				}
				for seed := range uint64(2) {
					one(t, kind, affines, p, n, uint64(p)+seed)
				}
				one(t, kind, integers, p, n-1, uint64(p))
			})
		}
	}
}

// With many ranks, the messages of one rank take several rounds.
func TestCollectivesOfManyRanks(t *testing.T) {
	for _, kind := range collectives {
		for _, p := range []int{inFlight + 1, 2*inFlight + 3} {
			one(t, kind, affines, p, 5, uint64(p))
			one(t, kind, bytes, p, 0, uint64(p))
		}
	}
}

// All collectives are under way at once on three communicators with different ranks; then
// again, with the recycled schedules and buffers of the first time.
func TestCollectivesAtOnce(t *testing.T) {
	seeds := uint64(8)
	if invariant.Race { // one goroutine: there is no more to see
		seeds = 1
	}
	for seed := range seeds {
		m := newSim(t, 6, seed)
		groups := [][]*mpi.Comm{m.world(), m.comms(1, 5, 0, 3, 1, 2, 4), m.comms(2, 4, 2, 1)}
		for range 2 {
			var trials []*trial[affine]
			var rs []*mpi.Request
			for _, i := range m.rng.Perm(3 * len(collectives)) {
				n := m.rng.IntN(30)
				if m.rng.IntN(8) == 0 {
					n = 3000
				}
				x := &trial[affine]{t: t, d: affines, rng: m.rng, cs: groups[i%3], n: n}
				x.start(collectives[i/3])
				trials, rs = append(trials, x), append(rs, x.rs...)
				for range m.rng.IntN(40) {
					m.step()
				}
			}
			m.finish(rs...)
			for _, x := range trials {
				x.verify()
			}
		}
	}
}

// Buffers of several elements of no bytes.
func TestElementsWithoutBytes(t *testing.T) {
	op := must(mpi.NewOp("nothing", true, func(_, in []struct{}) { require.Len(t, in, 3) }))
	d := data[struct{}]{op, func(*rand.Rand) struct{} { return struct{}{} }, func(a, _ struct{}) struct{} { return a }}
	for _, kind := range collectives {
		one(t, kind, d, 5, 3, 1)
	}
}
