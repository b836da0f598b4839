package local

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
)

// BenchmarkLatency8 times one way of a message of 8 bytes between two spinning ranks: the
// mean, and the best thousand, which show no disturbance by other programs.
func BenchmarkLatency8(b *testing.B) {
	batches := b.N/2000 + 2
	best := time.Duration(1 << 62)
	err := Run(2, func(c *mpi.Comm) error {
		x := make([]int64, 1)
		buf, peer := mpi.Of(x), 1-c.Rank()
		for i := range batches {
			if i == 1 && c.Rank() == 0 {
				b.ResetTimer()
			}
			start := time.Now()
			for turn := range 2000 {
				if turn%2 == c.Rank() {
					if err := c.Send(buf, peer, 0); err != nil {
						return err
					}
				} else if _, err := c.Recv(buf, peer, 0); err != nil {
					return err
				}
			}
			if c.Rank() == 0 {
				best = min(best, time.Since(start)/2000)
			}
		}
		return nil
	})
	require.NoError(b, err)
	b.ReportMetric(float64(best), "best-ns")
}

// BenchmarkBandwidth1MiB sends windows of 16 messages of 1 MiB.
func BenchmarkBandwidth1MiB(b *testing.B) { benchBandwidth(b, 1<<20, 16) }

func BenchmarkBandwidth64KiB(b *testing.B) { benchBandwidth(b, 64<<10, 64) }

func BenchmarkBandwidth8KiB(b *testing.B) { benchBandwidth(b, 8<<10, 64) }

func benchBandwidth(b *testing.B, size, window int) {
	b.SetBytes(int64(size))
	rounds := b.N/window + 1
	best := time.Duration(1 << 62)
	err := Run(2, func(c *mpi.Comm) error {
		bufs := make([][]byte, window)
		for i := range bufs {
			bufs[i] = pattern(mpi.Alloc[byte](size), i)
		}
		rs := make([]*mpi.Request, window)
		for round := range rounds + 2 {
			if round == 2 && c.Rank() == 0 {
				b.ResetTimer()
			}
			start := time.Now()
			for i := range rs {
				if c.Rank() == 0 {
					rs[i] = c.Isend(mpi.Of(bufs[i]), 1, 0)
				} else {
					rs[i] = c.Irecv(mpi.Of(bufs[i]), 0, 0)
				}
			}
			if err := mpi.Waitall(rs...); err != nil {
				return err
			}
			if c.Rank() == 0 {
				if _, err := c.Recv(mpi.Buffer{}, 1, 1); err != nil {
					return err
				}
				best = min(best, time.Since(start))
			} else if err := c.Send(mpi.Buffer{}, 0, 1); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	b.ReportMetric(float64(size)*float64(b.N)/1e9/b.Elapsed().Seconds(), "GB/s")
	b.ReportMetric(float64(size*window)/float64(best), "best-GB/s")
}

// BenchmarkInFlight times the completion of each of 10, 1000 and 10000 receives in flight,
// whose messages are sent in random order: from the first send to the last completion.
func BenchmarkInFlight(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchInFlight(b, n) })
	}
}

func benchInFlight(b *testing.B, n int) {
	rounds := b.N/n + 1
	total, best := time.Duration(0), time.Duration(1<<62)
	err := Run(2, func(c *mpi.Comm) error {
		x := make([]int64, n)
		rs := make([]*mpi.Request, n)
		order := rand.New(rand.NewPCG(1, 2)).Perm(n)
		for i := range rs {
			if c.Rank() == 1 {
				rs[i] = c.RecvInit(mpi.One(&x[i]), 0, i)
			}
		}
		for range rounds {
			if c.Rank() == 1 {
				if err := mpi.Startall(rs...); err != nil {
					return err
				}
				if err := c.Send(mpi.Buffer{}, 0, n); err != nil {
					return err
				}
				start := time.Now()
				if err := mpi.Waitall(rs...); err != nil {
					return err
				}
				took := time.Since(start)
				total, best = total+took, min(best, took)
				continue
			}
			if _, err := c.Recv(mpi.Buffer{}, 1, n); err != nil {
				return err
			}
			for _, i := range order {
				if err := c.Send(mpi.One(&x[i]), 1, i); err != nil {
					return err
				}
			}
		}
		return nil
	})
	require.NoError(b, err)
	b.ReportMetric(float64(total.Nanoseconds())/float64(rounds*n), "ns/completion")
	b.ReportMetric(float64(best.Nanoseconds())/float64(n), "best-ns/completion")
}
