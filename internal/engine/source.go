package engine

import "sync/atomic"

// Source returns memory for mpi.Alloc, and a function that frees it: at least the given
// number of zeroed bytes, starting at a page. It returns nil to decline.
type Source func(bytes int) (b []byte, free func() error)

var source atomic.Pointer[Source]

// AllocFrom has mpi.Alloc take memory from s, unless s declines, until restore is called. It
// is for tools that watch the memory of messages. The last call counts. Any goroutine.
func AllocFrom(s Source) (restore func()) {
	before := source.Swap(&s)
	return func() { source.Store(before) }
}

// FromSource calls the current source; nil without one.
func FromSource(bytes int) (b []byte, free func() error) {
	if s := source.Load(); s != nil {
		return (*s)(bytes)
	}
	return nil, nil
}
