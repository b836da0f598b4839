package blas

// A triangular system has sixteen forms: two sides, two triangles, two transposes, two
// diagonals. Packing reduces all to one, T*Y = B with T lower triangular. A transposed A is
// packed across, an X on the left is solved as its transpose, and an upper triangle becomes
// a lower one by counting its rows from the end. T is packed like an A, strip by strip;
// each strip ends with its diagonal block, which holds the reciprocals of the diagonal. Y is
// packed like a B.

// maxTriangle is the largest order that Dtrsm solves at once. It halves larger triangles,
// and Dgemm does most of the work.
const maxTriangle = 384

// triangle is T: element (i, p) is a[index(transposed, i, p, ld)], with i and p counted from
// the end if reversed.
type triangle struct {
	a          []float64
	ld, n      int
	transposed bool
	reversed   bool
	unit       bool
}

// at returns element (i, p) of T.
func (t *triangle) at(i, p int) float64 {
	if t.reversed {
		i, p = t.n-1-i, t.n-1-p
	}
	return t.a[index(t.transposed, i, p, t.ld)]
}

func (t *primitives) PackedTriangle(n int) int {
	strips := (n + t.mr - 1) / t.mr
	return t.mr * t.mr * strips * (strips + 1) / 2
}

func (t *primitives) PackTriangle(dst []float64, uplo UpLo, ta Transpose, diag Diag, n int, a []float64, lda int) {
	checkMatrix("PackTriangle", "a", n, n, a, lda)
	checkPacked("PackTriangle", "Triangle", dst, t.PackedTriangle(n))
	if bool(uplo) != bool(ta) {
		panic("blas: PackTriangle: op(A) is upper triangular: it has to be lower, Lower and NoTrans or Upper and Trans")
	}
	t.packTriangle(dst, &triangle{a: a, ld: lda, n: n, transposed: bool(ta), unit: bool(diag)})
}

func (t *primitives) packTriangle(dst []float64, tri *triangle) {
	for i := 0; i < tri.n; i += t.mr {
		rows := min(t.mr, tri.n-i)
		if tri.reversed {
			t.packReversed(dst, tri, i, rows)
		} else if i > 0 {
			t.packA(dst, tri.transposed, rows, i, tri.a[index(tri.transposed, i, 0, tri.ld):], tri.ld)
		}
		dst = dst[i*t.mr:]
		t.packDiagonal(dst, tri, i, rows)
		dst = dst[t.mr*t.mr:]
	}
}

// packReversed packs the part of a strip before its diagonal block.
func (t *primitives) packReversed(dst []float64, tri *triangle, first, rows int) {
	for p := range first {
		column := dst[p*t.mr:][:t.mr]
		for i := range rows {
			column[i] = tri.at(first+i, p)
		}
		clear(column[rows:])
	}
}

// packDiagonal packs the diagonal block of a strip. Rows of the identity fill the last one.
func (t *primitives) packDiagonal(dst []float64, tri *triangle, first, rows int) {
	clear(dst[:t.mr*t.mr])
	for p := range t.mr {
		column := dst[p*t.mr:][:t.mr]
		column[p] = 1
		if p >= rows {
			continue
		}
		if !tri.unit {
			column[p] = 1 / tri.at(first+p, first+p)
		}
		for i := p + 1; i < rows; i++ {
			column[i] = tri.at(first+i, first+p)
		}
	}
}

func (t *primitives) SolvePacked(n, cols int, tri, bp []float64) {
	checkPacked("SolvePacked", "Triangle", tri, t.PackedTriangle(n))
	checkPacked("SolvePacked", "B", bp, t.PackedB(n, cols))
	w := takeWorkspace()
	defer w.giveBack()
	for j := 0; j < cols; j += t.nr {
		t.solveStrip(n, tri, bp[j*n:][:n*t.nr], w.edge[:])
	}
}

// solveStrip solves for the n rows of one strip of a packed B. The primitive takes mr rows:
// fewer last rows are solved in edge.
func (t *primitives) solveStrip(n int, tri, x, edge []float64) {
	for i := 0; i < n; i += t.mr {
		y := x[i*t.nr:]
		if n-i >= t.mr {
			t.trsmTile(i, tri, x, y)
		} else {
			clear(edge)
			copy(edge, y)
			t.trsmTile(i, tri, x, edge)
			copy(y, edge)
		}
		tri = tri[t.mr*(i+t.mr):]
	}
}

func (t *primitives) Dtrsm(side Side, uplo UpLo, ta Transpose, diag Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	order := m
	if side == Right {
		order = n
	}
	checkMatrix("Dtrsm", "a", order, order, a, lda)
	checkMatrix("Dtrsm", "b", m, n, b, ldb)
	if m == 0 || n == 0 {
		return
	}
	t.scaleMatrix(alpha, m, n, b, ldb)
	if alpha == 0 {
		return
	}
	s := system{side: side, upper: bool(uplo), trans: ta, a: a, lda: lda, order: order, m: m, n: n, b: b, ldb: ldb, unit: bool(diag)}
	t.solve(&s)
}

// system is the system of a call of Dtrsm.
type system struct {
	side        Side
	upper, unit bool
	trans       Transpose
	a           []float64
	lda, order  int
	b           []float64
	m, n, ldb   int
}

// transposed reports whether T is the transpose of A as stored.
func (s *system) transposed() bool { return bool(s.trans) != bool(s.side) }

// reversed reports whether the unknowns are found from the last to the first.
func (s *system) reversed() bool { return s.upper != s.transposed() }

// unknowns returns the system of n unknowns from number first: its part of b.
func (s *system) unknowns(first, n int) system {
	part := *s
	part.a, part.order = s.a[first+first*s.lda:], n
	if s.side == Left {
		part.b, part.m = s.b[first:], n
	} else {
		part.b, part.n = s.b[first*s.ldb:], n
	}
	return part
}

func (t *primitives) solve(s *system) {
	if s.order <= maxTriangle {
		t.solveTriangle(s)
		return
	}
	half := roundUp(s.order/2, t.mr)
	first, second := s.unknowns(0, half), s.unknowns(half, s.order-half)
	known, rest, at := &first, &second, index(s.upper, half, 0, s.lda)
	if s.reversed() {
		known, rest = rest, known
	}
	t.solve(known)
	if s.side == Left {
		t.Dgemm(s.trans, NoTrans, rest.m, s.n, known.m, -1, s.a[at:], s.lda, known.b, s.ldb, 1, rest.b, s.ldb)
	} else {
		t.Dgemm(NoTrans, s.trans, s.m, rest.n, known.n, -1, known.b, s.ldb, s.a[at:], s.lda, 1, rest.b, s.ldb)
	}
	t.solve(rest)
}

// solveTriangle packs the triangle, and solves strip by strip.
func (t *primitives) solveTriangle(s *system) {
	w := takeWorkspace()
	defer w.giveBack()
	tri, x := w.b[:t.PackedTriangle(s.order)], w.a[:s.order*t.nr]
	t.packTriangle(tri, &triangle{a: s.a, ld: s.lda, n: s.order, transposed: s.transposed(), reversed: s.reversed(), unit: s.unit})
	lines := s.n
	if s.side == Right {
		lines = s.m
	}
	for j := 0; j < lines; j += t.nr {
		columns := min(t.nr, lines-j)
		at := s.b[index(s.side == Right, 0, j, s.ldb):]
		t.packB(x, s.side == Right, s.order, columns, at, s.ldb)
		t.turn(s, x)
		t.solveStrip(s.order, tri, x, w.edge[:])
		t.turn(s, x)
		if s.side == Left {
			t.unpackStrip(x, s.order, columns, at, s.ldb)
		} else {
			t.unpackAcross(x, s.order, columns, at, s.ldb)
		}
	}
}

// turn reverses the rows of a strip if the system is reversed.
func (t *primitives) turn(s *system, x []float64) {
	if !s.reversed() {
		return
	}
	for i, j := 0, s.order-1; i < j; i, j = i+1, j-1 {
		t.swap(x[i*t.nr:][:t.nr], x[j*t.nr:])
	}
}

// unpackAcross stores the columns of one strip as rows.
func (t *primitives) unpackAcross(strip []float64, k, columns int, b []float64, ldb int) {
	for p := range k {
		copy(b[p*ldb:][:columns], strip[p*t.nr:])
	}
}
