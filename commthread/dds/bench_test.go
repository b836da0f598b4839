package dds_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// The cost of arming and retiring 1 MiB, strip by strip, as for an arriving message.
func BenchmarkArmRetire(b *testing.B) {
	const length, strips = 1 << 20, 8
	for name, order := range map[string]dds.Direction{"first pages": dds.Up, "all pages": dds.AnyOrder} {
		b.Run(name, func(b *testing.B) {
			a, err := dds.NewArena(2*length, dds.Backend(dds.Uffd))
			if err != nil {
				b.Skip(err)
			}
			x, err := dds.Make[byte](a, length+2*pages.Size())
			require.NoError(b, err)
			var cuts []int
			for i := range strips + 1 {
				cuts = append(cuts, pages.Size()+i*length/strips)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began := osthread.ThreadCPUTime()
			for b.Loop() {
				p := dds.NewPretend(a, x, order, cuts...)
				p.Arm()
				for i := range strips {
					p.Land(i)
				}
				require.NoError(b, p.End())
			}
			b.ReportMetric(float64(osthread.ThreadCPUTime()-began)/float64(b.N), "cpu-ns/op")
			require.NoError(b, a.Close())
		})
	}
}

// From the arrival of a strip to its sleeping reader running again.
func BenchmarkFault(b *testing.B) {
	for name, cores := range map[string]osthread.CPUSet{"any core": osthread.Usable(), "one core": osthread.CPUSetOf(osthread.Usable().List()[0])} {
		b.Run(name, func(b *testing.B) {
			a, err := dds.NewArena(1<<20, dds.Backend(dds.Uffd), dds.Cores(cores))
			if err != nil {
				b.Skip(err)
			}
			total := int64(0)
			for b.Loop() {
				total += int64(dds.FaultCost(a))
			}
			b.ReportMetric(float64(total)/float64(b.N), "ns/fault")
			require.NoError(b, a.Close())
		})
	}
}

// Touch of memory without transfers, and of landed bytes.
func BenchmarkTouch(b *testing.B) {
	a, err := dds.NewArena(1 << 20)
	require.NoError(b, err)
	x, err := dds.Make[byte](a, 1<<19)
	require.NoError(b, err)
	b.Run("idle", func(b *testing.B) {
		for b.Loop() {
			dds.Touch(x)
		}
	})
	p := dds.NewPretend(a, x, dds.AnyOrder, pages.Size(), 1<<18, 1<<18+1<<17)
	p.Arm()
	p.Land(0)
	p.Land(1)
	b.Run("arrived", func(b *testing.B) {
		for b.Loop() {
			dds.Touch(x)
		}
	})
	require.NoError(b, p.End())
	require.NoError(b, a.Close())
}

var sink float64 // keeps the compiler from dropping the computation

// A loop over a message that takes about as long as the message at 10 Gbit/s: received
// whole, and read while it arrives.
func BenchmarkOverlap(b *testing.B) {
	net, err := local.ParseNet("10gige")
	require.NoError(b, err)
	for _, backend := range []string{dds.Explicit, dds.Auto} {
		b.Run(backend, func(b *testing.B) {
			const length = 4 << 20 / 8
			require.NoError(b, local.Run(2, func(c *mpi.Comm) error {
				a, err := dds.NewArena(8*length+1<<16, dds.Backend(backend))
				if err != nil {
					return err
				}
				e, err := dds.Open(c, dds.Order(dds.Up), dds.Fixed(dds.Constants{Gap: 0.8, Fault: 8000, Arm: 1000, Retire: 1000}))
				if err != nil {
					return err
				}
				x, err := dds.Make[float64](a, length)
				if err != nil {
					return err
				}
				best, sum := int64(1)<<62, 0.0
				for i := range 20 {
					if err := c.Barrier(); err != nil {
						return err
					}
					began := osthread.Nanotime()
					if c.Rank() == 0 {
						tr, err := e.Send(mpi.Of(x), 1, i)
						if err == nil {
							err = tr.Wait()
						}
						if err != nil {
							return err
						}
						continue
					}
					tr, err := e.Recv(mpi.Of(x), 0, i)
					if err != nil {
						return err
					}
					for _, v := range x {
						sum = sum*0.5 + v*0.25/(1+v*v)
					}
					best = min(best, osthread.Nanotime()-began)
					if err := tr.Wait(); err != nil {
						return err
					}
				}
				if c.Rank() == 1 {
					sink = sum
					b.ReportMetric(float64(best)/1e3, "us/message")
					b.ReportMetric(float64(a.Counts().Faults)/20, "faults/message")
				}
				if err := e.Close(); err != nil {
					return err
				}
				return a.Close()
			}, local.Network(net)))
		})
	}
}
