package main

import "math"

// The solution is s(x) s(y) s(z) with s(x) = sin(x) exp(cos(x)): all frequencies, and a
// mean of zero, which laplace u = f leaves open.
func s(x float64) float64 { return math.Sin(x) * math.Exp(math.Cos(x)) }

// s2 is the second derivative of s.
func s2(x float64) float64 {
	sin, cos := math.Sincos(x)
	return (sin*sin*sin - sin - 3*sin*cos) * math.Exp(cos)
}

// angle is the place of point i of n between 0 and 2 pi.
func angle(i, n int) float64 { return 2 * math.Pi * float64(i) / float64(n) }

// cube is a grid of n x n x n points: s and its second derivative along a side, and the
// eigenvalues of the second derivative by frequency.
type cube struct {
	n                int
	s, s2, laplacian []float64
}

func newCube(n int, laplacian []float64) *cube {
	c := &cube{n, make([]float64, n), make([]float64, n), laplacian}
	for i := range n {
		c.s[i], c.s2[i] = s(angle(i, n)), s2(angle(i, n))
	}
	return c
}

// fill writes f = s"ss + ss"s + sss" to plane i.
func (c *cube) fill(i int, f []complex128) {
	for j := range c.n {
		ab, ab2 := c.s[i]*c.s[j], c.s2[i]*c.s[j]+c.s[i]*c.s2[j]
		for k, v := range c.s {
			f[j*c.n+k] = complex(ab2*v+ab*c.s2[k], 0)
		}
	}
}

// divide divides plane i of the transform by the eigenvalues of laplace, and by the n^3
// that forward and inverse transform multiply with.
func (c *cube) divide(i int, f []complex128) {
	points := float64(c.n) * float64(c.n) * float64(c.n)
	for j := range c.n {
		for k, e := range c.laplacian {
			value := 0.0 // of the mean: u has none
			if e += c.laplacian[i] + c.laplacian[j]; e != 0 {
				value = 1 / (e * points)
			}
			f[j*c.n+k] *= complex(value, 0)
		}
	}
}

// compare makes worst the largest error in plane i, if that is larger.
func (c *cube) compare(i int, u []complex128, worst *float64) {
	for j := range c.n {
		ab := c.s[i] * c.s[j]
		for k, v := range c.s {
			if d := math.Abs(real(u[j*c.n+k]) - ab*v); !(d <= *worst) {
				*worst = d
			}
		}
	}
}

func largest(dst, src []float64) { dst[0] = math.Max(dst[0], src[0]) }

// spectral returns the eigenvalues of the second derivative: -k^2.
func spectral(n int) []float64 {
	e := make([]float64, n)
	for i := range e {
		k := float64((i+n/2)%n - n/2) // from half the size on, frequencies are negative
		e[i] = -k * k
	}
	return e
}

// secondOrder returns the eigenvalues of (u(x-h) - 2 u(x) + u(x+h)) / h^2.
func secondOrder(n int) []float64 {
	e := make([]float64, n)
	for i := range e {
		half := math.Sin(math.Pi*float64(i)/float64(n)) * float64(n) / math.Pi
		e[i] = -half * half
	}
	return e
}
