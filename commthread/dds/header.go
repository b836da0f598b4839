package dds

import (
	"encoding/binary"
	"fmt"
	"math"
)

// header is the beginning of the message that announces a transfer. The first and last
// bytes of the message follow it: they include every page that is not wholly inside the
// message, for any alignment of the receiver's buffer.
type header struct {
	size  int
	tag   int // of the strips
	cut   cut
	order Direction
	edge  int
}

const (
	headerBytes = 64
	headerMagic = 0x77656674 // "weft"
)

// ends returns the number of first bytes and last bytes of the message that follow the
// header.
func (h *header) ends() (head, tail int) {
	if h.size <= 2*h.edge {
		return h.size, 0
	}
	return h.edge, h.edge
}

func (h *header) put(b []byte) {
	le := binary.LittleEndian
	clear(b[:headerBytes])
	le.PutUint32(b, headerMagic)
	le.PutUint32(b[4:], uint32(h.edge))
	le.PutUint64(b[8:], uint64(h.size))
	le.PutUint64(b[16:], uint64(h.tag))
	le.PutUint64(b[24:], uint64(h.cut.Count))
	le.PutUint64(b[32:], math.Float64bits(h.cut.Grow))
	b[40] = byte(h.order)
}

func (h *header) get(b []byte) error {
	le := binary.LittleEndian
	if len(b) < headerBytes || le.Uint32(b) != headerMagic {
		return fmt.Errorf("%d bytes that are no header of a lazy message: both sides use the methods of an endpoint", len(b))
	}
	*h = header{edge: int(le.Uint32(b[4:])), size: int(le.Uint64(b[8:])), tag: int(le.Uint64(b[16:])),
		cut: cut{Count: int(le.Uint64(b[24:])), Grow: math.Float64frombits(le.Uint64(b[32:]))}, order: Direction(b[40])}
	if head, tail := h.ends(); h.size < 0 || h.edge <= 0 || len(b) != headerBytes+head+tail {
		return fmt.Errorf("a header of %d bytes for a message of %d: the endpoints were opened with different versions", len(b), h.size)
	}
	return nil
}

// cuts returns the boundaries of the strips, in bytes of the message; nil if all of it
// travels with the header.
func (h *header) cuts() []int {
	if h.size <= 2*h.edge {
		return nil
	}
	b := h.cut.bounds(h.size-2*h.edge, max(cutUnit, h.edge))
	for i := range b {
		b[i] += h.edge
	}
	return b
}
