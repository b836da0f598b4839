package fft

import (
	"math/bits"
	"sync"

	"github.com/weft-hpc/weft/internal/codelet"
)

// bluestein transforms any length n as a convolution of a smooth length m of at
// least 2n-1: with jk = (j^2 + k^2 - (k-j)^2)/2,
//
//	X[k] = c[k] sum over j of (x[j] c[j]) conj(c[k-j]),   c[j] = exp(-pi i j^2 / n).
//
// The inverse transform has the conjugate chirp c. (L. I. Bluestein, "A linear
// filtering approach to the computation of the discrete Fourier transform", 1970.)
type bluestein struct {
	n, m   int
	inner  *smooth
	tables [2]chirps
}

// chirps are the factors of one direction, made when first needed.
type chirps struct {
	once     sync.Once
	chirp    []complex128 // c
	spectrum []complex128 // of conj(c), scaled by 1/m; symmetric
}

func newBluestein(n int, set *codelet.Set) *bluestein {
	m := smoothAbove(2*n-1, set)
	return &bluestein{n: n, m: m, inner: newSmooth(m, set)}
}

// alone: the padded sequences of 16 pencils take more than 32 times the memory of a pencil, which no cache holds if it is
// long. Measured (Zen 5, batches of 16): lengths 97, 127 and 1009 take 0.95, 0.8 and 0.6 of their time one by one, 61 takes 1.2 to 1.5.
func (b *bluestein) alone() bool { return b.n >= 96 }

func (b *bluestein) newWorkspace(pencils int) *workspace {
	ws := b.inner.newWorkspace(pencils)
	ws.d = codelet.Aligned(b.m * pencils)
	return ws
}

// tablesOf makes the chirp and its spectrum when they are first needed.
func (b *bluestein) tablesOf(inverse bool) *chirps {
	t := &b.tables[direction(inverse)]
	t.once.Do(func() {
		t.chirp = codelet.Aligned(b.n)
		for j := range b.n {
			t.chirp[j] = rootOf(squareMod(j, 2*b.n), 2*b.n, inverse)
		}
		t.spectrum = codelet.Aligned(b.m)
		for j, c := range t.chirp {
			c = complex(real(c)/float64(b.m), -imag(c)/float64(b.m))
			t.spectrum[j] = c
			if j > 0 {
				t.spectrum[b.m-j] = c
			}
		}
		whole := block{t.spectrum, 1, 1}
		b.inner.columns(whole, whole, 1, 1, inverse, false, newWorkspace(b.m))
	})
	return t
}

// squareMod returns j*j mod n, without overflow.
func squareMod(j, n int) int {
	high, low := bits.Mul64(uint64(j), uint64(j))
	return int(bits.Rem64(high, low, uint64(n)))
}

// columns is the method of line; the padded sequences are in ws.d.
func (b *bluestein) columns(dst, src block, w, width int, inverse, stream bool, ws *workspace) {
	t := b.tablesOf(inverse)
	padded := block{ws.d, width, 1}
	b.modulate(padded, src, t.chirp, w, ws)
	clear(padded.data[b.n*width : b.m*width])
	b.convolve(padded, width, inverse, ws)
	b.modulate(padded, padded, t.spectrum, w, ws)
	b.convolve(padded, width, !inverse, ws)
	b.modulate(dst, padded, t.chirp, w, ws)
}

// convolve does one of the two inner transforms, in place.
func (b *bluestein) convolve(padded block, width int, inverse bool, ws *workspace) {
	if width == 1 && b.inner.along.turned {
		b.inner.pencils(padded, padded, 1, inverse, ws)
		return
	}
	b.inner.columns(padded, padded, width, width, inverse, false, ws)
}

// modulate multiplies row j of w numbers by f[j].
func (b *bluestein) modulate(dst, src block, f []complex128, w int, ws *workspace) {
	switch {
	case w > 1:
		b.inner.set.MultiplyRows(dst.data, dst.row, src.data, src.row, w, f, &ws.pass)
	case dst.row == 1 && src.row == 1:
		b.inner.set.Multiply(dst.data, src.data, f, &ws.pass)
	default:
		for j, c := range f {
			dst.data[j*dst.row] = src.data[j*src.row] * c
		}
	}
}
