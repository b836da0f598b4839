package codelet

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// maxRadix is the largest radix.
const maxRadix = 25

// Radices lists the lengths of butterflies, in ascending order.
func Radices() []int { return []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 25} }

// kernels are the kernels of one radix. There are rows without and with twiddle factors, for
// full vectors and for the rest of a run; rows whose stores bypass the cache; and the first
// pass along a pencil. If the radix is the number of lanes, there is also the transposition
// of a square. Radix 4 has multiplications without a butterfly: of four vectors with four
// vectors of factors, and of four rows with a factor each.
type kernels struct {
	rows, rowsTail, twist, twistTail, stream, turn, square, product, scale func(*arguments)
}

// Set is the kernels of one instruction set. Immutable.
type Set struct {
	name     string
	lanes    int
	table    [maxRadix + 1]kernels
	portable bool
	model    Model
}

// Name returns the name of the set, for [Named]: avx512, avx2 or portable; modelled for one of
// [Modelled].
func (s *Set) Name() string { return s.name }

// Lanes returns the number of complex numbers in a vector.
func (s *Set) Lanes() int { return s.lanes }

func (s *Set) String() string { return s.name }

func (s *Set) kernelsOf(radix int) *kernels {
	if radix < 0 || radix > maxRadix || s.table[radix].rows == nil {
		panic(fmt.Sprintf("codelet: no butterfly of radix %d; there are %v", radix, Radices()))
	}
	return &s.table[radix]
}

// sets is filled when the program starts, fastest first.
//go:generate go run ./_gen

var sets = append(native(), portableSet())

// Sets returns the sets that this machine can run, fastest first; portable is
// always there, and last.
func Sets() []*Set { return slices.Clone(sets) }

// Best returns the fastest set of this machine.
func Best() *Set { return sets[0] }

// Named returns the set with a name, or an error that lists the names.
func Named(name string) (*Set, error) {
	var names []string
	for _, s := range sets {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return nil, fmt.Errorf("codelet: no kernels %q on this machine; there are %s", name, strings.Join(names, ", "))
}

// constant is a number that butterflies multiply with; turned, it multiplies by
// the imaginary unit of the direction at the same time (with re and im exchanged).
type constant struct {
	value  float64
	turned bool
}

// constantTables are the constants as kernels see them, forward and inverse:
// 8 doubles each.
var constantTables = [2][]complex128{constantTable(1), constantTable(-1)}

func constantTable(sign float64) []complex128 {
	t := Aligned(4 * len(constantList))
	for i, c := range constantList {
		v := complex(c.value, c.value)
		if c.turned {
			v = complex(sign*c.value, -sign*c.value)
		}
		for j := range 4 {
			t[4*i+j] = v
		}
	}
	return t
}

func (s *Set) constants(inverse bool) unsafe.Pointer {
	if inverse {
		return unsafe.Pointer(unsafe.SliceData(constantTables[1]))
	}
	return unsafe.Pointer(unsafe.SliceData(constantTables[0]))
}

// Root returns exp(-2 pi i k / n), to within an ulp: the angle is reduced to
// an eighth of a turn in integers first. n is positive; k is any.
func Root(k, n int) complex128 {
	k = (k%n + n) % n
	switch {
	case 8*k <= n:
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		return complex(cos, -sin)
	case 4*k <= n: // mirror at the eighth
		sin, cos := math.Sincos(math.Pi / 2 * (float64(n-4*k) / float64(n)))
		return complex(sin, -cos)
	case 2*k <= n: // a quarter more
		w := Root(4*k-n, 4*n)
		return complex(imag(w), -real(w))
	}
	w := Root(2*k-n, 2*n) // half a turn more
	return -w
}
