package tasks

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A body whose results depend on the old content of its outputs reads them before it writes
// them. To detect this for integers, and for comparisons, verify mode runs the body a
// second time, from the same inputs, with other marks. This is safe only for a body that
// just computes: one that takes no Context, captures no variable, and gets only numbers and
// memory of numbers (contained).

// captures reports whether body, the address of a variable of a function type, may refer to
// captured variables: then it points to an object on the heap, far from its code.
func captures(body unsafe.Pointer) bool {
	const far = 1 << 30
	closure := *(*unsafe.Pointer)(body)
	if closure == nil || unsafe.Sizeof(uintptr(0)) < 8 {
		return true
	}
	code := *(*uintptr)(closure)
	distance := int64(uintptr(closure)) - int64(code)
	return distance >= far || distance <= -far
}

// inert reports whether values of type t hold only numbers and text.
func inert(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Slice, reflect.Array:
		return inert(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !inert(t.Field(i).Type) {
				return false
			}
		}
		return !synchronizes(t)
	case reflect.Complex64, reflect.Complex128:
		return true
	}
	_, ok := leafKinds[t.Kind()]
	return ok
}

// outcome is the result of a run: the values of every output and update, in order, and for
// outputs, which of them are still marks.
type outcome struct {
	values []uint64
	left   []bool
}

func (o outcome) same(p outcome) bool {
	for i := range o.values {
		if o.values[i] != p.values[i] && !(o.left[i] && p.left[i]) {
			return false
		}
	}
	return true
}

func (v *verifier) outcome() (o outcome) {
	v.each(roleOut, func(w *view) {
		w.leaves(func(p unsafe.Pointer, l *leaf, i uint64) {
			o.values = append(o.values, load(p, l.size))
			o.left = append(o.left, l.is(p, l.bits(w.seed, i, w.other)))
		})
	})
	v.each(roleUpdate, func(w *view) {
		o.values = append(o.values, w.values()...)
	})
	o.left = append(o.left, make([]bool, len(o.values)-len(o.left))...)
	return o
}

// rerun runs the body again from its start, with the other marks in the outputs that other
// selects.
func (v *verifier) rerun(body func() error, other func(*view) bool) outcome {
	v.each(roleUpdate, (*view).restore)
	v.each(roleOut, func(w *view) {
		w.restore()
		w.mark(other(w))
	})
	_ = body() // without a Context it returns nil
	return v.outcome()
}

func all(*view) bool  { return true }
func none(*view) bool { return false }

// repeat runs the body a second time and compares. If there is a difference, it runs the
// body several more times, in an irregular order: if the difference does not come from the
// marks, equal marks will give different results.
func (v *verifier) repeat(body func() error) {
	outputs := false
	v.each(roleOut, func(*view) { outputs = true })
	if !outputs {
		return
	}
	first := v.outcome()
	second := v.rerun(body, all)
	if first.same(second) {
		v.unwritten(first, second)
		return
	}
	for _, other := range []bool{true, false, false, true, false, true, true, false} {
		which, want := none, first
		if other {
			which, want = all, second
		}
		if !v.rerun(body, which).same(want) {
			return
		}
	}
	v.blame(body, first)
}

// unwritten reports the outputs in which both runs have left a mark.
func (v *verifier) unwritten(first, second outcome) {
	at := 0
	v.each(roleOut, func(w *view) {
		t := tally{sure: true}
		w.leaves(func(unsafe.Pointer, *leaf, uint64) {
			if t.all++; first.left[at] && second.left[at] {
				t.left++
			}
			at++
		})
		if t.left > 0 {
			v.complain(w, t)
		}
	})
}

// blame reports the outputs whose old content changes the results.
func (v *verifier) blame(body func() error, first outcome) {
	v.each(roleOut, func(w *view) {
		if !v.rerun(body, func(u *view) bool { return u == w }).same(first) {
			v.errs = append(v.errs, fmt.Errorf("verify: %s is declared Output, and the results of the body depend on its old content (%v): declare it Inout", w.name, w.region))
		}
	})
}
