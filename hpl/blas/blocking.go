package blas

// blocking is the sizes of the blocks of a product, one choice per table. Loops over blocks
// update C, so that each operand of the innermost loops stays in one cache. The method is by
// Goto and van de Geijn (Anatomy of high-performance matrix multiplication, 2008), the names
// are from BLIS (Van Zee and van de Geijn 2015).
//
//	a strip of B, KC x nr     the L1 cache: while all strips of the block of A pass by
//	a block of A, MC x KC     the L2 cache: while all strips of the block of B pass by
//	a block of B, KC x NC     the L3 cache: while all blocks of A pass by
//
// The sizes are made for 48 KiB, 1 MiB and a share of 32 MiB. They do not depend on the
// caches of the machine: KC decides the order of summation, and so the rounding, which
// would then differ between machines with the same table.
type blocking struct {
	kc   int // at most; an inner dimension that is larger is divided evenly
	mckc int // elements of a block of A: MC is mckc/KC rows, in whole strips
	nc   int
}

// mc returns the rows of a block of A whose inner dimension is kc.
func (t *primitives) mc(kc int) int { return max(t.block.mckc/kc/t.mr*t.mr, t.mr) }

// blocks is the choice of all three tables. With AVX-512 a strip of B, 384 x 8, takes half
// of the L1 cache; the other half is for strips of A and for C. With AVX2 and in Go the strip
// is 384 x 4, a quarter, because KC is at most maxDepth. A block of A is 288 KiB: it shares
// the L2 cache with the strips of B and C that pass by.
var blocks = blocking{kc: maxDepth, mckc: 192 * 192, nc: 2016}

// The largest blocks of any table: work buffers have room for them.
const (
	mostA = 192*192 + maxDepth*24 // elements of a block of A of at least one strip: 360 KiB
	mostB = maxDepth * (2 * 1024) // elements of a block of B: 6 MiB, rarely touched in full
	// The largest tile, mr x nr.
	mostRows, mostColumns = 24, 8
)

// directColumns is the width of B up to which whole strips of A are read in place: packing
// them would take as long as multiplying.
const directColumns = 64
