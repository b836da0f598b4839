package osthread_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/osthread"
)

//go:noinline
func pathOf(pcs []uintptr) int { return osthread.Returns(pcs) }

//go:noinline
func inner(pcs []uintptr) int { return pathOf(pcs) + 0*len(pcs) }

// The same path of calls gives the same addresses, and another one others, at any depth.
func TestReturns(t *testing.T) {
	var here, again, other [6]uintptr
	for _, pcs := range [][]uintptr{here[:], again[:]} {
		assert.Positive(t, inner(pcs))
	}
	inner(other[:])
	assert.Equal(t, here, again)
	assert.NotEqual(t, here, other)

	whole := make([]uintptr, 64) // more than there are: the walk ends at the goroutine's first function
	n := 0
	over := make(chan struct{})
	go func() { defer close(over); n = inner(whole) }()
	<-over
	assert.Positive(t, n)
	assert.Less(t, n, 10)
	assert.Zero(t, osthread.Returns(nil))
}

func BenchmarkReturns(b *testing.B) {
	var pcs [12]uintptr
	for b.Loop() {
		osthread.Returns(pcs[:])
	}
}
