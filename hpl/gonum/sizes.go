package gonum

// sizes are the limits below which gonum's own methods are as fast: measured on AMD EPYC cores
// with the kernels for AVX-512 and for AVX2, from product to order on Zen 5 by bench/dense, the
// others and vector on Zen 4 by BenchmarkSizes and BenchmarkParallel.
type sizes struct {
	product   int // Dgemm: multiplications
	triangle  int // Dtrsm, Dsymm, Dsyrk, Dsyr2k and solutions: the product of the three dimensions
	multiply  int // Dtrmm: the same
	vector    int // Dgemv, Dtrsv: elements of the matrix, a square
	order     int // Dgetrf: the smaller dimension
	square    int // Dpotrf: the order
	inverse   int // Dgetri, Dpotri: the order
	reflector int // Dgeqrf: reflectors
	form      int // Dorgqr: reflectors
	apply     int // Dormqr: reflectors, if there are as many
	columns   int // columns or rows that they are applied to
	// parallel is the multiplications that are worth a thread on another core: it takes 0.2 to
	// 0.3 ms to start, and the call alone 1 to 1.3 ms.
	parallel float64
}

var measured = sizes{product: 12 * 12 * 12, triangle: 24 * 24 * 24, multiply: 56 * 56 * 56, vector: 64 * 64, order: 72, square: 88, inverse: 88, reflector: 160, form: 112, apply: 48, columns: 32, parallel: 25e6}
