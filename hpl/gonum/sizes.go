package gonum

// sizes are the limits below which gonum's own methods are as fast, measured with bench/dense
// on two cores of an AMD EPYC (Zen 5), with the kernels for AVX-512 and for AVX2 (vector: on Zen 4); reflector,
// columns and parallel are estimates.
type sizes struct {
	product   int // Dgemm: multiplications
	triangle  int // Dtrsm, Dsymm, Dsyrk, Dsyr2k and solutions: the product of the three dimensions
	multiply  int // Dtrmm: the same
	vector    int // Dgemv, Dtrsv: elements of the matrix, a square
	order     int // Dgetrf: the smaller dimension
	square    int // Dpotrf: the order
	reflector int // Dgeqrf, Dormqr, Dorgqr: reflectors
	columns   int // Dormqr: columns, or rows, for which it pays to make blocks of reflectors
	// parallel is the multiplications that are worth threads on other cores, which take 0.2 ms to
	// start.
	parallel float64
}

var measured = sizes{product: 12 * 12 * 12, triangle: 24 * 24 * 24, multiply: 56 * 56 * 56, vector: 64 * 64, order: 72, square: 80, reflector: 160, columns: 32, parallel: 20e6}
