package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/invariant"
)

// lengths of every kind: one pass, several, with odd radices, and Bluestein.
var lengths = []int{1, 2, 7, 16, 30, 37, 64, 100, 243, 251, 512, 1000, 1009, 4096, 10007}

func forward(t *testing.T, x []complex128) []complex128 {
	t.Helper()
	p, err := New(len(x))
	require.NoError(t, err)
	y := make([]complex128, len(x))
	require.NoError(t, p.Forward(y, x))
	return y
}

// impulse is the transform of a 1 at j, exactly.
func impulse(n, j int) []complex128 {
	y := make([]complex128, n)
	for k := range y {
		y[k] = codelet.Root(j*k%n, n)
	}
	return y
}

func TestTransform_of_an_impulse(t *testing.T) {
	for _, n := range lengths {
		for _, j := range []int{0, 1, n / 3, n - 1} {
			x := make([]complex128, n)
			x[j%n] = 1
			assert.Less(t, wrong(forward(t, x), impulse(n, j%n)), tolerance, "n %d j %d", n, j)
		}
	}
}

func TestTransform_is_linear(t *testing.T) {
	for _, n := range lengths {
		x, y, z := numbers(n, 1), numbers(n, 2), make([]complex128, n)
		const a, b = 0.5 - 2i, 3 + 0.25i
		for i := range z {
			z[i] = a*x[i] + b*y[i]
		}
		fx, fy := forward(t, x), forward(t, y)
		for i := range fx {
			fx[i] = a*fx[i] + b*fy[i]
		}
		assert.Less(t, wrong(forward(t, z), fx), tolerance, "n %d", n)
	}
}

func TestTransform_of_a_shift(t *testing.T) {
	for _, n := range lengths {
		x := numbers(n, 1)
		shift := n/3 + 1
		moved := slices.Concat(x[shift%n:], x[:shift%n])
		y := forward(t, x)
		for k := range y {
			y[k] *= cmplx.Conj(codelet.Root(k*(shift%n)%n, n))
		}
		assert.Less(t, wrong(forward(t, moved), y), tolerance, "n %d", n)
	}
}

func TestTransform_keeps_the_energy(t *testing.T) {
	energy := func(x []complex128) (e float64) {
		for _, v := range x {
			e += real(v)*real(v) + imag(v)*imag(v)
		}
		return e
	}
	for _, n := range lengths {
		x := numbers(n, 1)
		assert.InEpsilon(t, energy(x)*float64(n), energy(forward(t, x)), tolerance, "n %d", n)
	}
}

func TestTransform_round_trip(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	for _, n := range append(lengths, 1<<18, 3*5*7*1024, 100003) {
		x := numbers(n, 1)
		p, err := New(n)
		require.NoError(t, err)
		y := make([]complex128, n)
		require.NoError(t, p.Forward(y, x))
		require.NoError(t, p.Inverse(y, y))
		Scale(y, 1/float64(n))
		assert.Less(t, wrong(y, x), tolerance, "n %d", n)
	}
}

// The transform of a pencil does not depend on its neighbours, nor on its index in the batch.
func TestPlan_pencils_do_not_mix(t *testing.T) {
	for _, n := range []int{24, 64, 100, 256} {
		const count = 21
		for _, l := range []Layout{Contiguous(n), Interleaved(count)} {
			p, err := NewMany(n, count, l, l)
			require.NoError(t, err)
			one := numbers(n, 9)
			x := make([]complex128, n*count)
			for i := range x {
				x[i] = complex(math.NaN(), math.Inf(1))
			}
			var first []complex128
			for b := range count {
				y := slices.Clone(x)
				for i, v := range one {
					y[i*l.Stride+b*l.Dist] = v
				}
				require.NoError(t, p.Forward(y, y))
				got := make([]complex128, n)
				for i := range got {
					got[i] = y[i*l.Stride+b*l.Dist]
				}
				if first == nil {
					first = got
				}
				require.True(t, slices.Equal(first, got), "n %d pencil %d of %+v differs", n, b, l)
			}
			require.Less(t, wrong(first, direct(one, false)), tolerance)
		}
	}
}

// The same plan serves any number of goroutines; the race detector watches.
func TestPlan_is_safe_for_concurrent_use(t *testing.T) {
	for _, n := range []int{60, 64, 101} {
		p, err := NewMany(n, 5, Contiguous(n), Interleaved(5))
		require.NoError(t, err)
		x := numbers(5*n, 1)
		want := make([]complex128, 5*n)
		require.NoError(t, p.Inverse(want, x))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				y := make([]complex128, 5*n)
				for range 10 {
					clear(y)
					assert.NoError(t, p.Inverse(y, x))
					assert.True(t, slices.Equal(want, y), "n %d", n)
				}
			})
		}
		all.Wait()
	}
}

func TestExecution_allocates_nothing(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector makes pools drop what they hold")
	}
	for _, n := range []int{64, 100, 101, 1024} {
		for _, l := range []Layout{Contiguous(n), Interleaved(6), {2, 2 * n}} {
			p, err := NewMany(n, 6, l, l)
			require.NoError(t, err)
			x := make([]complex128, l.span(n, 6))
			assert.Zero(t, testing.AllocsPerRun(20, func() { _ = p.Forward(x, x) }), "n %d %+v", n, l)
		}
		r, err := NewReal(n)
		require.NoError(t, err)
		x, y := make([]float64, n), make([]complex128, n/2+1)
		assert.Zero(t, testing.AllocsPerRun(20, func() { _, _ = r.Forward(y, x), r.Inverse(x, y) }), "real n %d", n)
	}
	g, err := NewGrid([]int{16, 12, 10})
	require.NoError(t, err)
	x := make([]complex128, g.Len())
	assert.Zero(t, testing.AllocsPerRun(20, func() { _ = g.Forward(x, x) }))
}

// The negative control of the tests above: one wrong twiddle factor, or one off by a
// thousandth of the tolerance of users, makes them fail.
func TestWrongTwiddleIsFound(t *testing.T) {
	for _, n := range []int{64, 100, 256, 1000, 1024} {
		for _, l := range []Layout{Contiguous(n), Interleaved(3)} {
			p, err := NewMany(n, 3, l, l)
			require.NoError(t, err)
			pencils, results := problem(n, 3)
			x := arrange(pencils, l, 0)
			y := make([]complex128, len(x))
			require.NoError(t, p.Forward(y, x))
			require.Less(t, wrong(y, arrange(results[0], l, 0)), tolerance)
			s := p.line.(*smooth)
			for _, c := range []*schedule{&s.across, &s.along} {
				for i, pass := range s.tablesOf(c, false).passes {
					k := len(pass) / 2
					old := pass[k]
					pass[k] += 1e-9
					require.NoError(t, p.Forward(y, x))
					used := (c == &s.along) == (p.turned != nil)
					require.Equal(t, used, wrong(y, arrange(results[0], l, 0)) > 10*tolerance, "%s: n %d %+v pass %d", fmt.Sprint(p.set), n, l, i)
					pass[k] = old
				}
			}
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(uint16(12), uint8(3), uint8(1), uint8(12), uint8(3), uint8(1), false)
	f.Add(uint16(64), uint8(5), uint8(5), uint8(1), uint8(1), uint8(70), true)
	f.Add(uint16(101), uint8(1), uint8(2), uint8(1), uint8(1), uint8(1), false)
	f.Add(uint16(0), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0), true)
	f.Fuzz(func(t *testing.T, length uint16, count, inStride, inDist, outStride, outDist uint8, inverse bool) {
		n, c := int(length%300), int(count%20)
		in, out := Layout{int(inStride), int(inDist)}, Layout{int(outStride), int(outDist)}
		p, err := NewMany(n, c, in, out)
		if err != nil {
			return
		}
		pencils, results := problem(n, c)
		src := arrange(pencils, in, 0)
		dst := canaries(out.span(n, c) + 1)
		run := p.Forward
		if inverse {
			run = p.Inverse
		}
		require.NoError(t, run(dst, src))
		checkOutput(t, dst, results[direction(inverse)], out)
	})
}

// Plans for arrays that no cache holds store past it, and give the same bytes.
func TestPlan_stream(t *testing.T) {
	for _, n := range []int{8, 64, 100, 512} {
		const count = 40
		p, err := NewMany(n, count, Interleaved(count), Interleaved(count))
		require.NoError(t, err)
		require.False(t, p.stream)
		x := numbers(n*count, 1)
		want, got := codelet.Aligned(n*count), codelet.Aligned(n*count)
		require.NoError(t, p.Forward(want, x))
		p.stream = true
		require.NoError(t, p.Forward(got, x))
		require.True(t, slices.Equal(want, got), "n %d", n)
	}
	large, err := NewMany(64, 1<<25, Interleaved(1<<25), Interleaved(1<<25)) // 32 GiB, which are not there
	require.NoError(t, err)
	require.True(t, large.stream)
	large, err = NewMany(64, 1<<13, Interleaved(1<<13), Interleaved(1<<13))
	require.NoError(t, err)
	require.False(t, large.stream, "8 MiB")
}
