package fft

import "github.com/weft-hpc/weft/internal/codelet"

// mixed transforms a length n = q m, where q has the prime factors without a codelet: a pass
// of radix q by Bluestein's method, and the passes of the smooth length m on its results. In
// the terms of package codelet, the step p of the first pass reads the elements p + m k, and
// writes the elements q p + k; the rest are q interleaved pencils of length m.
type mixed struct {
	n, q, m int
	first   *bluestein
	rest    *smooth
	tables  [2]lazyTables
}

// mixedLanes is how many steps of the first pass, or pencils of the rest, one pencil does
// together, and longRadix is the radix from which on the steps are long enough to do one by one.
const (
	mixedLanes = 16
	longRadix  = 1 << 11
)

// newMixed needs factors q and m above 1 of n.
func newMixed(n, q int, set *codelet.Set) *mixed {
	return &mixed{n: n, q: q, m: n / q, first: newBluestein(q, set), rest: newSmooth(n/q, set)}
}

// alone: one pencil has steps enough to fill the lanes, or long ones.
func (x *mixed) alone() bool { return x.m >= mixedLanes || x.q >= longRadix }

// rough returns the largest factor of n that has only prime factors without a codelet.
func rough(n int) int {
	for _, p := range []int{2, 3, 5, 7, 11, 13} {
		for n%p == 0 {
			n /= p
		}
	}
	return n
}

func (x *mixed) newWorkspace(pencils int) *workspace {
	lanes := max(pencils, mixedLanes)
	ws := &workspace{a: codelet.Aligned(x.n * pencils), d: codelet.Aligned(x.q * mixedLanes)}
	ws.chunk = x.first.newWorkspace(lanes)
	if need := x.m * lanes; need > len(ws.chunk.a) {
		ws.chunk.a, ws.chunk.b = codelet.Aligned(need), codelet.Aligned(need)
	}
	return ws
}

// twiddle returns the factor of step p and leg k as element q p + k.
func (x *mixed) twiddle(inverse bool) []complex128 {
	t := &x.tables[direction(inverse)]
	t.once.Do(func() {
		w := codelet.Aligned(x.n)
		for p := range x.m {
			for k := range x.q {
				w[p*x.q+k] = rootOf(p*k, x.n, inverse)
			}
		}
		t.passes = append(t.passes, w)
	})
	return t.passes[0]
}

// columns is the method of line.
func (x *mixed) columns(dst, src block, w, width int, inverse, stream bool, ws *workspace) {
	t := x.twiddle(inverse)
	if width == 1 && src.row == 1 && x.q < longRadix {
		x.steps(src, t, inverse, ws)
	} else {
		for p := range x.m {
			y := block{ws.a[p*x.q*width:], width, 1}
			from := block{src.data[p*src.row:], x.m * src.row, 1}
			x.first.columns(y, from, w, width, inverse, false, ws.chunk)
			x.first.modulate(y, y, t[p*x.q:][:x.q], w, ws)
		}
	}
	if width == 1 && dst.row == 1 {
		for k := 0; k < x.q; k += mixedLanes {
			x.rest.columns(block{dst.data[k:], x.q, 1}, block{ws.a[k:], x.q, 1}, min(mixedLanes, x.q-k), mixedLanes, inverse, stream, ws.chunk)
		}
		return
	}
	for k := range x.q {
		x.rest.columns(block{dst.data[k*dst.row:], x.q * dst.row, 1}, block{ws.a[k*width:], x.q * width, 1}, w, width, inverse, stream, ws.chunk)
	}
}

// steps does the first pass along one contiguous pencil, a few steps at a time: they are
// interleaved in the input, and one after another in the output.
func (x *mixed) steps(src block, t []complex128, inverse bool, ws *workspace) {
	set := x.first.inner.set
	for p := 0; p < x.m; p += mixedLanes {
		some := min(mixedLanes, x.m-p)
		width := (some + 3) / 4 * 4
		x.first.columns(block{ws.d, width, 1}, block{src.data[p:], x.m, 1}, some, width, inverse, false, ws.chunk)
		y := ws.a[p*x.q:]
		set.Transpose(y, x.q, ws.d, width, x.q, some, &ws.pass)
		set.Multiply(y, y, t[p*x.q:][:some*x.q], &ws.pass)
	}
}
