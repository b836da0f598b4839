package fft

import (
	"fmt"
	"math"
	"testing"

	"github.com/weft-hpc/weft/internal/codelet"
)

// Batches of 16 in cache, out of place, for every set of kernels; gflops counts 5 n
// log2 n operations. bench/fft compares with FFTW.
func BenchmarkPlan(b *testing.B) {
	const count = 16
	for _, set := range codelet.Sets() {
		for _, n := range []int{64, 256, 1000, 1009, 1024} {
			for name, l := range map[string]Layout{"contiguous": Contiguous(n), "interleaved": Interleaved(count)} {
				b.Run(fmt.Sprintf("%v/%s/%d", set, name, n), func(b *testing.B) {
					p, err := NewMany(n, count, l, l, Kernels(set))
					if err != nil {
						b.Fatal(err)
					}
					src, dst := codelet.Aligned(n*count), codelet.Aligned(n*count)
					for b.Loop() {
						_ = p.Forward(dst, src)
					}
					flops := 5 * float64(n) * math.Log2(float64(n)) * count * float64(b.N)
					b.ReportMetric(flops/b.Elapsed().Seconds()/1e9, "gflops")
				})
			}
		}
	}
}
