package codelet

import (
	"math"
	"unsafe"
)

// The portable kernels are the reference of the others. The race detector sees only these.

// points are the legs of a butterfly.
type points [maxRadix]complex128

// workbench is the memory of a butterfly: from x to y; composite ones use the rest.
type workbench struct{ x, y, t, u, v points }

// portableSet returns the kernels in Go.
func portableSet() *Set {
	s := &Set{name: "portable", lanes: 1, portable: true}
	for _, r := range Radices() {
		k := func(a *arguments) { portableRows(r, a) }
		s.table[r] = kernels{rows: k, rowsTail: k, twist: k, twistTail: k}
	}
	return s
}

func portableRows(radix int, a *arguments) {
	sign := 1.0
	if a.consts != unsafe.Pointer(unsafe.SliceData(constantTables[0])) {
		sign = -1
	}
	var b workbench
	for i2 := range a.n2 {
		for i1 := range a.n1 {
			for i0 := range a.n0 {
				in, out := i2*a.in2+i1*a.in1+i0*a.in0, i2*a.out2+i1*a.out1+i0*a.out0
				b.butterfly(radix, a, in, out, i1*a.twiddle1, sign)
			}
		}
	}
}

// butterfly does one butterfly; offsets are bytes.
func (b *workbench) butterfly(radix int, a *arguments, in, out, twiddle int, sign float64) {
	for k := range radix {
		b.x[k] = *at(a.in, in+k*a.inLeg)
	}
	if factors[radix][0] > 0 {
		b.composite(radix, sign)
	} else {
		transform(radix, &b.x, &b.y, sign)
	}
	for k := range radix {
		v := b.y[k]
		if k > 0 && a.twiddle != nil {
			v *= *at(a.twiddle, twiddle+16*(k-1))
		}
		*at(a.out, out+k*a.outLeg) = v
	}
}

func at(base unsafe.Pointer, offset int) *complex128 {
	return (*complex128)(unsafe.Add(base, offset))
}

// transform sets y to the discrete Fourier transform of x[:n], where n is 8, 16 or
// a prime of at most maxOdd, or 4: forward if sign is 1, inverse if it is -1.
func transform(n int, x, y *points, sign float64) {
	switch n {
	case 2:
		y[0], y[1] = x[0]+x[1], x[0]-x[1]
	case 4:
		y[0], y[1], y[2], y[3] = transform4(x[0], x[1], x[2], x[3], sign)
	case 8:
		transform8(x, y, sign)
	case 16:
		transform16(x, y, sign)
	default:
		odd(n, x, y, sign)
	}
}

// turn multiplies by the fourth root of unity of the direction: -i forward.
func turn(v complex128, sign float64) complex128 { return complex(sign*imag(v), -sign*real(v)) }

func transform4(x0, x1, x2, x3 complex128, sign float64) (y0, y1, y2, y3 complex128) {
	s02, d02, s13, d13 := x0+x2, x0-x2, x1+x3, turn(x1-x3, sign)
	return s02 + s13, d02 + d13, s02 - s13, d02 - d13
}

// root returns a root of unity of roots in the direction.
func root(k int, roots *[maxRadix]complex128, sign float64) complex128 {
	w := roots[k]
	return complex(real(w), sign*imag(w))
}

// rootTables are the roots of unity by order.
var rootTables = func() (t [maxRadix + 1][maxRadix]complex128) {
	for n := 1; n <= maxRadix; n++ {
		for k := range n {
			t[n][k] = Root(k, n)
		}
	}
	return t
}()

func transform8(x, y *points, sign float64) {
	a0, a1, a2, a3 := transform4(x[0], x[2], x[4], x[6], sign)
	b0, b1, b2, b3 := transform4(x[1], x[3], x[5], x[7], sign)
	const h = math.Sqrt2 / 2
	b1 = (b1 + turn(b1, sign)) * complex(h, 0)
	b2 = turn(b2, sign)
	b3 = (turn(b3, sign) - b3) * complex(h, 0)
	y[0], y[1], y[2], y[3] = a0+b0, a1+b1, a2+b2, a3+b3
	y[4], y[5], y[6], y[7] = a0-b0, a1-b1, a2-b2, a3-b3
}

func transform16(x, y *points, sign float64) {
	var t [16]complex128
	for j := range 4 {
		t[4*j], t[4*j+1], t[4*j+2], t[4*j+3] = transform4(x[j], x[j+4], x[j+8], x[j+12], sign)
	}
	for k := range 4 {
		w1, w2, w3 := root(k, &rootTables[16], sign), root(2*k, &rootTables[16], sign), root(3*k, &rootTables[16], sign)
		y[k], y[k+4], y[k+8], y[k+12] = transform4(t[k], t[k+4]*w1, t[k+8]*w2, t[k+12]*w3, sign)
	}
}

// factors has the two factors of composite lengths.
var factors = [maxRadix + 1][2]int{6: {2, 3}, 9: {3, 3}, 10: {2, 5}, 12: {4, 3}, 14: {2, 7}, 15: {3, 5}, 25: {5, 5}}

// composite is the step of Cooley and Tukey for n = a b.
func (b *workbench) composite(n int, sign float64) {
	first, second := factors[n][0], factors[n][1]
	for j := range second {
		for i := range first {
			b.u[i] = b.x[second*i+j]
		}
		transform(first, &b.u, &b.v, sign)
		for k := range first {
			b.t[second*k+j] = b.v[k] * root(j*k%n, &rootTables[n], sign)
		}
	}
	for k := range first {
		copy(b.u[:second], b.t[second*k:])
		transform(second, &b.u, &b.v, sign)
		for i := range second {
			b.y[k+first*i] = b.v[i]
		}
	}
}

// maxOdd is the largest prime radix.
const maxOdd = 13

// odd is the direct sum for an odd length, terms j and n-j taken together.
func odd(n int, x, y *points, sign float64) {
	h := n / 2
	var s, d [maxOdd/2 + 1]complex128
	y[0] = x[0]
	for j := 1; j <= h; j++ {
		s[j], d[j] = x[j]+x[n-j], turn(x[j]-x[n-j], sign)
		y[0] += s[j]
	}
	for k := 1; k <= h; k++ {
		even, turned := x[0], complex128(0)
		for j := 1; j <= h; j++ {
			w := rootTables[n][j*k%n]
			even += complex(real(w)*real(s[j]), real(w)*imag(s[j]))
			turned -= complex(imag(w)*real(d[j]), imag(w)*imag(d[j]))
		}
		y[k], y[n-k] = even+turned, even-turned
	}
}
