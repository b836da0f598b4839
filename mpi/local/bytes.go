package local

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/reserved"
)

// Messages with strided reserved memory carry nothing. Copying a message takes its time once: of an eager one over a
// network, half is its sender's, and half its receiver's.

// pack copies the elements of b to p. Both have the same length in bytes. The bytes that
// reserved memory does not carry are 0.
func pack(p []byte, b engine.Buffer) {
	if len(p) == 0 {
		return
	}
	if reserved.Owns(b.Pointer()) {
		osthread.ChargeCopy(len(p) / 2)
		n := 0
		if b.Contiguous() {
			n = copy(p, b.Memory()[:reserved.Carried(b.Pointer(), len(p))])
		}
		clear(p[n:])
		return
	}
	if b.Contiguous() {
		copy(p, b.Memory())
		return
	}
	engine.CopyPart(engine.Raw(unsafe.Pointer(&p[0]), len(p), b), b, 0, len(p))
}

// unpack copies p to the beginning of b, as many bytes as fit.
func unpack(b engine.Buffer, p []byte) {
	n := min(len(p), b.Bytes())
	if n == 0 {
		return
	}
	if reserved.Owns(b.Pointer()) {
		osthread.ChargeCopy(n / 2)
		if b.Contiguous() {
			copy(b.Memory(), p[:reserved.Carried(b.Pointer(), n)])
		}
		return
	}
	if b.Contiguous() {
		copy(b.Memory(), p[:n])
		return
	}
	engine.CopyPart(b, engine.Raw(unsafe.Pointer(&p[0]), len(p), b), 0, n)
}

// move copies the bytes [at, at+n) of the packed form of src to the same offset of dst, in the caller's time.
func move(dst, src engine.Buffer, at, n int) {
	if n > 0 && modelled(dst, src) {
		osthread.ChargeCopy(n)
	}
	carry(dst, src, at, n)
}

// modelled reports whether a copy takes the time of a model.
func modelled(dst, src engine.Buffer) bool {
	return reserved.Owns(dst.Pointer()) || reserved.Owns(src.Pointer())
}

// carry is move in no time of a simulated machine.
func carry(dst, src engine.Buffer, at, n int) {
	if n == 0 {
		return
	}
	if modelled(dst, src) {
		if !dst.Contiguous() || !src.Contiguous() {
			return
		}
		n = min(reserved.Carried(dst.Pointer(), at+n), reserved.Carried(src.Pointer(), at+n)) - at
	}
	switch {
	case n <= 0:
	case dst.Contiguous() && src.Contiguous():
		copy(unsafe.Slice((*byte)(unsafe.Add(dst.Pointer(), at)), n), unsafe.Slice((*byte)(unsafe.Add(src.Pointer(), at)), n))
	default:
		engine.CopyPart(dst, src, at, n)
	}
}

// copyAll copies the elements of src to dst, as many as fit.
func copyAll(dst, src engine.Buffer) { move(dst, src, 0, min(dst.Bytes(), src.Bytes())) }

// packet is the copy of an eager message that had no receive yet. Senders take packets and
// receivers return them; sync.Pool evens out the two.
type packet struct {
	data  []byte
	class int
}

const packetClasses = 40

var packets [packetClasses]sync.Pool // by the logarithm of the size

func newPacket(n int) *packet {
	class := bits.Len(uint(max(n, 256) - 1))
	p, _ := packets[class].Get().(*packet)
	if p == nil {
		p = &packet{data: make([]byte, 1<<class), class: class}
	}
	p.data = p.data[:n]
	return p
}

func (p *packet) free() { packets[p.class].Put(p) }
