package tasks

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/internal/task"
)

// Reduction returns an access for parameters of type []T or *T that accumulate: each task
// gets a private copy filled with neutral, and the copies are combined into the region with
// combine(dst, src), one by one in the order of submission, before the next task with
// another access to the region, and in Wait. The result is therefore the same in every
// schedule, also for floating point.
//
// Accesses made by one call of Reduction form a group; accesses of another call wait for
// the combined result.
func Reduction[T any](neutral T, combine func(dst, src []T)) Access {
	if combine == nil {
		panic("tasks: Reduction: combine is nil")
	}
	op := &reduction[T]{neutral: neutral, combine: combine}
	op.parts.New = func() any { return &part[T]{op: op} }
	return spec{mode: reductionMode, op: op}
}

// reducer is a reduction without its type.
type reducer interface {
	fits(t reflect.Type) bool
	newPart(arg unsafe.Pointer, pointer bool) task.Part
	elem() reflect.Type
}

type reduction[T any] struct {
	neutral T
	combine func(dst, src []T)
	parts   sync.Pool
}

func (op *reduction[T]) elem() reflect.Type { return reflect.TypeFor[T]() }

func (op *reduction[T]) fits(t reflect.Type) bool {
	return t == reflect.TypeFor[[]T]() || t == reflect.TypeFor[*T]()
}

// newPart makes the private copy of the task whose argument is at arg.
func (op *reduction[T]) newPart(arg unsafe.Pointer, pointer bool) task.Part {
	p := op.parts.Get().(*part[T])
	if pointer {
		p.ptr = (**T)(arg)
		p.dst = unsafe.Slice(*p.ptr, 1)
	} else {
		p.slice = (*[]T)(arg)
		p.dst = *p.slice
	}
	return p
}

// part is one private copy. The spawn makes it and the start of the task fills it, so tasks
// that wait hold no copy.
type part[T any] struct {
	op    *reduction[T]
	dst   []T
	priv  []T
	slice *[]T // the argument, one of the two
	ptr   **T
}

// privatizer is the interface of a task.Part for package tasks.
type privatizer interface{ privatize() }

// privatize replaces the argument by the private copy.
func (p *part[T]) privatize() {
	if cap(p.priv) < len(p.dst) {
		p.priv = make([]T, len(p.dst))
	}
	p.priv = p.priv[:len(p.dst)]
	for i := range p.priv {
		p.priv[i] = p.op.neutral
	}
	if p.ptr != nil {
		*p.ptr = &p.priv[0]
	} else {
		*p.slice = p.priv
	}
}

// Merge combines the copy into the region.
func (p *part[T]) Merge() { p.op.combine(p.dst, p.priv) }

// Discard returns the part and its storage for reuse by another task.
func (p *part[T]) Discard() {
	p.dst, p.slice, p.ptr = nil, nil, nil
	p.op.parts.Put(p)
}
