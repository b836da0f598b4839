package dds_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// What arming 1 MiB and retiring it costs, strip by strip, as for a message that arrives.
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

// Touch of memory that nothing is on its way to, and of what has arrived.
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
