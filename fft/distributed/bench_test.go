package distributed

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// BenchmarkForward transforms the grid of NAS FT's class A.
func BenchmarkForward(b *testing.B) {
	for _, at := range []struct{ ranks, workers int }{{1, 1}, {1, 2}, {2, 1}} {
		for _, form := range Forms() {
			for _, oneSided := range []bool{false, true} {
				if at.ranks == 1 && (oneSided || form == Slabs || form == Pencils) {
					continue
				}
				cfg := Config{Dims: [3]int{128, 256, 256}, Form: form, OneSided: oneSided, Workers: at.workers}
				b.Run(fmt.Sprintf("%dx%d/%v/onesided=%v", at.ranks, at.workers, form, oneSided), func(b *testing.B) {
					benchmark(b, at.ranks, cfg)
				})
			}
		}
	}
}

func benchmark(b *testing.B, ranks int, cfg Config, opts ...local.Option) {
	err := local.Run(ranks, func(c *mpi.Comm) error {
		p, err := New(c, cfg)
		if err != nil {
			return err
		}
		src, err := p.NewArray()
		if err != nil {
			return err
		}
		dst, err := p.NewArray()
		if err != nil {
			return err
		}
		for i := range src {
			src[i] = complex(float64(i%7), float64(i%3))
		}
		if err := p.Forward(dst, src); err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		p.ResetStats()
		if c.Rank() == 0 {
			b.ResetTimer()
		}
		best, cpu := time.Hour, osthread.ProcessCPUTime()
		for range b.N {
			since := time.Now()
			if err := p.Forward(dst, src); err != nil {
				return err
			}
			best = min(best, time.Since(since))
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			b.StopTimer()
			s := p.Stats()
			b.ReportMetric((osthread.ProcessCPUTime()-cpu).Seconds()*1e3/float64(b.N), "cpu-ms")
			b.ReportMetric(best.Seconds()*1e3, "best-ms")
			b.ReportMetric(s.Communication.Seconds()*1e3/float64(b.N), "comm-ms")
			b.ReportMetric(float64(s.Messages)/float64(b.N), "messages")
		}
		return p.Close()
	}, opts...)
	require.NoError(b, err)
}

// BenchmarkShaped does the same on a network that takes about as long as the
// computation.
func BenchmarkShaped(b *testing.B) {
	for _, text := range []string{"10gige", "10gige,progress=nic"} {
		net, err := local.ParseNet(text)
		require.NoError(b, err)
		for _, form := range Forms() {
			for _, oneSided := range []bool{false, true} {
				cfg := Config{Dims: [3]int{128, 256, 256}, Form: form, OneSided: oneSided}
				b.Run(fmt.Sprintf("%s/%v/onesided=%v", text, form, oneSided), func(b *testing.B) {
					benchmark(b, 2, cfg, local.Network(net))
				})
			}
		}
	}
}
