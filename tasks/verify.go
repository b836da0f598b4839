package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// With the option dataflow.Verify the tasks run one by one, in the order of their spawns,
// and each body is compared with its declaration:
//
//	an Input              is the same afterwards
//	an Output             has been written everywhere when body, children and held events
//	                      have ended, and was not read before: it is filled with marks
//	                      before the body. A body that fails may leave its outputs.
//	a Weak access         the body itself does not write it, except after a wait for the
//	                      children that access it
//	a slice as Value      is not written (the first MiB of it)
//	an access of a child  is covered by its parent, where other tasks access that memory
//
// The dynamic form is checked, too, and so are types with a method Region if the memory
// belongs to a slice or variable that the argument refers to; of other memory (a bare
// deps.Region, say) only inputs are compared.
//
// Marks are NaN with a payload in floating-point numbers, so that a read shows in a result;
// noise in integers; and unique values in pointers, strings, slices, maps and interfaces,
// so a body that reads such an Output may panic. Locks, channels, functions and atomic
// variables get no marks. One integer that equals its mark is weak evidence, and an error
// needs 30 bits: one 64-bit number, or a run of small ones. A few small integers that are
// not written, and most ways to read an integer, show only if the body runs twice.
//
// A body runs a second time, with its inputs and updates restored and other marks, if that
// seems harmless: it was declared without a Context, captures no variable, and gets only
// numbers, text, and memory of numbers. A difference is an error if it follows the marks in
// eight more runs; so results that depend on chance, a clock or a counter are no error.
// Such a body prints, sends, or counts in a global variable twice: give it a Context if
// that matters.
//
// Not found: globals and captured variables, in any form; a read of more memory than
// declared, or of Weak memory; Commutative bodies that do not commute and Concurrent ones
// that do not synchronize; anything that depends on values that did not occur in the run.
//
// Cost per task: about the time to read its inputs twice, to copy, mark and read its
// outputs, some 30 ns a number, and to copy Weak and Value memory; a body that runs twice
// takes twice as long, and all of them run on one core. Debug and Verify keep the memory of
// all accesses until the next Wait.

// verifier checks that one run of a body keeps to its declaration, as described above.
//
// Before marks the outputs and saves the other memory that After compares; Run runs the
// body; After checks the memory when the body, its children and its events have ended.
type verifier struct {
	views   []view
	checked bool
	errs    []error // errors of the outputs
	again   bool    // the body may be run twice
	broken  bool    // another task writes while the body runs: roleLeave is not checked

	touchedBy []deps.Region // by children since the last wait for all of them
}

func newVerifier(d *declaration, r *task.Record) task.Verifier {
	v := &verifier{again: d.contained && r.Flags&task.Comm == 0, broken: !r.GatesOpen()}
	for i := range d.params {
		p := &d.params[i]
		v.add(p, task.ParamName(int(p.index)), unsafe.Add(unsafe.Pointer(r), p.offset))
	}
	for i := range d.values {
		p := &d.values[i]
		v.addValue(p, unsafe.Add(unsafe.Pointer(r), p.offset))
	}
	if c := r.PeekCold(); c != nil {
		for _, x := range c.Named {
			v.addNamed(x.(*named))
		}
	}
	for i := range v.views {
		v.views[i].seed = noise(r.Seq()<<8 + uint64(i))
	}
	v.share()
	return v
}

// share finds the views that overlap.
func (v *verifier) share() {
	slices.SortFunc(v.views, func(a, b view) int { return cmp.Compare(uintptr(a.base), uintptr(b.base)) })
	for i := range v.views {
		w := &v.views[i]
		n, length, stride := w.region.Columns()
		end := uintptr(w.base) + (n-1)*stride + length
		for k := i + 1; k < len(v.views) && uintptr(v.views[k].base) < end; k++ {
			w.share(&v.views[k])
			v.views[k].share(w)
		}
	}
}

// named is an access of the dynamic form.
type named struct {
	name string
	spec spec
	x    any
}

// note keeps x, an access of a clause, for the verifier.
func note(r *task.Record, s spec, x any) {
	c := r.Cold()
	what := "access"
	switch s.mode {
	case deps.In:
		what = "Input"
	case deps.Out:
		what = "Output"
	}
	c.Named = append(c.Named, &named{name: fmt.Sprintf("%s %d of the clauses", what, len(c.Named)+1), spec: s, x: x})
}

func (v *verifier) addNamed(n *named) {
	if region, ok := n.x.(deps.Region); ok {
		v.view(view{name: n.name, region: region}, n.spec)
		return
	}
	x := reflect.ValueOf(n.x)
	if !x.IsValid() {
		return
	}
	p, err := newParam(x.Type(), n.spec, -1, 0)
	if err == nil {
		arg := reflect.New(x.Type())
		arg.Elem().Set(x)
		v.add(&p, n.name, arg.UnsafePointer())
	}
}

// add adds a view of the memory of the argument at arg.
func (v *verifier) add(p *param, name string, arg unsafe.Pointer) {
	w := view{name: name}
	var elem reflect.Type
	switch p.kind {
	case kindEach:
		s := *(*[]byte)(arg)
		for i := range len(s) {
			v.add(p.elem, name, unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), uintptr(i)*p.size))
		}
		return
	case kindSlice:
		s := *(*[]byte)(arg)
		w.region = deps.Bytes(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*p.size)
		elem = p.typ.Elem()
	case kindPointer:
		w.region = deps.Bytes(*(*unsafe.Pointer)(arg), p.size)
		elem = p.typ.Elem()
	case kindTile:
		w.region, _ = p.lookup(nil, arg)
		elem = p.typ.Field(0).Type.Elem()
	case kindBuffer:
		if b := p.methods(arg).(renamer); !b.isNil() {
			w.region = b.(deps.Regioner).Region()
			elem = p.typ.Elem().Field(0).Type.Elem()
		}
	default:
		v.again = false
		if w.region, _ = p.lookup(nil, arg); !w.region.Empty() && !w.region.IsHandle() {
			const depth = 4
			elem = locate(reflect.NewAt(p.typ, arg).Elem(), w.region, depth)
		}
	}
	if elem != nil {
		w.layout = layoutOf(elem)
	}
	v.view(w, p.spec)
}

// maxValue bounds the checked bytes of a slice passed as Value: it may be a whole matrix.
const maxValue = 1 << 20

// addValue adds a slice passed as Value.
func (v *verifier) addValue(p *param, arg unsafe.Pointer) {
	s := *(*[]byte)(arg)
	elem := p.typ.Elem()
	w := view{name: task.ParamName(int(p.index)), value: true, role: roleLeave}
	w.region = deps.Bytes(unsafe.Pointer(unsafe.SliceData(s)), min(uintptr(len(s))*elem.Size(), maxValue))
	if w.base = addressOf(w.region); !w.region.Empty() {
		v.views = append(v.views, w)
	}
}

// view adds w with access s.
func (v *verifier) view(w view, s spec) {
	if w.region.Empty() || w.region.IsHandle() || s.op != nil && !s.weak { // a reduction gets a copy
		return
	}
	w.base = addressOf(w.region)
	switch {
	case s.weak && s.mode != deps.In && s.mode != deps.Out && s.mode != deps.Inout:
		w.role = roleUpdate // others may write it at the same time
	case s.weak:
		w.role = roleLeave
	case s.mode == deps.In:
		w.role = roleIn
	case s.mode == deps.Out:
		w.role = roleOut
	default:
		w.role = roleUpdate
	}
	v.again = v.again && !s.weak && (w.role == roleIn || w.layout != nil && w.layout.plain)
	if w.layout != nil || w.readable() {
		v.views = append(v.views, w)
	}
}

// each calls f for the views of one role.
func (v *verifier) each(r role, f func(w *view)) {
	for i := range v.views {
		if v.views[i].role == r {
			f(&v.views[i])
		}
	}
}

// Before saves the memory for After, and marks the outputs.
func (v *verifier) Before() {
	v.each(roleIn, func(w *view) { w.sum = w.checksum() })
	v.each(roleLeave, (*view).save)
	if v.again {
		v.each(roleUpdate, (*view).save)
	}
	v.each(roleOut, func(w *view) {
		if w.layout != nil {
			w.save()
			w.mark(false)
		}
	})
}

// Run runs the body, and again if its outputs may depend on their old content.
func (v *verifier) Run(body func() error) error {
	err := body()
	if err == nil && v.again && v.inputs() == nil {
		v.check()
		if len(v.errs) == 0 {
			v.repeat(body)
		}
	}
	return err
}

// After returns the violations of the declaration. If failed is true, the body has not done
// its work and outputs may be missing.
func (v *verifier) After(failed bool) error {
	errs := v.inputs()
	if !v.broken {
		v.each(roleLeave, func(w *view) {
			if !w.same(w.region) {
				errs = append(errs, w.touched())
			}
		})
	}
	if !failed {
		v.check()
		errs = append(errs, v.errs...)
	}
	if failed || len(errs) > 0 {
		v.each(roleOut, func(w *view) {
			if w.marked {
				w.unmark()
			}
		})
	}
	return errors.Join(errs...)
}

// inputs returns the errors of the inputs.
func (v *verifier) inputs() (errs []error) {
	v.each(roleIn, func(w *view) {
		if w.checksum() != w.sum && !v.written(w) {
			errs = append(errs, fmt.Errorf("verify: %s is declared Input, and the body wrote to it (%v): declare it Inout", w.name, w.region))
		}
	})
	return errs
}

// written reports whether another access allows the body to write to w.
func (v *verifier) written(w *view) (yes bool) {
	for i := range v.views {
		u := &v.views[i]
		yes = yes || (u.role == roleOut || u.role == roleUpdate || u.role == roleLeave && !u.value) && u.region.Overlaps(w.region)
	}
	return yes
}

func (w *view) touched() error {
	if w.value {
		return fmt.Errorf("verify: %s is declared Value, and the body wrote to its elements (%v), which no task waits for: declare it Inout, or Concurrent if bodies synchronize", w.name, w.region)
	}
	return fmt.Errorf("verify: %s is declared Weak, and the body itself wrote to it, not a child (%v): the task does not wait for that region; declare it without Weak", w.name, w.region)
}

// check checks the marks, once.
func (v *verifier) check() {
	if v.checked {
		return
	}
	v.checked = true
	v.each(roleOut, func(w *view) {
		if w.marked {
			t := w.tally()
			v.complain(w, t)
		}
	})
}

// complain adds the error of output w, if there is one.
func (v *verifier) complain(w *view, t tally) {
	left, read := t.verdict()
	switch {
	case read:
		v.errs = append(v.errs, fmt.Errorf("verify: %s is declared Output, and the body read %d of its %d values before writing them (%v): declare it Inout", w.name, t.read, t.all, w.region))
	case left && t.left == t.all:
		v.errs = append(v.errs, fmt.Errorf("verify: %s is declared Output, and the body never wrote to it (%v)", w.name, w.region))
	case left:
		v.errs = append(v.errs, fmt.Errorf("verify: %s is declared Output, and the body left %d of its %d values unwritten (%v): an Output is overwritten everywhere, declare it Inout", w.name, t.left, t.all, w.region))
	}
}

// ChildStarts checks, before a child runs, that the body has not written the child's
// memory.
func (v *verifier) ChildStarts(r *task.Record) error {
	var errs []error
	v.touches(r, func(w *view, region deps.Region) {
		if !v.broken && !w.same(region) {
			errs = append(errs, w.touched())
			w.renew(region) // reported
		}
	})
	return errors.Join(errs...)
}

// ChildEnds records that the body of a child has run: its writes do not count as the
// parent's. The child itself may not have ended.
func (v *verifier) ChildEnds(r *task.Record, ended bool) {
	v.broken = v.broken || !ended
	v.touches(r, func(w *view, region deps.Region) {
		if w.renew(region); r.Flags&task.Internal == 0 {
			v.touchedBy = append(v.touchedBy, region)
		} else if r.Decl.Waits {
			v.release(region)
		}
	})
}

// Waited records that the body has waited for all its children: it may now access their
// memory, although it is Weak.
func (v *verifier) Waited() {
	for _, region := range v.touchedBy {
		v.release(region)
	}
	v.touchedBy = nil
}

// release allows the body to access region from now on.
func (v *verifier) release(region deps.Region) {
	u := view{region: region, base: addressOf(region)}
	v.each(roleLeave, func(w *view) { w.share(&u) })
}

// ChildElsewhere records that a child runs at another time.
func (v *verifier) ChildElsewhere() { v.broken = true }

func (v *verifier) touches(r *task.Record, f func(*view, deps.Region)) {
	v.each(roleLeave, func(w *view) {
		r.Accesses(func(a task.Access) {
			if region := a.Entry.Region(); !region.IsHandle() && region.Overlaps(w.region) {
				f(w, region)
			}
		})
	})
}

func log2(n int) float64 { return math.Log2(float64(max(n, 1))) }
