package tasks

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// Buffer is storage for n elements that the runtime may rename, as SMPSs did:
// a task that overwrites it (Output) while earlier tasks still read the old
// content gets a fresh copy and need not wait for them. Inside a body, Slice of
// the parameter is the version of that task. After Runtime.Wait, or WaitOn of
// the buffer, Slice of the buffer itself is the last version; a slice obtained
// before that may be an older one.
//
// A Buffer belongs to the goroutine that spawns the tasks that use it. Fresh
// copies live until the next Wait and count against the byte budget of the
// runtime (Option RenameBudget); when that is used up, the write waits.
// A task that passes its Buffer parameter on to children passes its own version,
// which is not renamed again.
type Buffer[T any] struct {
	data     []T
	of       *Buffer[T] // the buffer that this is a version of; nil for the buffer itself
	cur      *Buffer[T] // buffer: the newest version
	versions []*Buffer[T]
	domain   *task.Domain // where the versions are known
	use      uint64       // number of that use of the domain
	seen     uint64       // the last task that was looked through for this buffer
	shared   uint64       // the last task that has it as more than one parameter
}

// NewBuffer returns a buffer of n elements, all zero.
func NewBuffer[T any](n int) *Buffer[T] {
	if n < 0 {
		panic(fmt.Sprintf("tasks: NewBuffer(%d): negative length", n))
	}
	b := new(Buffer[T])
	b.cur = &Buffer[T]{data: make([]T, n), of: b}
	b.versions = []*Buffer[T]{b.cur}
	return b
}

// Slice returns the elements: of the task's version inside a body, of the newest
// version elsewhere.
func (b *Buffer[T]) Slice() []T {
	if b.of == nil {
		return b.cur.data
	}
	return b.data
}

// Len returns the number of elements.
func (b *Buffer[T]) Len() int { return len(b.Slice()) }

// Region returns the bytes of Slice.
func (b *Buffer[T]) Region() deps.Region { return deps.Slice(b.Slice()) }

// renamer is what the spawn of a task needs of a *Buffer[T].
type renamer interface {
	version(r *task.Record, m deps.Mode) (unsafe.Pointer, deps.Region, error)
	count(r *task.Record)
	isNil() bool
}

func (b *Buffer[T]) isNil() bool { return b == nil }

// count notes that r has b as a parameter. A buffer that r has twice is one memory
// for r, and not renamed.
func (b *Buffer[T]) count(r *task.Record) {
	if b.of != nil {
		return
	}
	if b.seen == r.Seq() {
		b.shared = b.seen
	}
	b.seen = r.Seq()
}

// version returns the version that r, which is submitted now, uses, and its region.
func (b *Buffer[T]) version(r *task.Record, m deps.Mode) (unsafe.Pointer, deps.Region, error) {
	if b.of != nil {
		return unsafe.Pointer(b), deps.Slice(b.data), nil
	}
	d := r.Domain
	if b.domain != d || b.use != d.Use() {
		if b.domain != nil && b.domain.InUse(b.use) {
			return nil, deps.Region{}, fmt.Errorf("a Buffer belongs to the tasks that one goroutine spawns; pass the parameter on to children")
		}
		b.domain, b.use = d, d.Use()
	}
	if m == deps.Out && d.Rename && b.shared != r.Seq() && d.Tracker.Busy(deps.Slice(b.cur.data)) {
		b.rename(d)
	}
	return unsafe.Pointer(b.cur), deps.Slice(b.cur.data), nil
}

// rename makes cur a version that nobody uses, if the budget allows.
func (b *Buffer[T]) rename(d *task.Domain) {
	for _, v := range b.versions {
		if v != b.cur && !d.Tracker.Busy(deps.Slice(v.data)) {
			b.cur = v
			return
		}
	}
	if !d.Budget.Take(b.bytes()) {
		return
	}
	if len(b.versions) == 1 {
		d.Renamed(b.trim)
	}
	b.cur = &Buffer[T]{data: make([]T, len(b.cur.data)), of: b}
	b.versions = append(b.versions, b.cur)
}

func (b *Buffer[T]) bytes() int64 {
	var t T
	return int64(len(b.cur.data)) * int64(unsafe.Sizeof(t))
}

// trim drops all versions but the newest.
func (b *Buffer[T]) trim() {
	b.domain.Budget.Give(int64(len(b.versions)-1) * b.bytes())
	clear(b.versions)
	b.versions = append(b.versions[:0], b.cur)
}
