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
	n, m     int
	inner    *smooth
	once     sync.Once
	chirp    []complex128 // c
	spectrum []complex128 // of conj(c), scaled by 1/m; symmetric
}

func newBluestein(n int, set *codelet.Set) *bluestein {
	m := smoothAbove(2*n - 1)
	return &bluestein{n: n, m: m, inner: newSmooth(m, set)}
}

func (b *bluestein) passScratch() int   { return b.m }
func (b *bluestein) aroundScratch() int { return b.m }

// tables makes the chirp and its spectrum when they are first needed.
func (b *bluestein) tables() {
	b.once.Do(func() {
		b.chirp = codelet.Aligned(b.n)
		for j := range b.n {
			b.chirp[j] = codelet.Root(squareMod(j, 2*b.n), 2*b.n)
		}
		b.spectrum = codelet.Aligned(b.m)
		for j, c := range b.chirp {
			c = complex(real(c)/float64(b.m), -imag(c)/float64(b.m))
			b.spectrum[j] = c
			if j > 0 {
				b.spectrum[b.m-j] = c
			}
		}
		ws := &workspace{a: codelet.Aligned(b.m), b: codelet.Aligned(b.m)}
		whole := block{b.spectrum, 1, 1}
		b.inner.columns(whole, whole, 1, 1, false, false, ws)
	})
}

// squareMod returns j*j mod n, without overflow.
func squareMod(j, n int) int {
	high, low := bits.Mul64(uint64(j), uint64(j))
	return int(bits.Rem64(high, low, uint64(n)))
}

// columns is the method of line; the padded sequences are in ws.d.
func (b *bluestein) columns(dst, src block, w, width int, inverse, stream bool, ws *workspace) {
	b.tables()
	padded := block{ws.d, width, 1}
	modulate(padded, src, b.chirp, w, inverse)
	clear(padded.data[b.n*width : b.m*width])
	b.convolve(padded, width, false, ws)
	modulate(padded, padded, b.spectrum, w, inverse)
	b.convolve(padded, width, true, ws)
	modulate(dst, padded, b.chirp, w, inverse)
}

// convolve does one of the two inner transforms, in place.
func (b *bluestein) convolve(padded block, width int, inverse bool, ws *workspace) {
	if width == 1 && b.inner.along.turned {
		b.inner.pencils(padded, padded, 1, inverse, ws)
		return
	}
	b.inner.columns(padded, padded, width, width, inverse, false, ws)
}

// modulate multiplies row j of w numbers by f[j], or by its conjugate.
func modulate(dst, src block, f []complex128, w int, conjugate bool) {
	sign := 1.0
	if conjugate {
		sign = -1
	}
	if w == 1 {
		for j, c := range f {
			dst.data[j*dst.row] = src.data[j*src.row] * complex(real(c), sign*imag(c))
		}
		return
	}
	for j, c := range f {
		c = complex(real(c), sign*imag(c))
		d := dst.data[j*dst.row:][:w]
		for i, v := range src.data[j*src.row:][:w] {
			d[i] = v * c
		}
	}
}
