package local

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/mpi"
)

// pack copies the elements of b to p. Both have the same length in bytes.
func pack(p []byte, b mpi.Buffer) {
	if len(p) == 0 {
		return
	}
	if b.Contiguous() {
		copy(p, b.Memory())
		return
	}
	mpi.CopyPart(mpi.Raw(unsafe.Pointer(&p[0]), len(p), b), b, 0, len(p))
}

// unpack copies p to the beginning of b, as many bytes as fit.
func unpack(b mpi.Buffer, p []byte) {
	n := min(len(p), b.Bytes())
	if n == 0 {
		return
	}
	if b.Contiguous() {
		copy(b.Memory(), p[:n])
		return
	}
	mpi.CopyPart(b, mpi.Raw(unsafe.Pointer(&p[0]), len(p), b), 0, n)
}

// move copies the bytes [at, at+n) of the packed form of src to the same offset of dst.
func move(dst, src mpi.Buffer, at, n int) {
	if n == 0 {
		return
	}
	if dst.Contiguous() && src.Contiguous() {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst.Pointer(), at)), n), unsafe.Slice((*byte)(unsafe.Add(src.Pointer(), at)), n))
		return
	}
	mpi.CopyPart(dst, src, at, n)
}

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
