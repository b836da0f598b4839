package schedule

import (
	"math/bits"

	"github.com/weft-hpc/weft/internal/invariant"
)

// bufferPool keeps temporary buffers for later collectives, by size. Sizes are powers of
// two, so that the memory is aligned for every kind.
type bufferPool struct {
	free [bits.UintSize][][]byte
	kept int // bytes in free
}

const (
	minBuffer = 64       // bytes of the smallest buffer
	maxKept   = 32 << 20 // bytes kept for later; the collector gets the rest
)

// get returns at least n bytes, not zeroed.
func (p *bufferPool) get(n int) []byte {
	class := bits.Len(uint(max(n, minBuffer) - 1))
	if list := p.free[class]; len(list) > 0 {
		b := list[len(list)-1]
		p.free[class] = list[:len(list)-1]
		p.kept -= len(b)
		return b
	}
	return make([]byte, 1<<class)
}

// put returns buffers to the pool.
func (p *bufferPool) put(bufs [][]byte) {
	for _, b := range bufs {
		if invariant.Enabled {
			for i := range b {
				b[i] = 0xa5
			}
		}
		if p.kept+len(b) <= maxKept {
			p.kept += len(b)
			class := bits.Len(uint(len(b) - 1))
			p.free[class] = append(p.free[class], b)
		}
	}
}
