package tasks

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// dynamicRecord is a task without a declaration: its body is a closure, its accesses are
// clauses.
type dynamicRecord struct {
	task.Record
	name string
	body func(*Context) error
	site uintptr
}

var dynamicDecl = &declaration{}

func init() {
	task.RegionOf, task.Submit = regionOf, submit
	d := &dynamicDecl.Decl
	d.ID = task.NextDeclID()
	d.Name = "dynamic task"
	d.New = task.SlabOf[dynamicRecord]
	d.Run = func(r *task.Record) error { return dynamic(r).body((*Context)(unsafe.Pointer(r))) }
	d.Clear = func(r *task.Record) { dynamic(r).body = nil }
	d.Verify = func(r *task.Record) task.Verifier { return newVerifier(dynamicDecl, r) }
	d.Where = func(r *task.Record) (string, string, int) {
		x := dynamic(r)
		f, _ := runtime.CallersFrames([]uintptr{x.site}).Next()
		return x.name, f.File, f.Line
	}
}

func dynamic(r *task.Record) *dynamicRecord { return (*dynamicRecord)(unsafe.Pointer(r)) }

// Spawn submits body as a task with the accesses of the clauses Reads, Writes, Updates and
// With. Only the goroutine of the scope may call it. It returns at once and reports
// nothing: a mistake is a failed task whose error Wait returns. After a cancellation it
// does nothing; on a closed runtime it panics. Runtime.Spawn and Context.Spawn are short
// for it.
func Spawn(in Scope, name string, body func(*Context) error, cl ...Clause) {
	spawnAt(in, 1, name, body, cl)
}

// spawnAt is Spawn, where skip is the number of callers between it and the place that
// reports name, without those of the scope.
func spawnAt(in Scope, skip int, name string, body func(*Context) error, cl []Clause) {
	dom := task.DomainOf(in)
	r := dom.BeginNamed(&dynamicDecl.Decl, name)
	if r == nil {
		return
	}
	x := dynamic(r)
	x.name, x.body = name, body
	x.site = task.Caller(skip + 1 + task.Callers(in))
	if body == nil {
		r.Fail(errors.New("the body is nil"))
	}
	applyAll(r, cl)
	dom.Commit(r)
}

// submit applies clauses to a record of another kind of task, which the package that
// defines it (commthread) has begun and filled in, and hands it to the runtime.
func submit(r *task.Record, clauses any) {
	if cl, _ := clauses.(*[]Clause); cl != nil {
		applyAll(r, *cl)
	}
	r.Domain.Commit(r)
}

// applyAll puts the clauses of a spawn into a record.
func applyAll(r *task.Record, cl []Clause) {
	apply(r, cl)
	for i := range cl {
		if cl[i].kind == clauseAccess {
			accessClause(r, &cl[i])
		}
	}
}

func accessClause(r *task.Record, c *Clause) {
	if c.acc.missing {
		r.Fail(errors.New("the access of a With clause is nil"))
		return
	}
	if c.acc.op != nil {
		r.Fail(errors.New("a reduction needs the declared form, whose body gets the private copy"))
		return
	}
	for i, x := range c.xs {
		if err := accessAny(r, c.acc, x); err != nil {
			r.Fail(fmt.Errorf("argument %d of the clause %s: %w", i+1, clauseName(c.acc.mode), err))
		}
	}
}

// clauseName names the clause with accesses of mode m.
func clauseName(m deps.Mode) string {
	switch m {
	case deps.In:
		return "Reads"
	case deps.Out:
		return "Writes"
	case deps.Inout:
		return "Updates"
	}
	return "With"
}

func accessAny(r *task.Record, s spec, x any) error {
	if s.each {
		v := reflect.ValueOf(x)
		if v.Kind() != reflect.Slice {
			return fmt.Errorf("Each needs a slice, not %T", x)
		}
		s.each = false
		r.Expect(v.Len(), s.mode, s.weak)
		for i := range v.Len() {
			if err := accessAny(r, s, v.Index(i).Interface()); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return nil
	}
	region, err := regionOf(x)
	if err == nil {
		if r.Domain.Verify {
			note(r, s, x)
		}
		r.Domain.Access(r, region, s.depMode(), s.weak, -1, nil)
	}
	return err
}

// regionOf returns the region of x: a deps.Region, a slice, a pointer, a Tile, a Buffer
// (its newest version), or any type with a Region method. A nil pointer has an empty
// region.
func regionOf(x any) (deps.Region, error) {
	switch x := x.(type) {
	case deps.Region:
		return x, nil
	case []float64:
		return deps.Slice(x), nil
	case []complex128:
		return deps.Slice(x), nil
	case []byte:
		return deps.Slice(x), nil
	}
	v := reflect.ValueOf(x)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return deps.Region{}, nil
	}
	switch x.(type) {
	case tiler, deps.Regioner:
		return methodRegion(x)
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Pointer:
		if v.Type().Elem().Size() == 0 {
			return deps.Region{}, noBytes(v.Type())
		}
		n := 1
		if v.Kind() == reflect.Slice {
			n = v.Len()
		}
		return deps.Bytes(v.UnsafePointer(), uintptr(n)*v.Type().Elem().Size()), nil
	}
	return deps.Region{}, fmt.Errorf("a value of type %T has no region: use a slice, a pointer, a Tile, a Buffer, a deps.Region or a type with a method Region() deps.Region", x)
}
