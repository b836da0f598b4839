package hpl

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// The speed of a panel of 192 columns with P = 1, which limits small orders.
func BenchmarkPanel(b *testing.B) {
	for _, rows := range []int{500, 1000, 2000, 4000, 8000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			cfg := Default(rows)
			cfg.NB = 192
			require.NoError(b, local.Run(1, func(c *mpi.Comm) error { return benchmarkPanel(c, b, cfg) }))
		})
	}
}

func benchmarkPanel(c *mpi.Comm, b *testing.B, cfg Config) error {
	g, err := newGrid(c, &cfg)
	if err != nil {
		return err
	}
	wide := cfg
	s, err := newSolver(g, wide, hooks{})
	if err != nil {
		return err
	}
	p, err := s.newPanel(0)
	if err != nil {
		return err
	}
	best := time.Hour
	for b.Loop() {
		b.StopTimer()
		s.matrix.fill(newGenerator(cfg.N, cfg.Seed), 0, cfg.NB)
		s.setPanel(p, 0)
		b.StartTimer()
		start := time.Now()
		if err := s.factor(p, (*team)(nil)); err != nil {
			return err
		}
		best = min(best, time.Since(start))
	}
	m, n := float64(cfg.N), float64(cfg.NB)
	b.ReportMetric(n*n*(m-n/3)/best.Seconds()/1e9, "GFLOP/s_best")
	return p.free()
}

// A whole run on one process.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%d/%d", n, workers), func(b *testing.B) {
				cfg := blocking(n)
				cfg.Workers = workers
				best := Result{}
				for b.Loop() {
					r, err := solvedAlone(cfg)
					require.NoError(b, err)
					if r.GFlops > best.GFlops {
						best = r
					}
				}
				b.ReportMetric(best.GFlops, "GFLOP/s")
				b.Logf("%+v", best.Timing)
			})
		}
	}
}

func solvedAlone(cfg Config) (r Result, err error) {
	err = local.Run(1, func(c *mpi.Comm) error {
		r, err = Run(c, cfg)
		return err
	})
	return r, err
}
