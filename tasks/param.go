package tasks

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

const reductionMode = deps.Reduction

type paramKind uint8

const (
	kindValue paramKind = iota
	kindSlice
	kindPointer
	kindTile
	kindBuffer
	kindRegion // has a Region or regionErr method
	kindEach
)

// param tells how one parameter of a declaration becomes an access. It is made once, by
// reflection; a spawn only follows it.
type param struct {
	spec
	kind   paramKind
	index  int8
	offset uintptr // of the argument in the typed record
	size   uintptr // bytes of an element (slice, tile) or of the variable (pointer)
	elem   *param  // for Each
	// methods returns the argument at p as an interface without allocating; for kindBuffer
	// and kindRegion.
	methods func(p unsafe.Pointer) any
	typ     reflect.Type
}

var (
	regionerType = reflect.TypeFor[deps.Regioner]()
	tilerType    = reflect.TypeFor[tiler]()
	renamerType  = reflect.TypeFor[renamer]()
)

// newParam describes parameter index of type t, or returns an error if t cannot be one.
func newParam(t reflect.Type, a Access, index int, offset uintptr) (param, error) {
	s := specOf(a)
	if s.missing {
		return param{}, fmt.Errorf("its access is nil")
	}
	p := param{spec: s, index: int8(index), offset: offset, typ: t}
	if s.mode == deps.None {
		if s.each || s.weak || s.lazy {
			return p, fmt.Errorf("Value cannot be Each, Weak or Lazy")
		}
		return p, nil
	}
	if s.op != nil && (s.each || s.weak && !s.op.fits(t) || !s.op.fits(t)) {
		return p, fmt.Errorf("a reduction over %v needs a parameter of type []%v or *%v", s.op.elem(), s.op.elem(), s.op.elem())
	}
	if s.each {
		if t.Kind() != reflect.Slice {
			return p, fmt.Errorf("Each needs a slice parameter")
		}
		p.kind, p.size = kindEach, t.Elem().Size()
		e := s
		e.each = false
		elem, err := newParam(t.Elem(), e, index, 0)
		p.elem = &elem
		return p, err
	}
	return p, p.classify()
}

func (p *param) classify() error {
	t := p.typ
	switch {
	case t.Implements(renamerType):
		p.kind = kindBuffer
	case t.Kind() == reflect.Struct && t.Implements(tilerType) && isTile(t):
		p.kind, p.size = kindTile, t.Field(0).Type.Elem().Size()
	case t.Implements(tilerType) || t.Implements(regionerType):
		p.kind = kindRegion
	case t.Kind() == reflect.Slice:
		p.kind, p.size = kindSlice, t.Elem().Size()
	case t.Kind() == reflect.Pointer:
		p.kind, p.size = kindPointer, t.Elem().Size()
	default:
		return fmt.Errorf("type %v has no region: use a slice, a pointer, a tasks.Tile, a *tasks.Buffer or a type with a method Region() deps.Region, or declare it Value", t)
	}
	if p.size == 0 && (p.kind == kindSlice || p.kind == kindPointer || p.kind == kindTile) {
		return noBytes(t)
	}
	if p.kind == kindBuffer || p.kind == kindRegion {
		p.methods = func(v unsafe.Pointer) any { return reflect.NewAt(t, v).Elem().Interface() }
		if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
			// *T has T's methods, and fits an interface without allocating.
			p.methods = func(v unsafe.Pointer) any { return reflect.NewAt(t, v).Interface() }
		}
	}
	return nil
}

// noBytes is the error for a slice or pointer whose elements have no size.
func noBytes(t reflect.Type) error {
	return fmt.Errorf("%v refers to memory that has no bytes, so no task would wait for another: use a type with a size, or a deps.Handle", t)
}

// isTile reports whether t is a Tile, and not a struct that embeds one.
func isTile(t reflect.Type) bool {
	return t.NumField() == 4 && t.PkgPath() == reflect.TypeFor[Tile[int]]().PkgPath()
}

// register registers the access, or accesses, of r to the argument at v.
func (p *param) register(d *task.Domain, r *task.Record, v unsafe.Pointer) {
	var region deps.Region
	switch p.kind {
	case kindSlice:
		s := *(*[]byte)(v) // its length counts elements
		region = deps.Bytes(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*p.size)
	case kindPointer:
		region = deps.Bytes(*(*unsafe.Pointer)(v), p.size)
	case kindEach:
		s := *(*[]byte)(v)
		if p.elem.kind == kindBuffer {
			s = cloneEach(p.typ, v)
		}
		r.Expect(len(s), p.elem.mode, p.elem.weak)
		for i, base := 0, unsafe.Pointer(unsafe.SliceData(s)); i < len(s); i++ {
			p.elem.register(d, r, unsafe.Add(base, uintptr(i)*p.size))
		}
		return
	default:
		var err error
		if region, err = p.lookup(r, v); err != nil {
			r.Fail(fmt.Errorf("%s: %w", task.ParamName(int(p.index)), err))
			return
		}
	}
	if p.op != nil && !p.weak {
		p.reduce(d, r, region, v)
		return
	}
	d.Access(r, region, p.depMode(), p.weak, int(p.index), nil)
}

// depMode is the mode for the tracker: a weak access reads nothing itself.
func (s *spec) depMode() deps.Mode {
	if s.lazy && s.mode == deps.In && !s.weak {
		return deps.Lazy
	}
	return s.mode
}

// lookup finds the region of an argument that needs a method call or can be invalid.
func (p *param) lookup(r *task.Record, v unsafe.Pointer) (deps.Region, error) {
	switch p.kind {
	case kindTile:
		t := (*Tile[byte])(v)
		return tileRegion(unsafe.Pointer(unsafe.SliceData(t.Data)), len(t.Data), t.Rows, t.Cols, t.LD, p.size)
	case kindBuffer:
		b := p.methods(v).(renamer)
		if b.isNil() {
			return deps.Region{}, nil
		}
		ver, region, err := b.version(r, p.mode)
		if err == nil {
			*(*unsafe.Pointer)(v) = ver
		}
		return region, err
	}
	if k := p.typ.Kind(); (k == reflect.Pointer || k == reflect.Map || k == reflect.Chan) && *(*unsafe.Pointer)(v) == nil {
		return deps.Region{}, nil
	}
	return methodRegion(p.methods(v))
}

// eachBuffer calls f for every buffer at v.
func (p *param) eachBuffer(v unsafe.Pointer, f func(renamer)) {
	switch {
	case p.kind == kindBuffer:
		if b := p.methods(v).(renamer); !b.isNil() {
			f(b)
		}
	case p.kind == kindEach && p.elem.kind == kindBuffer:
		s := *(*[]byte)(v)
		for i := range len(s) {
			p.elem.eachBuffer(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), uintptr(i)*p.size), f)
		}
	}
}

func (p *param) buffers() int {
	switch {
	case p.kind == kindBuffer:
		return 1
	case p.kind == kindEach && p.elem.kind == kindBuffer:
		return 2
	}
	return 0
}

// methodRegion calls the Region method of x. A panic in it happens during a registration,
// so it becomes the error of the task: tasks that were linked to an unfinished record would
// wait for ever.
func methodRegion(x any) (region deps.Region, err error) {
	defer func() {
		if v := recover(); v != nil {
			region, err = deps.Region{}, fmt.Errorf("the Region method of %T panicked: %v", x, v)
		}
	}()
	if t, ok := x.(tiler); ok {
		return t.regionErr()
	}
	return x.(deps.Regioner).Region(), nil
}

// cloneEach gives the record its own copy of a slice of buffers, because the spawn replaces
// the elements by versions. It allocates.
func cloneEach(t reflect.Type, v unsafe.Pointer) []byte {
	arg := reflect.NewAt(t, v).Elem()
	c := reflect.MakeSlice(t, arg.Len(), arg.Len())
	reflect.Copy(c, arg)
	arg.Set(c)
	return *(*[]byte)(v)
}

// reduce registers a reduction and prepares the private copy of r.
func (p *param) reduce(d *task.Domain, r *task.Record, region deps.Region, v unsafe.Pointer) {
	e := d.Access(r, region, deps.Reduction, false, int(p.index), p.op)
	if e == nil {
		return
	}
	r.AddPart(e, p.op.newPart(v, p.kind == kindPointer))
}
