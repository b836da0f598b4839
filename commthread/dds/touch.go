package dds

import (
	"reflect"
	"unsafe"
)

// Touch waits until all elements of x are there: in Go that a collection can interrupt,
// one load per armed page. Whoever reads with copy, in assembly or through a system
// call touches first. It costs a few ns if nothing is under way in the arena.
func Touch[T any](x []T) {
	if len(x) > 0 {
		p, n := unsafe.Pointer(unsafe.SliceData(x)), len(x)*int(reflect.TypeFor[T]().Size())
		if a, at := find(p, n); a != nil {
			a.back.touch(a, at, n)
		}
	}
}

// load reads one byte: a compiled load, at which the collector can interrupt.
//
//go:noinline
func load(p *byte) byte { return *p }
