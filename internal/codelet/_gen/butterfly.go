package main

import "math"

// split says how the transform of a composite length is taken apart: first
// transforms of the first factor, then of the second.
var split = map[int][2]int{6: {2, 3}, 8: {4, 2}, 9: {3, 3}, 10: {2, 5}, 12: {4, 3}, 14: {2, 7}, 15: {3, 5}, 16: {4, 4}, 25: {5, 5}}

// transform returns the discrete Fourier transform of the terms: element k is the
// sum of x[j] w^(jk).
func (p *program) transform(x []term) []value {
	switch n := len(x); {
	case n == 1:
		return []value{p.settle(x[0])}
	case n == 2:
		s, d := p.sumDiff(x[0], x[1])
		return []value{s, d}
	case n == 4:
		return p.transform4(x)
	case split[n] != [2]int{}:
		return p.composite(x, split[n][0], split[n][1])
	default:
		return p.odd(x)
	}
}

func (p *program) transform4(x []term) []value {
	s02, d02 := p.sumDiff(x[0], x[2])
	s13, d13 := p.sumDiff(x[1], x[3])
	y0, y2 := p.sumDiff(plain(s02), plain(s13))
	y1, y3 := p.sumDiff(plain(d02), term{d13, 1, 1})
	return []value{y0, y1, y2, y3}
}

// composite is the step of Cooley and Tukey for n = a b.
func (p *program) composite(x []term, a, b int) []value {
	n := a * b
	columns := make([][]value, b)
	for j := range b {
		var leg []term
		for i := range a {
			leg = append(leg, x[b*i+j])
		}
		columns[j] = p.transform(leg)
	}
	y := make([]value, n)
	for k := range a {
		var leg []term
		for j := range b {
			leg = append(leg, p.rotate(columns[j][k], j*k, n))
		}
		for i, v := range p.transform(leg) {
			y[k+a*i] = v
		}
	}
	return y
}

// odd is the direct sum for an odd length, with terms j and n-j taken together.
func (p *program) odd(x []term) []value {
	n, h := len(x), len(x)/2
	x0 := p.settle(x[0])
	var s, d []value
	for j := 1; j <= h; j++ {
		sum, diff := p.sumDiff(x[j], x[n-j])
		s, d = append(s, sum), append(d, p.emit(swap, diff, none, 0))
	}
	y := make([]value, n)
	y[0] = x0
	for _, v := range s {
		y[0] = p.emit(add, y[0], v, 0)
	}
	for k := 1; k <= h; k++ {
		even, turned := x0, none
		for j := 1; j <= h; j++ {
			angle := 2 * math.Pi * float64(j*k%n) / float64(n)
			even = p.emit(fma, s[j-1], even, p.consts.of(math.Cos(angle), false))
			c := p.consts.of(math.Sin(angle), true)
			if turned == none {
				turned = p.emit(mul, d[j-1], none, c)
			} else {
				turned = p.emit(fma, d[j-1], turned, c)
			}
		}
		y[k], y[n-k] = p.sumDiff(plain(even), plain(turned))
	}
	return y
}
