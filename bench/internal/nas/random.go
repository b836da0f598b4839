package nas

// The benchmark's generator: x <- 5^13 x mod 2^46, value x / 2^46 (NPB 3.4, randlc and
// vranlc). 2^46 divides 2^64, so the products of uint64 are exact.
const (
	multiplier = 1220703125 // 5^13
	mask46     = 1<<46 - 1
	unit46     = 1.0 / (1 << 46)
)

// Random is the state of the generator. Its copies are independent.
type Random uint64

// Float64 returns the next number, between 0 and 1.
func (r *Random) Float64() float64 {
	*r = Random(uint64(*r) * multiplier & mask46)
	return float64(int64(*r)) * unit46
}

// Skip goes on by n numbers, in O(log n). n is at least 0.
func (r *Random) Skip(n int) { *r = Random(uint64(*r) * power(n) & mask46) }

// power returns 5^(13 n) mod 2^46.
func power(n int) uint64 {
	result, square := uint64(1), uint64(multiplier)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = result * square & mask46
		}
		square = square * square & mask46
	}
	return result
}

// lanes is the number of independent chains of the generator: number i comes from number
// i-lanes. In a single chain, every number would wait for the multiplication of the one
// before.
const lanes = 8

var lanePower = power(lanes)

// Fill writes initial values to dst, for the points first, first+1 ... of the grid, x
// fastest, then y, then z. A point takes two numbers, its real part first, so any part of
// the grid can be filled by itself, with the same bits.
//
// Any goroutine; 1.4 ns a point, and O(log first) to begin.
func (c Class) Fill(dst []complex128, first int) {
	r := Random(c.Seed)
	r.Skip(2 * first)
	r.fill(dst)
}

// fill writes the next 2 len(dst) numbers to dst.
func (r Random) fill(dst []complex128) {
	var s [lanes]uint64
	x := uint64(r)
	for i := range s {
		x = x * multiplier & mask46
		s[i] = x
	}
	for ; len(dst) >= lanes/2; dst = dst[lanes/2:] {
		four := dst[:lanes/2]
		four[0] = complex(float64(int64(s[0]))*unit46, float64(int64(s[1]))*unit46)
		four[1] = complex(float64(int64(s[2]))*unit46, float64(int64(s[3]))*unit46)
		four[2] = complex(float64(int64(s[4]))*unit46, float64(int64(s[5]))*unit46)
		four[3] = complex(float64(int64(s[6]))*unit46, float64(int64(s[7]))*unit46)
		s[0], s[1] = s[0]*lanePower&mask46, s[1]*lanePower&mask46
		s[2], s[3] = s[2]*lanePower&mask46, s[3]*lanePower&mask46
		s[4], s[5] = s[4]*lanePower&mask46, s[5]*lanePower&mask46
		s[6], s[7] = s[6]*lanePower&mask46, s[7]*lanePower&mask46
	}
	for i := range dst {
		dst[i] = complex(float64(int64(s[2*i]))*unit46, float64(int64(s[2*i+1]))*unit46)
	}
}

// initial makes initial values of rows, in any order: the state at the beginning of each
// is a product of two tabled powers and the seed. Immutable.
type initial struct {
	rows, planes []uint64 // by y and, with the seed, by z
}

func newInitial(c Class) *initial {
	in := &initial{make([]uint64, c.NY), make([]uint64, c.NZ)}
	row, plane := power(2*c.NX), power(2*c.NX*c.NY)
	powers(in.rows, 1, row)
	powers(in.planes, c.Seed&mask46, plane)
	return in
}

// powers writes first, first*factor, first*factor^2 ... to x.
func powers(x []uint64, first, factor uint64) {
	for i := range x {
		x[i] = first
		first = first * factor & mask46
	}
}

// row writes the values at points x, x+1 ... of row y in plane z.
func (in *initial) row(dst []complex128, x, y, z int) {
	r := Random(in.planes[z] * in.rows[y] & mask46)
	if x > 0 {
		r.Skip(2 * x)
	}
	r.fill(dst)
}
