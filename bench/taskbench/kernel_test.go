package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMultiplyAdd compares the blocked kernel with the loop it computes.
func TestMultiplyAdd_is_64_independent_chains(t *testing.T) {
	for _, iter := range []int{0, 1, 2, 7, 100, 10000} {
		var want float64
		for j := range 64 {
			a := -0.5 - float64(j)/128
			for range iter {
				a = a*a + a
			}
			want += a
		}
		got := multiplyAdd(iter)
		assert.InEpsilon(t, want, got, 1e-12, "iter %d", iter)
		assert.True(t, inRange(got), "iter %d", iter)
	}
	assert.False(t, inRange(0))
	assert.False(t, inRange(math.NaN()))
	assert.EqualValues(t, 64, flopsOf(0))
	assert.EqualValues(t, 2*64*10+64, flopsOf(10))
}

func TestSpinLCG(t *testing.T) {
	assert.EqualValues(t, 113, spinLCG(0))
	assert.EqualValues(t, 113*139, spinLCG(1))
	x := int64(113)
	for range 1000 {
		x = x * 139 % 2147483647
	}
	assert.Equal(t, x, spinLCG(1000))
}

// TestCopyWithin counts, on scratch with distinct bytes, which pieces were copied.
func TestCopyWithin_visits_the_samples_in_turn(t *testing.T) {
	const samples, size = 4, 6
	for first := range 9 {
		for iter := range 6 {
			scratch := make([]byte, samples*size+3) // the odd rest is never touched
			for i := range scratch {
				scratch[i] = byte(i)
			}
			want := append([]byte(nil), scratch...)
			for i := range iter {
				s := (first + i) % samples * size
				copy(want[s+size/2:s+size], want[s:s+size/2])
			}
			copyWithin(scratch, samples, first, iter)
			assert.Equal(t, want, scratch)
		}
	}
	k := kernel{kind: memoryBound, iter: 10, samples: 16}
	assert.EqualValues(t, 1024*10/16, k.bytes(1024))
	assert.Zero(t, (&kernel{kind: empty, iter: 10, samples: 16}).bytes(1024))
}

func TestLoadImbalance_spreads_around_the_mean(t *testing.T) {
	k := kernel{kind: loadImbalance, iter: 1000, imbalance: 2}
	var sum, low, high int
	low = math.MaxInt
	const tasks = 4000
	for p := range tasks {
		n := k.iterations(0, 5, int64(p))
		assert.Equal(t, n, k.iterations(0, 5, int64(p)), "a fixed function of the task")
		sum, low, high = sum+n, min(low, n), max(high, n)
	}
	assert.InDelta(t, 1000, sum/tasks, 50)
	assert.Less(t, low, 50)
	assert.Greater(t, high, 1950)
	k.imbalance = 0
	assert.Equal(t, 1000, k.iterations(3, 4, 5))
	assert.EqualValues(t, flopsOf(1000), k.flops(3, 4, 5))
	k.kind = busyWait
	assert.Zero(t, k.flops(3, 4, 5))
}

func TestKernel_run_accepts_its_own_results(t *testing.T) {
	scratch := make([]byte, 64)
	for kind := range kernelNames {
		k := kernel{kind: kernelType(kind), iter: 3, samples: 2, imbalance: 1}
		assert.True(t, k.run(0, 1, 2, scratch), kernelNames[kind])
	}
}

func TestUniform_looks_uniform(t *testing.T) {
	const n = 20000
	var buckets [16]int
	for i := range int64(n) {
		u := uniform(0, 3, i%7, i, i*i)
		assert.True(t, 0 <= u && u < 1)
		buckets[int(u*16)]++
	}
	for b, count := range buckets {
		assert.InDelta(t, n/16, count, 5*math.Sqrt(n/16), "bucket %d", b)
	}
	assert.NotEqual(t, uniform(0, 0, 1), uniform(0, 1, 0), "order matters")
	assert.NotEqual(t, uniform(0), uniform(0, 0), "length matters")
}

// BenchmarkMultiplyAdd answers: what FLOP rate has the kernel on one core, and is it
// the same for short tasks as for long ones?
func BenchmarkMultiplyAdd(b *testing.B) {
	for _, iter := range []int{1, 4, 16, 64, 1024} {
		b.Run(fmt.Sprint("iter", iter), func(b *testing.B) {
			for b.Loop() {
				multiplyAdd(iter)
			}
			b.ReportMetric(float64(flopsOf(iter))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
