package tasks

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/weft-hpc/weft/internal/task"
)

//go:generate go run ./_gen

// Scope accepts spawns: a *dataflow.Runtime, or the *Context of a running task for its
// children. Dependences order the tasks of a scope; the accesses of a parent also order its
// children.
type Scope interface{ scope }

type scope = task.Scope

// declaration is a function declared as a task, without its types.
type declaration struct {
	task.Decl // must be first
	params    []param
	clauses   []Clause
	reduces   bool
	buffers   int // parameters that may be the same buffer

	values    []param // slices among the Value parameters, for verify mode
	inert     bool    // the Value parameters are numbers and text
	contained bool    // the body only computes on its parameters, as far as the package can see
}

// declare checks and describes a declaration. rec is the typed record; its fields after the
// first are the arguments, in the order of the accesses.
func declare(name string, isNil bool, rec reflect.Type, clauses []Clause, acc ...Access) *declaration {
	d := &declaration{clauses: clauses, inert: true}
	d.ID = task.NextDeclID()
	d.Name = name
	d.File, d.Line = task.CallFileLine()
	if isNil {
		panic(fmt.Sprintf("tasks: declaration of %q at %s:%d: the body is nil", name, d.File, d.Line))
	}
	for i, a := range acc {
		f := rec.Field(i + 1)
		d.Params = append(d.Params, f.Type.String())
		p, err := newParam(f.Type, a, i, f.Offset)
		if err != nil {
			panic(fmt.Sprintf("tasks: declaration of %q at %s:%d: parameter %d (%v): %v", name, d.File, d.Line, i+1, f.Type, err))
		}
		d.buffers += p.buffers()
		d.reduces = d.reduces || p.op != nil && !p.weak
		if p.kind != kindValue {
			d.params = append(d.params, p)
			continue
		}
		d.inert = d.inert && inert(f.Type)
		if f.Type.Kind() == reflect.Slice && !synchronizes(f.Type.Elem()) {
			d.values = append(d.values, p)
		}
	}
	for _, c := range clauses {
		if c.kind == clauseAccess {
			panic(fmt.Sprintf("tasks: declaration of %q at %s:%d: Reads, Writes, Updates and With belong to Spawn", name, d.File, d.Line))
		}
	}
	d.Verify = func(r *task.Record) task.Verifier { return newVerifier(d, r) }
	if d.buffers > 0 {
		d.Undo = func(r *task.Record) { d.eachBuffer(r, func(b renamer) { b.undo(r) }) }
	}
	return d
}

// eachBuffer calls f for every buffer among the arguments of r.
func (d *declaration) eachBuffer(r *task.Record, f func(renamer)) {
	for i := range d.params {
		p := &d.params[i]
		p.eachBuffer(unsafe.Add(unsafe.Pointer(r), p.offset), f)
	}
}

// contain records that the body has no Context, and whether it computes on its parameters
// alone; captures reports whether it captures variables.
func (d *declaration) contain(captures bool) {
	d.Plain = true
	d.contained = d.inert && !captures
}

// submit registers the accesses of a record whose arguments are filled in, and hands it to
// the runtime.
func (d *declaration) submit(r *task.Record, cl []Clause) {
	if len(d.clauses)+len(cl) > 0 {
		apply(r, d.clauses)
		applyAll(r, cl)
	}
	if d.buffers > 1 {
		d.eachBuffer(r, func(b renamer) { b.count(r) })
	}
	dom := r.Domain
	for i := range d.params {
		p := &d.params[i]
		p.register(dom, r, unsafe.Add(unsafe.Pointer(r), p.offset))
	}
	dom.Commit(r)
}

// enter puts private copies in place. Every body's wrapper calls it.
func (d *declaration) enter(r *task.Record) {
	if !d.reduces {
		return
	}
	if c := r.PeekCold(); c != nil {
		for _, p := range c.Parts {
			p.(privatizer).privatize()
		}
	}
}

func bindWorker(r *task.Record, i int64) {
	if i < 0 || i >= 1<<31-1 {
		r.Fail(fmt.Errorf("OnWorker(%d): workers are numbered from 0", i))
		return
	}
	r.Worker = int32(i) + 1
}

// clear1 sets *p to its zero value, so that the collector can free the argument's memory.
func clear1[T any](p *T) {
	var zero T
	*p = zero
}
