package task

import (
	"runtime"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Caller returns the program counter of the function that calls it (skip = 0), of that
// function's caller (1) and so on, for runtime.CallersFrames; 0 if there are fewer. Any goroutine.
// The first call from a place takes a microsecond, the others some 30 ns, because
// return addresses, of which frame pointers lead to the next, are a key of the place.
//
//go:noinline
func Caller(skip int) uintptr {
	var p path
	if skip+1 > len(p.returns) {
		return walk(skip + 1)
	}
	p.skip = skip
	osthread.Returns(p.returns[:skip+1])
	if pc, ok := places.get(p); ok {
		return pc
	}
	pc := walk(skip + 1)
	places.put(p, pc)
	return pc
}

// path is what a call of Caller depends on: all functions between it and the one that it names,
// inlined ones, too, follow from these return addresses.
type path struct {
	skip    int
	returns [6]uintptr
}

var places cache[path, uintptr] // results of Caller

// walk is Caller by the tables of the Go runtime, where skip = 0 is Caller.
func walk(skip int) uintptr {
	var pc [1]uintptr
	runtime.Callers(skip+2, pc[:])
	return pc[0]
}
