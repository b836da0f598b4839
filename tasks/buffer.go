package tasks

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// Buffer is storage for n elements that the runtime may rename, as in SMPSs: a task that
// overwrites it (Output) while earlier tasks still read the old content gets a fresh copy
// and need not wait for them. Inside a body, Slice of the parameter is the version of that
// task. After Runtime.Wait, or WaitOn of the buffer, Slice of the buffer itself is the last
// version; a slice obtained earlier may be an older one.
//
// A Buffer belongs to the goroutine that spawns the tasks that use it. Fresh copies live
// until the next Wait and count against the byte budget of the runtime (Option
// RenameBudget); when the budget is used up, the write waits. A task that passes its Buffer
// parameter on to children passes its version, which is not renamed again.
//
// If a task that overwrites a buffer fails or is skipped, later tasks that read it are
// skipped, and one that overwrites it again gets a fresh copy. After the next Wait the
// buffer holds the result of the last task that succeeded; elements that a failed task has
// written may have either value.
type Buffer[T any] struct {
	data   []T
	of     *Buffer[T]   // version: its buffer; nil for the buffer itself
	cur    *Buffer[T]   // buffer: the newest version
	old    queue[T]     // buffer: the other versions
	copies int64        // buffer: number of the other versions
	order  uint64       // version: place of its content in the order of spawns; buffer: the last place given
	before uint64       // version: the same of the content being overwritten
	writer uint64       // version: the task that got it as a fresh copy
	domain *task.Domain // buffer: domain that knows the versions
	use    uint64       // buffer: number of this use of the domain
	seen   uint64       // buffer: the last task whose parameters were counted
	shared uint64       // buffer: the last task with this buffer as several parameters
	tries  int          // buffer: versions tried, for tests
	next   *Buffer[T]   // version: in a queue
}

// queue holds the old versions of a buffer; the version that has been old for the longest
// is first.
type queue[T any] struct{ first, last *Buffer[T] }

func (q *queue[T]) put(v *Buffer[T]) {
	if v.next = nil; q.first == nil {
		q.first = v
	} else {
		q.last.next = v
	}
	q.last = v
}

func (q *queue[T]) take() *Buffer[T] {
	v := q.first
	q.first = v.next
	return v
}

// NewBuffer returns a buffer of n elements, all zero.
func NewBuffer[T any](n int) *Buffer[T] {
	if n < 0 {
		panic(fmt.Sprintf("tasks: NewBuffer(%d): negative length", n))
	}
	b := &Buffer[T]{order: 1}
	b.cur = &Buffer[T]{data: make([]T, n), of: b, order: 1}
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

// renamer is the part of a *Buffer[T] that a spawn uses.
type renamer interface {
	version(r *task.Record, m deps.Mode) (unsafe.Pointer, deps.Region, error)
	count(r *task.Record)
	undo(r *task.Record)
	isNil() bool
}

func (b *Buffer[T]) isNil() bool { return b == nil }

// count notes that r has b as a parameter. A buffer that is two parameters of r is one
// memory for r, and not renamed.
func (b *Buffer[T]) count(r *task.Record) {
	if b.of != nil {
		return
	}
	if b.seen == r.Seq() {
		b.shared = b.seen
	}
	b.seen = r.Seq()
}

// version returns the version for r, which is being submitted, and its region.
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
		b.rename(d, r)
	}
	return unsafe.Pointer(b.cur), deps.Slice(b.cur.data), nil
}

// rename gives r an idle version, if the budget allows, and makes it the newest.
func (b *Buffer[T]) rename(d *task.Domain, r *task.Record) {
	v := b.idle(d)
	if v == nil {
		if !d.Budget.Take(b.bytes()) {
			return
		}
		if b.copies++; b.copies == 1 {
			d.Renamed(b.trim)
		}
		v = &Buffer[T]{data: make([]T, len(b.cur.data)), of: b}
	}
	b.order++
	v.order, v.before, v.writer = b.order, v.order, r.Seq()
	b.old.put(b.cur)
	b.cur = v
}

// maxTries bounds the versions that one spawn tries.
const maxTries = 4

// idle removes an idle version from the queue, or returns nil. Versions become idle roughly
// in the order in which they were the newest. A busy version before an idle one moves to
// the end of the queue; so does the first one if all are busy, or a few that stay busy
// would hide the others.
func (b *Buffer[T]) idle(d *task.Domain) *Buffer[T] {
	v := b.old.first
	for n := 0; v != nil && n < maxTries; n++ {
		if b.tries++; !d.Tracker.Busy(deps.Slice(v.data)) {
			for b.old.first != v {
				b.old.put(b.old.take())
			}
			return b.old.take()
		}
		v = v.next
	}
	if b.old.first != nil {
		b.old.put(b.old.take())
	}
	return nil
}

// undo notes that r, which got v, has failed or was skipped: v then counts as its old
// content. The goroutine that ends r calls it, before anything that waits for r.
func (v *Buffer[T]) undo(r *task.Record) {
	if v.writer == r.Seq() {
		v.order = v.before
	}
}

func (b *Buffer[T]) bytes() int64 {
	var t T
	return int64(len(b.cur.data)) * int64(unsafe.Sizeof(t))
}

// trim drops all versions but the last one whose task succeeded.
func (b *Buffer[T]) trim() {
	for b.old.first != nil {
		if v := b.old.take(); v.order > b.cur.order {
			b.cur = v
		}
	}
	b.old, b.cur.next = queue[T]{}, nil
	b.domain.Budget.Give(b.copies * b.bytes())
	b.copies = 0
}
