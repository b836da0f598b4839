package mg

// The kernels keep the sums of the four rows at a distance of one, and of the four at a
// distance of two coordinates, for three points along x: each sum is made once.

// residual makes r = v - A u in the planes from z0 up to but not including z1. r and v may be the same grid.
func residual(r, v, u *Grid, a *[4]float64, z0, z1 int) {
	for z := z0; z < z1; z++ {
		for y := 1; y <= r.N[1]; y++ {
			f0, f1, f2, f3 := u.faces(y, z)
			e0, e1, e2, e3 := u.edges(y, z)
			residualRow(r.row(y, z), v.row(y, z), u.row(y, z), f0, f1, f2, f3, e0, e1, e2, e3, a)
		}
	}
}

func residualRow(r, v, u, f0, f1, f2, f3, e0, e1, e2, e3 []float64, a *[4]float64) {
	a0, a2, a3 := a[0], a[2], a[3]
	fm, fc := f0[0]+f1[0]+f2[0]+f3[0], f0[1]+f1[1]+f2[1]+f3[1]
	em, ec := e0[0]+e1[0]+e2[0]+e3[0], e0[1]+e1[1]+e2[1]+e3[1]
	r = r[1 : len(r)-1]
	n := len(r)
	v, u = v[1:][:n], u[1:][:n]
	f0, f1, f2, f3 = f0[2:][:n], f1[2:][:n], f2[2:][:n], f3[2:][:n]
	e0, e1, e2, e3 = e0[2:][:n], e1[2:][:n], e2[2:][:n], e3[2:][:n]
	for i := range r {
		fp, ep := f0[i]+f1[i]+f2[i]+f3[i], e0[i]+e1[i]+e2[i]+e3[i]
		r[i] = v[i] - a0*u[i] - a2*(ec+fm+fp) - a3*(em+ep)
		fm, fc, em, ec = fc, fp, ec, ep
	}
}

// smooth makes u = u + S r in the planes from z0 up to but not including z1.
func smooth(u, r *Grid, c *[4]float64, z0, z1 int) {
	for z := z0; z < z1; z++ {
		for y := 1; y <= u.N[1]; y++ {
			f0, f1, f2, f3 := r.faces(y, z)
			e0, e1, e2, e3 := r.edges(y, z)
			smoothRow(u.row(y, z), r.row(y, z), f0, f1, f2, f3, e0, e1, e2, e3, c)
		}
	}
}

func smoothRow(u, r, f0, f1, f2, f3, e0, e1, e2, e3 []float64, c *[4]float64) {
	c0, c1, c2 := c[0], c[1], c[2]
	fm, fc := f0[0]+f1[0]+f2[0]+f3[0], f0[1]+f1[1]+f2[1]+f3[1]
	ec := e0[1] + e1[1] + e2[1] + e3[1]
	rm, rc := r[0], r[1]
	u = u[1 : len(u)-1]
	n := len(u)
	r = r[2:][:n]
	f0, f1, f2, f3 = f0[2:][:n], f1[2:][:n], f2[2:][:n], f3[2:][:n]
	e0, e1, e2, e3 = e0[2:][:n], e1[2:][:n], e2[2:][:n], e3[2:][:n]
	for i := range u {
		fp, ep, rp := f0[i]+f1[i]+f2[i]+f3[i], e0[i]+e1[i]+e2[i]+e3[i], r[i]
		u[i] += c0*rc + c1*(rm+rp+fc) + c2*(ec+fm+fp)
		fm, fc, ec, rm, rc = fc, fp, ep, rc, rp
	}
}

// restrict makes the planes from z0 up to but not including z1 of the coarse residual s. Its point j is
// point 2j of the fine one, or 1 along an axis of one point.
func restrict(s, r *Grid, z0, z1 int) {
	var d [3]int
	for a, n := range r.N {
		if n == 1 {
			d[a] = 1
		}
	}
	for z := z0; z < z1; z++ {
		for y := 1; y <= s.N[1]; y++ {
			y2, z2 := 2*y-d[1], 2*z-d[2]
			f0, f1, f2, f3 := r.faces(y2, z2)
			e0, e1, e2, e3 := r.edges(y2, z2)
			restrictRow(s.row(y, z), r.row(y2, z2), f0, f1, f2, f3, e0, e1, e2, e3, d[0])
		}
	}
}

func restrictRow(s, r, f0, f1, f2, f3, e0, e1, e2, e3 []float64, d int) {
	i := 1 - d
	fm, em := f0[i]+f1[i]+f2[i]+f3[i], e0[i]+e1[i]+e2[i]+e3[i]
	for j := 1; j < len(s)-1; j++ {
		i := 2*j - d
		fc, ec := f0[i]+f1[i]+f2[i]+f3[i], e0[i]+e1[i]+e2[i]+e3[i]
		fp, ep := f0[i+1]+f1[i+1]+f2[i+1]+f3[i+1], e0[i+1]+e1[i+1]+e2[i+1]+e3[i+1]
		s[j] = 0.5*r[i] + 0.25*(r[i-1]+r[i+1]+fc) + 0.125*(fm+fp+ec) + 0.0625*(em+ep)
		fm, em = fp, ep
	}
}

// interpolate adds Q z to the planes from z0 up to but not including z1 of u, borders included. Its point 2j is
// point j of z, and 2j+1 lies between j and j+1; shift is added to the numbers in u first.
func interpolate(u, z *Grid, shift [3]int, z0, z1 int) {
	line := make([]float64, z.N[0]+2)
	for k := z0; k < z1; k++ {
		for j := range u.N[1] + 2 {
			y, odd := (j+shift[1])/2, (j+shift[1])%2
			w, odder := (k+shift[2])/2, (k+shift[2])%2
			average(line, z.row(y, w), z.row(y+odd, w), z.row(y, w+odder), z.row(y+odd, w+odder), odd, odder)
			interpolateRow(u.row(j, k), line, shift[0])
		}
	}
}

// average makes the row between up to four others.
func average(line, a, b, c, d []float64, odd, odder int) {
	a, b, c, d = a[:len(line)], b[:len(line)], c[:len(line)], d[:len(line)]
	switch {
	case odd+odder == 0:
		copy(line, a)
	case odder == 0:
		for i := range line {
			line[i] = 0.5 * (a[i] + b[i])
		}
	case odd == 0:
		for i := range line {
			line[i] = 0.5 * (a[i] + c[i])
		}
	default:
		for i := range line {
			line[i] = 0.25 * (a[i] + b[i] + c[i] + d[i])
		}
	}
}

func interpolateRow(u, line []float64, shift int) {
	if shift == 1 {
		u[0] += 0.5 * (line[0] + line[1])
		u, line = u[1:], line[1:]
	}
	j := 0
	for ; 2*j+1 < len(u) && j+1 < len(line); j++ {
		u[2*j] += line[j]
		u[2*j+1] += 0.5 * (line[j] + line[j+1])
	}
	if 2*j < len(u) { // of three points, one is left
		u[2*j] += line[j]
	}
}
