package advise

import "github.com/weft-hpc/weft/internal/engine"

// cells is the memory of a buffer: blocks of size bytes from base on, a stride apart.
type cells struct {
	base                 uintptr
	blocks, size, stride int
}

func cellsOf(b engine.Buffer) cells {
	blocks, block, stride := b.Layout()
	c := cells{base: uintptr(b.Pointer()), blocks: blocks, size: block * b.ElemSize(), stride: stride * b.ElemSize()}
	if b.Bytes() == 0 || b.IsInPlace() {
		return cells{}
	}
	if c.blocks == 1 {
		c.stride = c.size
	}
	return c
}

func (c cells) empty() bool { return c.blocks == 0 || c.size == 0 }

// end returns the first byte behind the last block.
func (c cells) end() uintptr { return c.base + uintptr((c.blocks-1)*c.stride+c.size) }

// overlap reports whether two buffers share a byte. Buffers whose ranges meet are
// compared block by block, in time proportional to the blocks of the one with fewer.
func (c cells) overlap(d cells) bool {
	if c.empty() || d.empty() || c.base >= d.end() || d.base >= c.end() {
		return false
	}
	if c.blocks > d.blocks {
		c, d = d, c
	}
	for i := range c.blocks {
		from := c.base + uintptr(i*c.stride)
		if d.meets(from, from+uintptr(c.size)) {
			return true
		}
	}
	return false
}

// meets reports whether a block of c has a byte in [from, to).
func (c cells) meets(from, to uintptr) bool {
	if from >= c.end() || to <= c.base {
		return false
	}
	// Block i is [base+i*stride, +size): the first block that ends behind from decides.
	i := 0
	if from >= c.base+uintptr(c.size) {
		i = int(from-c.base-uintptr(c.size))/max(c.stride, 1) + 1
	}
	return i < c.blocks && c.base+uintptr(i*c.stride) < to
}
