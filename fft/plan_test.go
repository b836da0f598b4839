package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/invariant"
)

func numbers(n int, seed uint64) []complex128 {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(random.Float64()-0.5, random.Float64()-0.5)
	}
	return x
}

// canary fills the memory that a transform must not touch.
var canary = complex(math.Inf(1), 12345)

func canaries(n int) []complex128 {
	x := make([]complex128, n)
	for i := range x {
		x[i] = canary
	}
	return x
}

// direct is the transform by its definition.
func direct(x []complex128, inverse bool) []complex128 {
	n := len(x)
	roots, y := make([]complex128, n), make([]complex128, n)
	for k := range roots {
		roots[k] = rootOf(k, n, inverse)
	}
	for k := range y {
		i := 0
		for _, v := range x {
			y[k] += v * roots[i]
			if i += k; i >= n {
				i -= n
			}
		}
	}
	return y
}

// wrong returns the largest difference relative to the root mean square of want.
func wrong(got, want []complex128) float64 {
	worst, sum := 0.0, 0.0
	for i, w := range want {
		sum += real(w)*real(w) + imag(w)*imag(w)
		d := cmplx.Abs(got[i] - w)
		if !(d <= worst) {
			worst = d
		}
	}
	return worst / math.Sqrt(sum/float64(len(want)))
}

const tolerance = 1e-13

// arrange writes pencils into a slice full of canaries.
func arrange(pencils [][]complex128, l Layout, extra int) []complex128 {
	n, count := len(pencils[0]), len(pencils)
	x := canaries(l.span(n, count) + extra)
	for b, p := range pencils {
		for i, v := range p {
			x[i*l.Stride+b*l.Dist] = v
		}
	}
	return x
}

// checkPlan transforms count pencils between two layouts, in both directions, and
// checks every number of the output slice.
func checkPlan(t *testing.T, pencils [][]complex128, results [2][][]complex128, in, out Layout, opts ...Option) {
	t.Helper()
	n, count := len(pencils[0]), len(pencils)
	p, err := NewMany(n, count, in, out, opts...)
	require.NoError(t, err)
	src := arrange(pencils, in, 3)
	for d, run := range []func(dst, src []complex128) error{p.Forward, p.Inverse} {
		dst := canaries(out.span(n, count) + 3)
		require.NoError(t, run(dst, src))
		checkOutput(t, dst, results[d], out)
		if in == out {
			place := arrange(pencils, in, 3)
			require.NoError(t, run(place, place))
			require.True(t, slices.Equal(dst, place), "in place, n %d count %d %+v", n, count, in)
		}
	}
	require.True(t, slices.Equal(arrange(pencils, in, 3), src), "the input has changed")
}

func checkOutput(t *testing.T, dst []complex128, want [][]complex128, out Layout) {
	t.Helper()
	n := len(want[0])
	got := make([]complex128, n)
	dst = slices.Clone(dst)
	for b, w := range want {
		for i := range got {
			got[i] = dst[i*out.Stride+b*out.Dist]
			dst[i*out.Stride+b*out.Dist] = canary
		}
		require.Less(t, wrong(got, w), tolerance, "n %d pencil %d of %d, %+v", n, b, len(want), out)
	}
	for i, v := range dst {
		require.Equal(t, canary, v, "element %d of the output slice was overwritten", i)
	}
}

// problem returns random pencils and their transforms.
func problem(n, count int) (pencils [][]complex128, results [2][][]complex128) {
	for b := range count {
		x := numbers(n, uint64(b))
		pencils = append(pencils, x)
		results[0] = append(results[0], direct(x, false))
		results[1] = append(results[1], direct(x, true))
	}
	return pencils, results
}

func TestPlan_every_length_up_to_512(t *testing.T) {
	step := 1
	if invariant.Race {
		step = 7 // the kernels are portable then, and slow
	}
	for n := 1; n <= 512; n += step {
		pencils, results := problem(n, 1)
		checkPlan(t, pencils, results, Contiguous(n), Contiguous(n))
	}
}

func TestPlan_larger_lengths(t *testing.T) {
	for _, n := range []int{521, 600, 729, 768, 1000, 1024, 1155, 2048, 2187, 2401, 3125, 4093, 4096, 5040, 8192} {
		if invariant.Race && n > 1200 {
			break
		}
		pencils, results := problem(n, 1)
		checkPlan(t, pencils, results, Contiguous(n), Contiguous(n))
	}
}

// Every set of kernels, with odd counts and layouts of all kinds: in a short run every set has
// every second pair of length and count, and the next set the others.
func TestPlan_layouts(t *testing.T) {
	i := 0
	for _, set := range codelet.Sets() {
		for _, n := range []int{1, 2, 3, 8, 11, 12, 16, 27, 32, 48, 60, 64, 105, 128, 243, 256} {
			for _, count := range []int{1, 2, 3, 4, 7, 16, 19} {
				if i++; i%2 == 0 && os.Getenv("WEFT_LONG") == "" || invariant.Race && count > 4 && n > 60 {
					continue
				}
				t.Run(fmt.Sprint(set, "/", n, "x", count), func(t *testing.T) {
					pencils, results := problem(n, count)
					layouts := []Layout{
						Contiguous(n), Interleaved(count), {1, n + 3}, {count + 1, 1},
						{2, 2 * n}, {3 * count, 3}, {3*count + 1, 2},
					}
					for _, l := range layouts {
						checkPlan(t, pencils, results, l, l, Kernels(set))
					}
					checkPlan(t, pencils, results, Contiguous(n), Interleaved(count), Kernels(set))
					checkPlan(t, pencils, results, Interleaved(count), Contiguous(n), Kernels(set))
				})
			}
		}
		i++
	}
}

func TestPlan_bad_input(t *testing.T) {
	for _, c := range []struct {
		n, count int
		in, out  Layout
		says     string
	}{
		{0, 1, Layout{1, 1}, Layout{1, 1}, "length 0"},
		{-4, 1, Layout{1, 1}, Layout{1, 1}, "length -4"},
		{4, 0, Layout{1, 4}, Layout{1, 4}, "0 transforms"},
		{4, 2, Layout{0, 4}, Layout{1, 4}, "stride 0"},
		{4, 2, Layout{1, 4}, Layout{1, -4}, "distance -4"},
		{4, 2, Layout{1, 3}, Layout{1, 4}, "overlap"},
		{1 << 30, 1 << 30, Contiguous(1 << 30), Contiguous(1 << 30), "more than"},
		{4, 2, Layout{math.MaxInt, 1}, Layout{1, 4}, "reach beyond"},
		{4, 2, Layout{1, 4}, Layout{1, math.MaxInt}, "reach beyond"},
	} {
		_, err := NewMany(c.n, c.count, c.in, c.out)
		assert.ErrorContains(t, err, c.says)
	}
	p, err := New(8)
	require.NoError(t, err)
	x := make([]complex128, 20)
	assert.ErrorContains(t, p.Forward(x[:8], x[10:17]), "input has 7 numbers")
	assert.ErrorContains(t, p.Forward(x[:7], x[10:18]), "output has 7 numbers")
	assert.ErrorContains(t, p.Forward(nil, nil), "input has 0 numbers")
	assert.ErrorContains(t, p.Inverse(x[:8], x[4:12]), "share memory")
	assert.NoError(t, p.Inverse(x[:8], x[8:16]))
}

// Contiguous pencils of a length with a large prime factor are transformed one by one: interleaved, their padded
// sequences would not stay in a cache. Interleaved pencils, and those of a length with few steps for its first pass, stay together.
func TestPencilsAlone(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	const count, gap = 16, 3
	set := codelet.Best()
	for _, c := range []struct {
		n     int
		alone bool
	}{{61, false}, {97, true}, {1009, true}, {2 * 521, false}, {16 * 521, true}, {2 * 2503, true}, {1024, false}} {
		p, err := NewMany(c.n, count, Contiguous(c.n), Contiguous(c.n), Kernels(set))
		require.NoError(t, err)
		assert.Equal(t, c.alone || set.Lanes() == 1, p.width == 1, "%d contiguous points", c.n)
		p, err = NewMany(c.n, count, Interleaved(count), Interleaved(count), Kernels(set))
		require.NoError(t, err)
		assert.Greater(t, p.width, 1, "%d interleaved points", c.n)

		apart := Layout{Stride: 1, Dist: c.n + gap}
		p, err = NewMany(c.n, count, apart, apart, Kernels(set))
		require.NoError(t, err)
		one, err := New(c.n, Kernels(set))
		require.NoError(t, err)
		x := numbers(count*(c.n+gap), uint64(c.n))
		got, want := make([]complex128, len(x)), make([]complex128, c.n)
		require.NoError(t, p.Forward(got, x))
		for b := range count {
			at := b * (c.n + gap)
			require.NoError(t, one.Forward(want, x[at:at+c.n]))
			assert.Less(t, wrong(got[at:at+c.n], want), tolerance, "%d points, pencil %d", c.n, b)
			assert.Equal(t, make([]complex128, gap), got[at+c.n:at+c.n+gap], "the gap")
		}
	}
}
