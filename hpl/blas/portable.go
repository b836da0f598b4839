package blas

import "math"

// portable is the table in Go: it runs everywhere, and is the reference of the others.
var portable = primitives{
	name: "portable", mr: 4, nr: 4, lanes: 4, block: blocks,
	gemmColumn: gemmColumn, trsmTile: trsmTile,
	copyMR: copyFour, copyNR: copyFour, transpose: transposeFour,
	unpack: unpackFour,
	absMax: absMax, indexAbs: indexAbs,
	scal: scal, axpy: axpy, swap: swap, exchange4: exchange4,
	gather8: gather8, scatter8: scatter8,
	ger4: ger4, gemvN4: gemvN4, gemvT4: gemvT4,
}

// gemmColumn multiplies tile by tile.
func gemmColumn(m, n, k int, alpha float64, a []float64, as, lda int, b, c []float64, ldc int, _ uintptr, _ int) {
	for i, s := 0, 0; i < m; i, s = i+4, s+as {
		gemmTile(min(4, m-i), n, k, alpha, a[s:], lda, b, c[i:], ldc)
	}
}

// gemmTile multiplies two columns of the tile at a time: most processors have sixteen
// registers, which hold these eight sums and the operands.
func gemmTile(m, n, k int, alpha float64, a []float64, lda int, b, c []float64, ldc int) {
	var sum [4][4]float64
	for j := 0; j < n; j += 2 {
		var s00, s10, s20, s30, s01, s11, s21, s31 float64
		for p := range k {
			x := a[p*lda:][:4:4]
			y := b[p*4+j:][:2:2]
			s00 += x[0] * y[0]
			s10 += x[1] * y[0]
			s20 += x[2] * y[0]
			s30 += x[3] * y[0]
			s01 += x[0] * y[1]
			s11 += x[1] * y[1]
			s21 += x[2] * y[1]
			s31 += x[3] * y[1]
		}
		sum[j] = [4]float64{s00, s10, s20, s30}
		sum[j+1] = [4]float64{s01, s11, s21, s31}
	}
	for j := range n {
		column := c[j*ldc:][:m]
		for i := range column {
			column[i] += alpha * sum[j][i]
		}
	}
}

func trsmTile(k int, l, x, y []float64) {
	for i := range 4 {
		row := y[4*i:][:4:4]
		for p := range k {
			subtract(row, l[p*4+i], x[p*4:])
		}
		for p := range i {
			subtract(row, l[(k+p)*4+i], y[p*4:])
		}
		inverse := l[(k+i)*4+i]
		for j := range row {
			row[j] *= inverse
		}
	}
}

// subtract: row -= factor*x, four elements.
func subtract(row []float64, factor float64, x []float64) {
	row, x = row[:4], x[:4]
	for j := range row {
		row[j] -= factor * x[j]
	}
}

func copyFour(n int, dst, src []float64, ss int) {
	for p := range n {
		copy(dst[p*4:][:4], src[p*ss:][:4])
	}
}

func transposeFour(n int, dst []float64, ds int, src []float64, ss int) {
	for p := range n {
		for i := range 4 {
			dst[p*ds+i] = src[i*ss+p]
		}
	}
}

func unpackFour(n int, dst []float64, ds int, src []float64) {
	for p := range n {
		for j := range 4 {
			dst[j*ds+p] = src[p*4+j]
		}
	}
}

func absMax(x []float64) (largest float64) {
	for _, v := range x {
		if v = math.Abs(v); v > largest {
			largest = v
		}
	}
	return largest
}

func indexAbs(x []float64, v float64) int {
	for i := range x {
		if math.Abs(x[i]) == v {
			return i
		}
	}
	return -1
}

func scal(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}

func axpy(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * v
	}
}

func exchange4(a []float64, lda int, pivots []int, first, rows, step int) {
	c0, c1, c2, c3 := a[:lda], a[lda:2*lda], a[2*lda:3*lda], a[3*lda:]
	for i := first; rows > 0; i, rows = i+step, rows-1 {
		if p := pivots[i]; p != i {
			c0[i], c0[p] = c0[p], c0[i]
			c1[i], c1[p] = c1[p], c1[i]
			c2[i], c2[p] = c2[p], c2[i]
			c3[i], c3[p] = c3[p], c3[i]
		}
	}
}

func gather8(a []float64, lda int, rows []int, w []float64, ldw int) {
	a0, a1, a2, a3 := a, a[lda:], a[2*lda:], a[3*lda:]
	a4, a5, a6, a7 := a[4*lda:], a[5*lda:], a[6*lda:], a[7*lda:]
	for i, row := range rows {
		line := (*[rowTile]float64)(w[i*ldw:])
		line[0], line[1], line[2], line[3] = a0[row], a1[row], a2[row], a3[row]
		line[4], line[5], line[6], line[7] = a4[row], a5[row], a6[row], a7[row]
	}
}

func scatter8(a []float64, lda int, rows []int, w []float64, ldw int) {
	a0, a1, a2, a3 := a, a[lda:], a[2*lda:], a[3*lda:]
	a4, a5, a6, a7 := a[4*lda:], a[5*lda:], a[6*lda:], a[7*lda:]
	for i, row := range rows {
		line := (*[rowTile]float64)(w[i*ldw:])
		a0[row], a1[row], a2[row], a3[row] = line[0], line[1], line[2], line[3]
		a4[row], a5[row], a6[row], a7[row] = line[4], line[5], line[6], line[7]
	}
}

func swap(x, y []float64) {
	y = y[:len(x)]
	for i := range x {
		x[i], y[i] = y[i], x[i]
	}
}

func ger4(x []float64, c0, c1, c2, c3 float64, a []float64, lda int) {
	for j, c := range [4]float64{c0, c1, c2, c3} {
		axpy(c, x, a[j*lda:])
	}
}

func gemvN4(c0, c1, c2, c3 float64, a []float64, lda int, y []float64) {
	a0, a1, a2, a3 := a[:len(y)], a[lda:][:len(y)], a[2*lda:][:len(y)], a[3*lda:][:len(y)]
	for i := range y {
		y[i] += c0*a0[i] + c1*a1[i] + c2*a2[i] + c3*a3[i]
	}
}

func gemvT4(a []float64, lda int, x, y []float64) {
	for j := range 4 {
		sum := 0.0
		for i, v := range a[j*lda:][:len(x)] {
			sum += v * x[i]
		}
		y[j] = sum
	}
}
