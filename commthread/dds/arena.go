package dds

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// Arena is memory for messages that are read while they arrive. The program uses one view,
// whose pages can be armed; messages go through another view of the same bytes, which is
// never protected. Any goroutine may call the methods.
type Arena struct {
	app, comm []byte // whole pages
	unmap     func() error
	back      backend
	reason    string

	mu     sync.Mutex
	free   []span       // guarded by mu: by address, none adjacent
	used   map[int]span // guarded by mu: by first byte
	live   int          // guarded by mu: transfers in flight
	closed bool         // guarded by mu
}

// span is a range of bytes of an arena, in whole pages; an allocation ends at a byte of its
// last page.
type span struct{ from, to, end int }

// arenas lists the arenas of the process, for lookups by address.
var arenas struct {
	mu  sync.Mutex
	all atomic.Pointer[[]*Arena] // replaced under mu
}

// NewArena maps an arena of at least the given number of bytes, all resident at once. It
// chooses a back end, and starts a thread for uffd. Child processes forked by C code do not
// get the arena, or share it: see the package. Errors: no memory, or a forced back end that
// the machine refuses.
func NewArena(bytes int, opts ...Option) (*Arena, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if bytes <= 0 {
		return nil, fmt.Errorf("dds: arena of %d bytes: ask for at least one", bytes)
	}
	size := (bytes + pages.Size() - 1) / pages.Size() * pages.Size()
	a := &Arena{used: map[int]span{}, free: []span{{0, size, size}}}
	if a.app, a.comm, a.unmap, err = mapViews(size); err != nil {
		return nil, fmt.Errorf("dds: arena of %d bytes: %w: ask for less, or free memory", size, err)
	}
	if err := a.choose(&o); err != nil {
		return nil, joined(err, a.unmap())
	}
	arenas.mu.Lock()
	defer arenas.mu.Unlock()
	all := append(slices.Clone(everyArena()), a)
	arenas.all.Store(&all)
	return a, nil
}

func everyArena() []*Arena {
	if p := arenas.all.Load(); p != nil {
		return *p
	}
	return nil
}

// Close opens every page, ends the thread and unmaps the arena. Slices of it must not be
// used any more. Errors: transfers in flight; close their endpoints first. Further calls do
// nothing.
func (a *Arena) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	if a.live > 0 {
		return fmt.Errorf("dds: Close of an arena with %d transfers under way: wait for them, or close their endpoint, first", a.live)
	}
	a.closed = true
	arenas.mu.Lock()
	all := slices.DeleteFunc(slices.Clone(everyArena()), func(b *Arena) bool { return b == a })
	arenas.all.Store(&all)
	arenas.mu.Unlock()
	a.back.close()
	return a.unmap()
}

// Backend returns the name of the arena's back end, and the reason for its choice.
func (a *Arena) Backend() (name, reason string) { return a.back.name(), a.reason }

// Make returns n zeroed elements in pages of their own, which begin at a page. The element
// type must contain no pointers: the collector does not scan an arena, and must not fault
// there. Errors: pointers in T, no room.
func Make[T any](a *Arena, n int) ([]T, error) {
	t := reflect.TypeFor[T]()
	if hasPointers(t) {
		return nil, fmt.Errorf("dds: Make of %v: an arena holds no pointers, the collector would not see them", t)
	}
	if size := int(t.Size()); n < 0 || size > 0 && n > len(a.app)/size {
		return nil, fmt.Errorf("dds: Make of %d elements of %v: the arena has %d bytes", n, t, len(a.app))
	}
	if n == 0 || t.Size() == 0 {
		return make([]T, n), nil
	}
	s, err := a.allocate(n * int(t.Size()))
	if err != nil {
		return nil, err
	}
	clear(a.comm[s.from:s.to])
	return unsafe.Slice((*T)(unsafe.Pointer(&a.app[s.from])), n), nil
}

// Free frees x, a slice that Make returned. Errors: Make did not return x, or a transfer
// uses it.
func Free[T any](a *Arena, x []T) error {
	if len(x) == 0 {
		return nil
	}
	return a.release(unsafe.Pointer(unsafe.SliceData(x)))
}

// hasPointers reports whether values of t contain pointers.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface, reflect.Slice, reflect.String:
		return true
	}
	return false
}

// allocate allocates bytes in whole pages: first fit.
func (a *Arena) allocate(bytes int) (span, error) {
	n := (bytes + pages.Size() - 1) / pages.Size() * pages.Size()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return span{}, fmt.Errorf("dds: Make in a closed arena")
	}
	most := 0
	for i, f := range a.free {
		if f.to-f.from >= n {
			s := span{f.from, f.from + n, f.from + bytes}
			if a.free[i].from = s.to; s.to == f.to {
				a.free = slices.Delete(a.free, i, i+1)
			}
			a.used[s.from] = s
			return s, nil
		}
		most = max(most, f.to-f.from)
	}
	return span{}, fmt.Errorf("dds: Make of %d bytes: the largest free range of the arena has %d: make a larger arena", n, most)
}

// release frees the allocation at p.
func (a *Arena) release(p unsafe.Pointer) error {
	at, ok := a.offset(p, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	s, known := a.used[at]
	switch {
	case a.closed:
		return fmt.Errorf("dds: Free in a closed arena")
	case !ok || !known:
		return fmt.Errorf("dds: Free of memory that Make of this arena has not returned, or that is free already")
	case a.back.busy(s.from, s.to):
		return fmt.Errorf("dds: Free of memory that a transfer uses: wait for it first")
	}
	delete(a.used, at)
	i, _ := slices.BinarySearchFunc(a.free, s, func(f, s span) int { return f.from - s.from })
	a.free = slices.Insert(a.free, i, s)
	if i+1 < len(a.free) && a.free[i].to == a.free[i+1].from {
		a.free[i].to = a.free[i+1].to
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].to == a.free[i].from {
		a.free[i-1].to = a.free[i].to
		a.free = slices.Delete(a.free, i, i+1)
	}
	return nil
}

// gone reports whether the arena has been closed.
func (a *Arena) gone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// allocation returns the allocation that holds byte at.
func (a *Arena) allocation(at int) (span, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.used {
		if s.from <= at && at < s.to {
			return s, true
		}
	}
	return span{}, false
}

// offset returns the place of n bytes at p in the app view.
func (a *Arena) offset(p unsafe.Pointer, n int) (int, bool) { return within(a.app, p, n) }

func within(view []byte, p unsafe.Pointer, n int) (int, bool) {
	at := int(uintptr(p) - uintptr(unsafe.Pointer(unsafe.SliceData(view))))
	return at, at >= 0 && n >= 0 && at <= len(view)-n
}

// find returns the arena whose app view holds n bytes at p, nil if none does.
func find(p unsafe.Pointer, n int) (a *Arena, at int) {
	for _, a := range everyArena() {
		if at, ok := a.offset(p, n); ok {
			return a, at
		}
	}
	return nil, 0
}

// findComm is find for addresses of the comm view.
func findComm(p unsafe.Pointer, n int) (a *Arena, at int) {
	for _, a := range everyArena() {
		if at, ok := within(a.comm, p, n); ok {
			return a, at
		}
	}
	return nil, 0
}

// In returns the arena that holds x; nil if none does.
func In[T any](x []T) *Arena {
	a, _ := find(unsafe.Pointer(unsafe.SliceData(x)), len(x)*int(reflect.TypeFor[T]().Size()))
	return a
}

// CommView returns x at the addresses that messages use: the same bytes, whose pages are
// never armed. A slice outside all arenas is its own view.
func CommView[T any](x []T) []T {
	if len(x) == 0 {
		return x
	}
	p := unsafe.Pointer(unsafe.SliceData(x))
	a, at := find(p, len(x)*int(reflect.TypeFor[T]().Size()))
	if a == nil {
		return x
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&a.comm[at])), len(x))
}

// CommBuffer is [CommView] of a buffer, strided ones included.
func CommBuffer(b mpi.Buffer) mpi.Buffer { return mpi.Buffer(commBuffer(engine.Buffer(b))) }

func commBuffer(b engine.Buffer) engine.Buffer {
	if b.Bytes() == 0 {
		return b
	}
	a, at := find(b.Pointer(), 1)
	if a == nil {
		return b
	}
	return b.At(unsafe.Pointer(&a.comm[at]))
}
