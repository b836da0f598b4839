package mg

// The rows of the kernels, without vector instructions. A row has its borders. Of the rows around it,
// kernels take two sums: f of the four that differ in one coordinate, and e of the four that differ in
// two. The order of additions is that of rows_amd64.s, so both make the same bits.

// addPortable makes each number of sum the sum of four.
func addPortable(sum, a, b, c, d []float64) {
	a, b, c, d = a[:len(sum)], b[:len(sum)], c[:len(sum)], d[:len(sum)]
	for i := range sum {
		sum[i] = a[i] + b[i] + c[i] + d[i]
	}
}

// residualPortable makes the points of r = v - A u.
func residualPortable(r, v, u, f, e []float64, a *[4]float64) {
	a0, a2, a3 := a[0], a[2], a[3]
	n := len(r)
	v, u, f, e = v[:n], u[:n], f[:n], e[:n]
	for i := 1; i < n-1; i++ {
		r[i] = v[i] - a0*u[i] - a2*(e[i]+f[i-1]+f[i+1]) - a3*(e[i-1]+e[i+1])
	}
}

// smoothPortable adds S r to the points of u.
func smoothPortable(u, r, f, e []float64, c *[4]float64) {
	c0, c1, c2 := c[0], c[1], c[2]
	n := len(u)
	r, f, e = r[:n], f[:n], e[:n]
	for i := 1; i < n-1; i++ {
		u[i] += c0*r[i] + c1*(r[i-1]+r[i+1]+f[i]) + c2*(e[i]+f[i-1]+f[i+1])
	}
}

// interpolatePortable adds the numbers of line, and between two of them their mean, to u.
func interpolatePortable(u, line []float64) {
	j := 0
	for ; 2*j+1 < len(u) && j+1 < len(line); j++ {
		u[2*j] += line[j]
		u[2*j+1] += 0.5 * (line[j] + line[j+1])
	}
	if 2*j < len(u) { // of three points, one is left
		u[2*j] += line[j]
	}
}
