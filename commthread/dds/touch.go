package dds

import (
	"reflect"
	"unsafe"
)

// Touch waits until all elements of x have arrived: in Go that a collection can interrupt,
// one load per armed page. Call it before copy, assembly or a system call reads x. It costs
// a few ns if no transfer is in flight in the arena.
func Touch[T any](x []T) {
	if len(x) > 0 {
		p, n := unsafe.Pointer(unsafe.SliceData(x)), len(x)*int(reflect.TypeFor[T]().Size())
		if a, at := find(p, n); a != nil {
			a.back.touch(a, at, n)
		}
	}
}

// load reads one byte: a compiled load, which the collector can interrupt.
//
//go:noinline
func load(p *byte) byte { return *p }
