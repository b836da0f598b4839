package tasks

import (
	"math"
	"reflect"
	"strings"
	"sync"
	"unsafe"
)

// Verify mode marks memory as not written and later looks for the marks. A mark must be a
// value that the body does not write by chance:
//
//	float64, float32   a signalling NaN with a payload; arithmetic makes it quiet,
//	                   which proves a read. Complex numbers are two floats.
//	bool               a byte that is neither true nor false
//	pointers, strings, slices, maps, any
//	                   a unique value: a new variable, string, ...
//	integers           noise, different for every element and every task
//
// A body may write an integer equal to its mark; tally computes the probability.

// layout is the parts of an element type that a body writes one by one.
type layout struct {
	typ    reflect.Type
	size   uintptr
	leaves []leaf
	plain  bool // no pointers
}

type leafKind uint8

const (
	leafInt leafKind = iota // every pattern of bits is a value
	leafBool
	leafFloat64
	leafFloat32
	leafPointer // contains pointers
)

type leaf struct {
	off, size uintptr
	kind      leafKind
	mark      reflect.Value // for leafPointer
}

// maxLeaves bounds the parts of one element.
const maxLeaves = 64

var layouts sync.Map // reflect.Type -> *layout, nil in it if the type cannot be marked

// layoutOf returns the layout of t, or of its elements if it is an array; nil if it cannot
// be marked.
func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := newLayout(t)
	layouts.Store(t, l)
	return l
}

func newLayout(t reflect.Type) *layout {
	for t.Kind() == reflect.Array && t.Len() > 0 {
		t = t.Elem()
	}
	l := &layout{typ: t, size: t.Size(), plain: true}
	if !l.flatten(t, 0) || len(l.leaves) == 0 {
		return nil
	}
	return l
}

var leafKinds = map[reflect.Kind]leafKind{
	reflect.Bool: leafBool, reflect.Float64: leafFloat64, reflect.Float32: leafFloat32,
	reflect.Int: leafInt, reflect.Int8: leafInt, reflect.Int16: leafInt, reflect.Int32: leafInt, reflect.Int64: leafInt,
	reflect.Uint: leafInt, reflect.Uint8: leafInt, reflect.Uint16: leafInt, reflect.Uint32: leafInt, reflect.Uint64: leafInt,
	reflect.Uintptr: leafInt,
}

// flatten adds the parts of type t at offset off, and reports whether t can be marked.
func (l *layout) flatten(t reflect.Type, off uintptr) bool {
	if kind, ok := leafKinds[t.Kind()]; ok {
		return l.add(leaf{off: off, size: t.Size(), kind: kind})
	}
	switch t.Kind() {
	case reflect.Complex128, reflect.Complex64:
		half, kind := t.Size()/2, leafFloat64
		if half == 4 {
			kind = leafFloat32
		}
		return l.add(leaf{off: off, size: half, kind: kind}) && l.add(leaf{off: off + half, size: half, kind: kind})
	case reflect.Array:
		for i := range t.Len() {
			if !l.flatten(t.Elem(), off+uintptr(i)*t.Elem().Size()) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return l.flattenFields(t, off)
	}
	l.plain = false
	mark := uniqueValue(t)
	return !mark.IsValid() || l.add(leaf{off: off, size: t.Size(), kind: leafPointer, mark: mark})
}

func (l *layout) flattenFields(t reflect.Type, off uintptr) bool {
	if synchronizes(t) {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Name != "_" && !l.flatten(f.Type, off+f.Offset) {
			return false
		}
	}
	return true
}

func (l *layout) add(f leaf) bool {
	l.leaves = append(l.leaves, f)
	return len(l.leaves) <= maxLeaves
}

// synchronizes reports whether t is a lock or an atomic variable, which bodies use without
// an access.
func synchronizes(t reflect.Type) bool {
	return t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic"
}

// unwritten is the dynamic type of an interface that has not been written.
type unwritten struct{ _ int }

// uniqueValue returns an addressable value of type t that no other code can have; invalid if
// there is none.
func uniqueValue(t reflect.Type) reflect.Value {
	mark := reflect.New(t).Elem()
	switch {
	case t.Kind() == reflect.Pointer && t.Elem().Size() > 0:
		mark.Set(reflect.New(t.Elem()).Convert(t))
	case t.Kind() == reflect.Slice && t.Elem().Size() > 0:
		mark.Set(reflect.MakeSlice(t, 0, 1))
	case t.Kind() == reflect.String:
		mark.SetString(strings.Clone("(not written)"))
	case t.Kind() == reflect.Map:
		mark.Set(reflect.MakeMap(t))
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		mark.Set(reflect.ValueOf(new(unwritten)))
	default:
		return reflect.Value{}
	}
	return mark
}

const (
	mark64  = 0x7ff4_5eed_5eed_5eed // signalling NaN with a payload
	quiet64 = 1 << 51
	mark32  = 0x7fa4_5eed
	quiet32 = 1 << 22
	noBool  = 0xa5
)

// bits returns the mark of part i of a view. Under the other pattern, for the second run of
// a body, integers have all bits inverted, and floats are very large numbers of either
// sign: comparisons that hide a NaN show these.
func (f *leaf) bits(seed, i uint64, other bool) uint64 {
	large := 1.25e300
	if i%2 == 0 {
		large = -large
	}
	switch {
	case f.kind == leafFloat64 && !other:
		return mark64
	case f.kind == leafFloat64:
		return math.Float64bits(large)
	case f.kind == leafFloat32 && !other:
		return mark32
	case f.kind == leafFloat32:
		return uint64(math.Float32bits(float32(large / 1e263)))
	case f.kind == leafBool && !other:
		return noBool
	case f.kind == leafBool:
		return 0
	case other:
		return ^noise(seed+i) >> (64 - 8*f.size)
	}
	return noise(seed+i) >> (64 - 8*f.size)
}

// noise is a random function (SplitMix64).
func noise(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func load(p unsafe.Pointer, size uintptr) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func store(p unsafe.Pointer, size uintptr, x uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

// put marks the part at p.
func (f *leaf) put(p unsafe.Pointer, mark uint64) {
	if f.kind == leafPointer {
		reflect.NewAt(f.mark.Type(), p).Elem().Set(f.mark)
		return
	}
	store(p, f.size, mark)
}

// is reports whether the mark is still at p.
func (f *leaf) is(p unsafe.Pointer, mark uint64) bool {
	if f.kind != leafPointer {
		return load(p, f.size) == mark
	}
	words := f.size / unsafe.Sizeof(uintptr(0))
	now, then := unsafe.Slice((*uintptr)(p), words), unsafe.Slice((*uintptr)(f.mark.Addr().UnsafePointer()), words)
	for i := range now {
		if now[i] != then[i] {
			return false
		}
	}
	return true
}

// derived reports whether the part at p can only be the result of computing with a mark.
// Integers are left to tally.
func (f *leaf) derived(p unsafe.Pointer) bool {
	switch f.kind {
	case leafFloat64:
		return load(p, 8)&^(1<<63) == mark64|quiet64
	case leafFloat32:
		return load(p, 4)&^(1<<31) == mark32|quiet32
	case leafBool:
		x := load(p, 1)
		return x > 1 && x != noBool
	}
	return false
}
