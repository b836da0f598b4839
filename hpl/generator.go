package hpl

// step is a number of steps of netlib's generator at once: state x becomes mul*x + add,
// modulo 2^64.
type step struct{ mul, add uint64 }

// one is a single step: the multiplier of MMIX (Knuth), the increment 1.
var one = step{6364136223846793005, 1}

// then returns the steps of s followed by the steps of t.
func (s step) then(t step) step {
	return step{t.mul * s.mul, t.mul*s.add + t.add}
}

// from returns the state s steps after x.
func (s step) from(x uint64) uint64 { return s.mul*x + s.add }

// steps returns n steps at once, by squaring: at most 64 compositions twice.
func steps(n uint64) step {
	all, power := step{1, 0}, one
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			all = all.then(power)
		}
		power = power.then(power)
	}
	return all
}

// value returns the number of state x, in [-0.5, 0.5].
func value(x uint64) float64 { return 0.5 - float64(x)*0x1p-64 }

// generator makes the entries of an n x (n+1) matrix whose last column is the right side:
// element (i, j) is the value of state 1+i+j*n after the seed, as in netlib's HPL_dmatgen,
// bit for bit. It has no changing state: any number of goroutines may make tiles at the
// same time.
type generator struct {
	seed   uint64
	n      int
	column step // from an element to its right neighbour
}

func newGenerator(n int, seed uint64) generator {
	return generator{seed: seed, n: n, column: steps(uint64(n))}
}

// tile stores rows i to i+m and columns j to j+w of the matrix to a, column-major with
// leading dimension ld.
func (g generator) tile(i, j, m, w int, a []float64, ld int) {
	top := steps(1 + uint64(i) + uint64(j)*uint64(g.n)).from(g.seed)
	for c := range w {
		x := top
		column := a[c*ld:][:m]
		for r := range column {
			column[r] = value(x)
			x = x*one.mul + one.add
		}
		top = g.column.from(top)
	}
}
