package engine

// Cells is the memory of a buffer: blocks of size bytes from base on, a stride apart.
type Cells struct {
	base                 uintptr
	blocks, size, stride int
}

// CellsOf returns the memory of b.
func CellsOf(b Buffer) Cells {
	blocks, block, stride := b.Layout()
	c := Cells{base: uintptr(b.Pointer()), blocks: blocks, size: block * b.ElemSize(), stride: stride * b.ElemSize()}
	if b.Bytes() == 0 || b.IsInPlace() {
		return Cells{}
	}
	if c.blocks == 1 {
		c.stride = c.size
	}
	return c
}

func (c Cells) empty() bool { return c.blocks == 0 || c.size == 0 }

// end returns the first byte behind the last block.
func (c Cells) end() uintptr { return c.base + uintptr((c.blocks-1)*c.stride+c.size) }

// Overlap reports whether two buffers share a byte. Buffers whose ranges meet are
// compared block by block, in time proportional to the blocks of the one with fewer.
func (c Cells) Overlap(d Cells) bool {
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
func (c Cells) meets(from, to uintptr) bool {
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
