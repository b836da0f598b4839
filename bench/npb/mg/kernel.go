package mg

// sums makes f and e, the sums of the rows around a row: of the four that differ in one
// coordinate, and of the four that differ in two. They are kept in memory, so that each is made once
// for three points along x.
func (g *Grid) sums(f, e []float64, y, z int) {
	a, b, c, d := g.faces(y, z)
	addRows(f, a, b, c, d)
	a, b, c, d = g.edges(y, z)
	addRows(e, a, b, c, d)
}

// twoRows returns memory for the sums.
func (g *Grid) twoRows() (f, e []float64) {
	n := g.N[0] + 2
	x := make([]float64, 2*n)
	return x[:n], x[n:]
}

// residual makes r = v - A u in the planes from z0 up to but not including z1. r and v may be the same grid.
func residual(r, v, u *Grid, a *[4]float64, z0, z1 int) {
	if wide() {
		for z := z0; z < z1; z++ {
			residualWide(r, v, u, a, z)
		}
		return
	}
	f, e := u.twoRows()
	for z := z0; z < z1; z++ {
		for y := 1; y <= r.N[1]; y++ {
			u.sums(f, e, y, z)
			residualRow(r.row(y, z), v.row(y, z), u.row(y, z), f, e, a)
		}
	}
}

// smooth makes u = u + S r in the planes from z0 up to but not including z1.
func smooth(u, r *Grid, c *[4]float64, z0, z1 int) {
	if wide() {
		for z := z0; z < z1; z++ {
			smoothWide(u, r, c, z)
		}
		return
	}
	f, e := r.twoRows()
	for z := z0; z < z1; z++ {
		for y := 1; y <= u.N[1]; y++ {
			r.sums(f, e, y, z)
			smoothRow(u.row(y, z), r.row(y, z), f, e, c)
		}
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
	f, e := r.twoRows()
	for z := z0; z < z1; z++ {
		for y := 1; y <= s.N[1]; y++ {
			y2, z2 := 2*y-d[1], 2*z-d[2]
			if wide() && d[0] == 0 {
				restrictWide(s.row(y, z), r, y2, z2)
				continue
			}
			r.sums(f, e, y2, z2)
			restrictRow(s.row(y, z), r.row(y2, z2), f, e, d[0])
		}
	}
}

func restrictRow(s, r, f, e []float64, d int) {
	c := &restriction
	for j := 1; j < len(s)-1; j++ {
		i := 2*j - d
		r, f, e := r[i-1:i+2], f[i-1:i+2], e[i-1:i+2]
		s[j] = c[0]*r[1] + c[1]*(r[0]+r[2]+f[1]) + c[2]*(f[0]+f[2]+e[1]) + c[3]*(e[0]+e[2])
	}
}

// interpolate adds Q z to the planes from z0 up to but not including z1 of u, borders included. Its point 2j is
// point j of z, and 2j+1 lies between j and j+1; shift is added to the numbers in u first.
func interpolate(u, z *Grid, shift [3]int, z0, z1 int) {
	line := make([]float64, z.N[0]+2)
	for k := z0; k < z1; k++ {
		for j := range u.N[1] + 2 {
			rows, n := z.between(j+shift[1], k+shift[2])
			if wide() && u.N[0] > 1 {
				interpolateWide(u.row(j, k), &rows, n)
				continue
			}
			mean(line, &rows, n)
			row, from := u.row(j, k), line
			if shift[0] == 1 { // the first point lies between two
				row[0] += 0.5 * (line[0] + line[1])
				row, from = row[1:], line[1:]
			}
			interpolateRow(row, from)
		}
	}
}

// between returns the rows around the row at y and z of a grid with twice the points: one, two or four.
func (g *Grid) between(y, z int) (rows [4][]float64, n int) {
	a, b := g.row(y/2, z/2), g.row((y+1)/2, z/2)
	c, d := g.row(y/2, (z+1)/2), g.row((y+1)/2, (z+1)/2)
	switch y%2 + 2*(z%2) {
	case 0:
		return [4][]float64{a, a, a, a}, 1
	case 1:
		return [4][]float64{a, b, a, a}, 2
	case 2:
		return [4][]float64{a, c, a, a}, 2
	}
	return [4][]float64{a, b, c, d}, 4
}

// mean makes the mean of the first n rows: one, two or four.
func mean(line []float64, rows *[4][]float64, n int) {
	a, b, c, d := rows[0][:len(line)], rows[1][:len(line)], rows[2][:len(line)], rows[3][:len(line)]
	switch n {
	case 1:
		copy(line, a)
	case 2:
		for i := range line {
			line[i] = 0.5 * (a[i] + b[i])
		}
	default:
		for i := range line {
			line[i] = 0.25 * (a[i] + b[i] + c[i] + d[i])
		}
	}
}
