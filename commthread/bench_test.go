package commthread_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// bench runs body on ranks with threads, each on its own core if there are enough.
func bench(b *testing.B, n int, place commthread.Placement, body func(r rank) error) {
	for _, err := range run(b, n, setup{cts: []commthread.Option{commthread.Place(place)}}, body) {
		require.NoError(b, err)
	}
}

// From the spawn of a send and its receive on one rank to the end of both: two comm
// tasks per operation, 64 pairs under way.
func BenchmarkSendRecv(b *testing.B) {
	b.ReportAllocs()
	bench(b, 1, commthread.Dedicated, func(r rank) error {
		const inFlight = 64
		x, y := make([]int64, inFlight), make([]int64, inFlight)
		round := func(n int) error {
			for i := range n {
				r.ct.Recv(r.rt, r.Comm, mpi.One(&y[i]), 0, i)
				r.ct.Send(r.rt, r.Comm, mpi.One(&x[i]), 0, i)
			}
			return r.rt.Wait()
		}
		if err := round(inFlight); err != nil {
			return err
		}
		b.ResetTimer()
		for n := b.N; n > 0; n -= inFlight {
			if err := round(min(n, inFlight)); err != nil {
				return err
			}
		}
		b.StopTimer()
		return nil
	})
}

// probe is an engine that notes when a call is posted.
type probe struct {
	engine.Engine
	at atomic.Int64
}

func (p *probe) Post(calls []*engine.Call) {
	if len(calls) > 0 {
		p.at.Store(osthread.Nanotime())
	}
	p.Engine.Post(calls)
}

// From the call of Send to its post in the engine, one at a time, the thread awake: the
// runtime's share of the latency of a message. The median.
func BenchmarkSpawnToPost(b *testing.B) {
	b.ReportAllocs()
	var p *probe
	s := setup{cts: []commthread.Option{commthread.Place(commthread.Dedicated)}}
	s.world = func(w *local.World) {
		(*engine.Comm)(w.Comm(0)).Intercept(func(next engine.Engine) engine.Engine {
			p = &probe{Engine: next}
			return p
		})
	}
	for _, err := range run(b, 1, s, func(r rank) error {
		var x int64
		buf, posts, spawns := mpi.One(&x), make([]int64, 0, b.N), make([]int64, 0, b.N)
		b.ResetTimer()
		for range b.N {
			p.at.Store(0)
			begin := osthread.Nanotime()
			r.ct.Send(r.rt, r.Comm, buf, 0, 0)
			spawns = append(spawns, osthread.Nanotime()-begin)
			for p.at.Load() == 0 {
				osthread.Relax()
			}
			posts = append(posts, p.at.Load()-begin)
			if err := r.rt.Wait(); err != nil {
				return err
			}
			if _, err := r.Recv(buf, 0, 0); err != nil {
				return err
			}
		}
		b.StopTimer()
		slices.Sort(posts)
		slices.Sort(spawns)
		b.ReportMetric(float64(posts[b.N/2]), "ns/spawn-to-post")
		b.ReportMetric(float64(spawns[b.N/2]), "ns/spawn")
		return nil
	}) {
		require.NoError(b, err)
	}
}

// A call handed over by the submitting goroutine.
func BenchmarkForwarded(b *testing.B) {
	b.ReportAllocs()
	bench(b, 1, commthread.Dedicated, func(r rank) error {
		x := 0
		b.ResetTimer()
		for range b.N {
			if err := r.Comm.Send(mpi.One(&x), 0, 0); err != nil {
				return err
			}
			if err := recv(r.Comm, &x, 0, 0); err != nil {
				return err
			}
		}
		b.StopTimer()
		return nil
	})
}

// A collective operation of the submitting goroutines of two ranks, each of which has a core: where its
// worker may use the engine, and where the thread makes all calls.
func BenchmarkCollective(b *testing.B) {
	for name, s := range map[string]setup{"lent": lending, "kept": keeping} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			succeed(b, 2, s, func(r rank) error {
				x, sum := 1, 0
				if r.Rank() == 0 {
					b.ResetTimer()
				}
				for range b.N {
					if err := r.Allreduce(mpi.One(&x), mpi.One(&sum), mpi.Sum); err != nil {
						return err
					}
				}
				if r.Rank() == 0 {
					b.StopTimer()
				}
				return nil
			})
		})
	}
}

// Thousands of operations allocate next to nothing once their memory is there.
func TestAllocations(t *testing.T) {
	succeed(t, 1, setup{}, func(r rank) error {
		x, y := make([]int64, 64), make([]int64, 64)
		round := func() error {
			for i := range x {
				r.ct.Recv(r.rt, r.Comm, mpi.One(&y[i]), 0, i)
				r.ct.Send(r.rt, r.Comm, mpi.One(&x[i]), 0, i)
			}
			return r.rt.Wait()
		}
		for range 5 {
			if err := round(); err != nil {
				return err
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 50 {
			if err := round(); err != nil {
				return err
			}
		}
		runtime.ReadMemStats(&after)
		most := 1.0
		if invariant.Enabled {
			most = 2 // its checks allocate
		}
		require.Less(t, float64(after.Mallocs-before.Mallocs)/6400, most, "allocations per operation")
		return nil
	})
}
