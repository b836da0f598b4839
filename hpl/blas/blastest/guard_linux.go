package blastest

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// guarded is memory between canaries in front and a page behind that cannot be touched.
type guarded struct {
	mapping []byte
	before  []float64
	x       []float64
}

// pool keeps mappings of one length, a data page area and a guard page, for reuse.
// The suite may run in parallel, so it is a channel.
var pool = make(chan []byte, 64)

const (
	pooled   = 1 << 17 // bytes of data in a pooled mapping
	canaries = 16
)

// newGuarded returns memory for n elements.
func newGuarded(n int) *guarded {
	page := os.Getpagesize()
	need := (8*(n+canaries) + page - 1) / page * page
	g := &guarded{mapping: mapGuarded(max(need, pooled), page)}
	data := g.mapping[:len(g.mapping)-page]
	all := unsafe.Slice((*float64)(unsafe.Pointer(&data[0])), len(data)/8)
	g.x = all[len(all)-n:]
	g.before = all[len(all)-n-canaries : len(all)-n]
	for i := range g.before {
		g.before[i] = gap
	}
	return g
}

func mapGuarded(data, page int) []byte {
	if data == pooled {
		select {
		case m := <-pool:
			return m
		default:
		}
	}
	m, err := syscall.Mmap(-1, 0, data+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err == nil {
		err = syscall.Mprotect(m[data:], syscall.PROT_NONE)
	}
	if err != nil {
		panic(fmt.Sprintf("blastest: map %d bytes: %v", data+page, err))
	}
	return m
}

func (g *guarded) free() {
	page := os.Getpagesize()
	if len(g.mapping) == pooled+page {
		select {
		case pool <- g.mapping:
			return
		default:
		}
	}
	if err := syscall.Munmap(g.mapping); err != nil {
		panic(fmt.Sprintf("blastest: unmap: %v", err))
	}
}
