package codelet

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/pages"
)

func numbers(n int, seed uint64) []complex128 {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(random.Float64()-0.5, random.Float64()-0.5)
	}
	return x
}

// canary fills the memory that a pass must not touch.
var canary = complex(math.Inf(1), 12345)

func canaries(n int) []complex128 {
	x := make([]complex128, n)
	for i := range x {
		x[i] = canary
	}
	return x
}

// direct is the pass by its definition.
func direct(radix int, p *Pass) {
	for i := range p.Outer.N {
		for j := range p.Mid.N {
			for q := range p.Run {
				in, out := i*p.Outer.In+j*p.Mid.In+q, i*p.Outer.Out+j*p.Mid.Out+q
				for k := range radix {
					p.Out[out+k*p.OutLeg] = directLeg(radix, k, j, p, in)
				}
			}
		}
	}
}

func directLeg(radix, k, step int, p *Pass, in int) (sum complex128) {
	for l := range radix {
		w := Root(k*l, radix)
		if p.Inverse {
			w = cmplx.Conj(w)
		}
		sum += p.In[in+l*p.InLeg] * w
	}
	if k > 0 && p.Twiddle != nil {
		sum *= p.Twiddle[step*(radix-1)+k-1]
	}
	return sum
}

func distance(a, b []complex128) (d float64) {
	for i := range a {
		if a[i] != b[i] {
			d = max(d, cmplx.Abs(a[i]-b[i]))
		}
	}
	return d
}

// Every kernel of every set does what its definition says, for odd runs, loops,
// strides and misaligned slices, and writes nothing else.
func TestRows(t *testing.T) {
	for _, s := range Sets() {
		for _, radix := range Radices() {
			for _, twiddled := range []bool{false, true} {
				for _, inverse := range []bool{false, true} {
					for run := 1; run <= 13; run++ {
						name := fmt.Sprint(s, " radix ", radix, " twiddled ", twiddled, " inverse ", inverse, " run ", run)
						checkRows(t, s, radix, run, twiddled, inverse, name)
					}
				}
			}
		}
	}
}

func checkRows(t *testing.T, s *Set, radix, run int, twiddled, inverse bool, name string) {
	for _, loops := range [][2]int{{1, 1}, {3, 2}} {
		for _, gap := range []int{0, 3} {
			leg := run + gap
			mid := Loop{loops[0], leg * radix, leg*radix + gap}
			outer := Loop{loops[1], mid.In * mid.N, mid.Out*mid.N + 1}
			p := &Pass{InLeg: leg, OutLeg: leg, Run: run, Mid: mid, Outer: outer, Inverse: inverse, Stream: gap == 0}
			if twiddled {
				p.Twiddle = numbers(mid.N*(radix-1), 7)
			}
			p.In = numbers(outer.In*outer.N+gap, 1)[gap/3:]
			size := outer.Out*outer.N + gap
			want := canaries(size)
			p.Out = want[gap/3:]
			direct(radix, p)
			got := canaries(size)
			p.Out = got[gap/3:]
			s.Rows(radix, p)
			require.Less(t, distance(got, want), 1e-13, "%s loops %v gap %d", name, loops, gap)
		}
	}
}

func TestTranspose(t *testing.T) {
	for _, s := range Sets() {
		for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {4, 4}, {3, 5}, {7, 13}, {8, 32}, {33, 66}, {100, 37}} {
			rows, cols := size[0], size[1]
			for _, gap := range []int{0, 3} {
				src, dst := numbers(rows*(cols+gap)+1, 1)[1:], canaries(cols*(rows+gap))
				want := canaries(len(dst))
				for i := range rows {
					for j := range cols {
						want[j*(rows+gap)+i] = src[i*(cols+gap)+j]
					}
				}
				s.Transpose(dst, rows+gap, src, cols+gap, rows, cols, new(Pass))
				require.Equal(t, want, dst, "%v %d x %d gap %d", s, rows, cols, gap)
			}
		}
	}
}

// Turn is the definition with neighbours as lanes and the output transposed.
func TestTurn(t *testing.T) {
	for _, s := range Sets() {
		for _, radix := range Radices() {
			if !s.CanTurn(radix) {
				continue
			}
			for _, run := range []int{s.Lanes(), 3 * s.Lanes(), 8 * s.Lanes()} {
				for _, inverse := range []bool{false, true} {
					checkTurn(t, s, radix, run, inverse)
				}
			}
		}
	}
}

func checkTurn(t *testing.T, s *Set, radix, run int, inverse bool) {
	const outer, gap = 3, 1
	factors := numbers(radix*run, 3)
	factor := func(q, k int) complex128 { return factors[q*radix+k] }
	length := radix * run
	in := numbers(outer*(length+gap), 1)[gap:]
	want, got := canaries(outer*(length+2*gap)), canaries(outer*(length+2*gap))
	for i := range outer {
		for q := range run {
			p := &Pass{In: in[i*(length+gap)+q:], InLeg: run, Inverse: inverse, Twiddle: factors[q*radix+1 : (q+1)*radix]}
			for k := range radix {
				want[gap+i*(length+gap)+radix*q+k] = directLeg(radix, k, 0, p, 0)
			}
		}
	}
	p := &Pass{In: in, InLeg: run, Out: got[gap:], Run: run, Mid: Loop{N: 1}, Outer: Loop{outer, length + gap, length + gap}, Inverse: inverse}
	p.Twiddle = s.TurnTwiddle(radix, run, factor)
	s.Turn(radix, p)
	require.Less(t, distance(got, want), 1e-13, "%v radix %d run %d inverse %v", s, radix, run, inverse)
}

// A long pass is cut into calls, and none of it is lost.
func TestRows_cut(t *testing.T) {
	for _, s := range Sets() {
		for _, loops := range [][3]int{{callPoints + 3, 1, 1}, {5, callPoints / 8, 1}, {5, 3, callPoints / 16}} {
			run, mid, outer := loops[0], loops[1], loops[2]
			p := &Pass{InLeg: run, OutLeg: run, Run: run, Mid: Loop{mid, 4 * run, 4 * run}, Outer: Loop{outer, 4 * run * mid, 4 * run * mid}}
			p.Twiddle = numbers(3*mid, 1)
			p.In = numbers(4*run*mid*outer, 2)
			want := canaries(len(p.In))
			p.Out = want
			direct(4, p)
			p.Out = canaries(len(p.In))
			s.Rows(4, p)
			require.Less(t, distance(p.Out, want), 1e-13, "%v %v", s, loops)
		}
	}
}

// In place, a butterfly reads all of its legs before it writes one.
func TestRows_in_place(t *testing.T) {
	for _, s := range Sets() {
		for _, radix := range Radices() {
			x := numbers(radix*7, 1)
			p := &Pass{In: x, InLeg: 7, Out: make([]complex128, len(x)), OutLeg: 7, Run: 7, Mid: Loop{N: 1}, Outer: Loop{N: 1}}
			s.Rows(radix, p)
			want := p.Out
			p.Out = x
			s.Rows(radix, p)
			require.Equal(t, want, x, "%v radix %d", s, radix)
		}
	}
}

// The negative control of the tests above: a wrong constant is seen.
func TestWrongConstantIsFound(t *testing.T) {
	for _, s := range Sets() {
		if s.portable {
			continue
		}
		for _, radix := range []int{11, 13, 16} {
			x := numbers(radix*5, 1)
			p := &Pass{In: x, InLeg: 5, OutLeg: 5, Run: 5, Mid: Loop{N: 1}, Outer: Loop{N: 1}, Out: make([]complex128, len(x))}
			want := make([]complex128, len(x))
			q := *p
			q.Out = want
			direct(radix, &q)
			s.Rows(radix, p)
			require.Less(t, distance(p.Out, want), 1e-13)
			for i := range constantTables[0] {
				constantTables[0][i] *= 1 + 1e-9
			}
			s.Rows(radix, p)
			found := distance(p.Out, want) > 1e-12
			copy(constantTables[0], constantTable(1))
			require.True(t, found, "%v radix %d", s, radix)
		}
	}
}

func TestBadPasses(t *testing.T) {
	x := make([]complex128, 64)
	one := Loop{N: 1}
	for _, s := range Sets() {
		for name, c := range map[string]struct {
			radix int
			p     Pass
		}{
			"radix":   {17, Pass{In: x, Out: x, InLeg: 1, OutLeg: 1, Run: 1, Mid: one, Outer: one}},
			"run":     {4, Pass{In: x, Out: x, InLeg: 1, OutLeg: 1, Run: 0, Mid: one, Outer: one}},
			"input":   {4, Pass{In: x[:31], Out: x, InLeg: 8, OutLeg: 8, Run: 8, Mid: one, Outer: one}},
			"output":  {4, Pass{In: x, Out: x[:31], InLeg: 8, OutLeg: 8, Run: 8, Mid: one, Outer: one}},
			"loop":    {4, Pass{In: x, Out: x, InLeg: 8, OutLeg: 8, Run: 8, Mid: Loop{3, 32, 0}, Outer: one}},
			"stride":  {4, Pass{In: x, Out: x, InLeg: -8, OutLeg: 8, Run: 8, Mid: one, Outer: one}},
			"twiddle": {4, Pass{In: x, Out: x, InLeg: 8, OutLeg: 8, Run: 8, Mid: one, Outer: one, Twiddle: x[:2]}},
		} {
			require.Panics(t, func() { s.Rows(c.radix, &c.p) }, "%v %s", s, name)
		}
		require.Panics(t, func() { s.Transpose(x[:5], 3, x, 3, 3, 2, new(Pass)) })
		if s.CanTurn(4) {
			p := &Pass{In: x, Out: x, InLeg: 4, Run: s.Lanes() + 1, Mid: one, Outer: one, Twiddle: x}
			require.Panics(t, func() { s.Turn(4, p) })
		}
	}
}

func TestNamed(t *testing.T) {
	for _, s := range Sets() {
		same, err := Named(s.Name())
		require.NoError(t, err)
		require.Same(t, s, same)
	}
	require.Same(t, Sets()[0], Best())
	_, err := Named("mmx")
	require.ErrorContains(t, err, `no kernels "mmx" on this machine; there are`)
}

// Roots are exact where they can be, and within an ulp of high precision.
func TestRoot(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 8, 12, 1000, 1 << 20, 999983} {
		for _, k := range []int{0, 1, n / 8, n / 4, n/4 + 1, n / 3, n / 2, n - 1, 5 * n, -3} {
			w := Root(k, n)
			require.InDelta(t, 1, real(w)*real(w)+imag(w)*imag(w), 5e-16)
			r := ((k % n) + n) % n
			turn := float64(r) / float64(n)
			require.InDelta(t, math.Cos(2*math.Pi*turn), real(w), 1e-15, "%d/%d", k, n)
			require.InDelta(t, -math.Sin(2*math.Pi*turn), imag(w), 1e-15, "%d/%d", k, n)
		}
	}
	require.Equal(t, []complex128{1, -1i, -1, 1i}, []complex128{Root(0, 4), Root(1, 4), Root(2, 4), Root(3, 4)})
}

func FuzzRows(f *testing.F) {
	f.Add(uint8(0), uint8(5), uint8(2), uint8(3), uint8(1), true, false)
	f.Add(uint8(11), uint8(9), uint8(1), uint8(1), uint8(0), false, true)
	f.Fuzz(func(t *testing.T, which, run, mid, outer, gap uint8, twiddled, inverse bool) {
		radix := Radices()[int(which)%len(Radices())]
		n, m, o, g := int(run%40)+1, int(mid%5)+1, int(outer%4)+1, int(gap%5)
		p := &Pass{InLeg: n + g, OutLeg: n, Run: n, Inverse: inverse, Stream: g == 0}
		p.Mid = Loop{m, radix * p.InLeg, radix*n + g}
		p.Outer = Loop{o, m * p.Mid.In, m * p.Mid.Out}
		if twiddled {
			p.Twiddle = numbers(m*(radix-1), 1)
		}
		p.In = numbers(o*p.Outer.In, 2)
		want := canaries(o * p.Outer.Out)
		p.Out = want
		direct(radix, p)
		for _, s := range Sets() {
			p.Out = canaries(len(want))
			s.Rows(radix, p)
			require.Less(t, distance(p.Out, want), 1e-13, "%v radix %d run %d loops %d %d gap %d", s, radix, n, m, o, g)
		}
	})
}

// Stores past the cache store the same.
func TestRows_stream(t *testing.T) {
	for _, s := range Sets() {
		for _, radix := range Radices() {
			for _, run := range []int{4, 8, 12, 10} {
				p := &Pass{InLeg: 3 * run, OutLeg: 12, Run: run, Mid: Loop{3, run, 12 * radix}, Outer: Loop{N: 1}}
				p.In = numbers(3*run*radix, 1)
				p.Out = Aligned(3 * 12 * radix)
				s.Rows(radix, p)
				want := p.Out
				p.Out, p.Stream = Aligned(len(want)), true
				s.Rows(radix, p)
				require.Equal(t, want, p.Out, "%v radix %d run %d", s, radix, run)
				streams := s.table[radix].stream != nil
				require.Equal(t, streams, p.streams(&s.table[radix], s))
				p.Out = p.Out[1:]
				require.False(t, p.streams(&s.table[radix], s), "not aligned")
			}
		}
	}
}

// Aligned memory is zero, starts at a cache line, or at a huge page if it is long, and has no more than was asked for.
func TestAligned(t *testing.T) {
	for _, n := range []int{1, 5, hugeBytes/16 - 1, hugeBytes / 16, pages.HugeSize/16 + 1} {
		at := uintptr(64)
		if 16*n >= hugeBytes {
			at = pages.HugeSize
		}
		for range 2 { // the second one may be memory used before
			x := Aligned(n)
			assert.Len(t, x, n)
			assert.Equal(t, n, cap(x))
			assert.Zero(t, uintptr(unsafe.Pointer(&x[0]))%at, "%d numbers", n)
			for i := range x {
				require.Zero(t, x[i])
				x[i] = 1
			}
			runtime.GC()
		}
	}
}
