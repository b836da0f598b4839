package schedule

import (
	"math/bits"

	"github.com/weft-hpc/weft/internal/invariant"
)

// roomPool keeps temporary buffers for the next collective, by size: powers of two,
// so that the memory is aligned for every kind.
type roomPool struct {
	free [bits.UintSize][][]byte
	kept int // bytes in free
}

const (
	smallRoom = 64       // bytes of the smallest room
	keepRooms = 32 << 20 // bytes that are kept for later: more is left to the collector
)

// get returns n bytes, which hold anything.
func (p *roomPool) get(n int) []byte {
	class := bits.Len(uint(max(n, smallRoom) - 1))
	if list := p.free[class]; len(list) > 0 {
		b := list[len(list)-1]
		p.free[class] = list[:len(list)-1]
		p.kept -= len(b)
		return b
	}
	return make([]byte, 1<<class)
}

// put takes rooms back.
func (p *roomPool) put(rooms [][]byte) {
	for _, b := range rooms {
		if invariant.Enabled {
			for i := range b {
				b[i] = 0xa5
			}
		}
		if p.kept+len(b) <= keepRooms {
			p.kept += len(b)
			class := bits.Len(uint(len(b) - 1))
			p.free[class] = append(p.free[class], b)
		}
	}
}
