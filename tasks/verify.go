package tasks

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"reflect"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// fill says how verify mode marks the elements of an output before the body runs.
type fill uint8

const (
	fillNone    fill = iota // the elements hold pointers: left alone
	fillFloat64             // complex128 too: a signalling NaN, which arithmetic turns quiet
	fillFloat32
	fillBytes // anything else: a byte pattern
)

const (
	mark64   = 0x7ff4_5eed_5eed_5eed // signalling NaN with a payload
	quiet64  = 1 << 51
	mark32   = 0x7fa5_5eed
	quiet32  = 1 << 22
	markByte = 0xa5
)

func fillOf(t reflect.Type) fill {
	switch t.Kind() {
	case reflect.Float64, reflect.Complex128:
		return fillFloat64
	case reflect.Float32, reflect.Complex64:
		return fillFloat32
	case reflect.Array:
		return fillOf(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if fillOf(t.Field(i).Type) == fillNone {
				return fillNone
			}
		}
		return fillBytes
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fillBytes
	}
	return fillNone
}

// view is memory that a parameter describes: n runs of length bytes.
type view struct {
	param     *param
	base      unsafe.Pointer
	region    deps.Region
	sum       uint64
	untouched bool
}

// verifier checks that a body keeps to its declaration: what it declared Input is
// the same afterwards, what it declared Output has been written everywhere and
// not read before.
type verifier struct {
	ins, outs []view
	writes    []view // of other parameters, which are not checked
	reads     []view // likewise
}

func newVerifier(d *declaration, r *task.Record) task.Verifier {
	v := new(verifier)
	for i := range d.params {
		p := &d.params[i]
		v.add(p, unsafe.Add(unsafe.Pointer(r), p.offset))
	}
	return v
}

func (v *verifier) add(p *param, arg unsafe.Pointer) {
	if p.op != nil {
		return
	}
	w := view{param: p}
	switch p.kind {
	case kindEach:
		s := *(*[]byte)(arg)
		for i := range len(s) {
			v.add(p.elem, unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), uintptr(i)*p.size))
		}
		return
	case kindSlice:
		s := *(*[]byte)(arg)
		w.base = unsafe.Pointer(unsafe.SliceData(s))
		w.region = deps.Bytes(w.base, uintptr(len(s))*p.size)
	case kindPointer:
		w.base = *(*unsafe.Pointer)(arg)
		w.region = deps.Bytes(w.base, p.size)
	case kindTile:
		t := (*Tile[byte])(arg)
		w.base = unsafe.Pointer(unsafe.SliceData(t.Data))
		w.region, _ = tileRegion(w.base, len(t.Data), t.Rows, t.Cols, t.LD, p.size)
	case kindBuffer:
		b := (*Buffer[byte])(*(*unsafe.Pointer)(arg)) // a version: data is its first field
		if b == nil {
			return
		}
		w.base = unsafe.Pointer(unsafe.SliceData(b.data))
		w.region = p.methods(arg).(deps.Regioner).Region()
	default: // a Region method tells where, not what: enough to see what shares memory
		w.region, _ = p.lookup(nil, arg)
	}
	switch {
	case w.region.Empty():
	case (p.weak || p.kind == kindRegion) && p.mode == deps.In: // weak: of the children, which may run before the body returns
		v.reads = append(v.reads, w)
	case p.weak || p.kind == kindRegion:
		v.writes = append(v.writes, w)
	case p.mode == deps.In:
		v.ins = append(v.ins, w)
	case p.mode == deps.Out:
		v.outs = append(v.outs, w)
	default:
		v.writes = append(v.writes, w)
	}
}

// Before takes the checksums and marks the outputs.
func (v *verifier) Before() {
	for i := range v.outs {
		o := &v.outs[i]
		o.untouched = o.param.fill == fillNone || v.shared(o)
		if !o.untouched {
			o.each(func(b []byte) { markElements(b, o.param.fill) })
		}
	}
	for i := range v.ins {
		v.ins[i].sum = v.ins[i].checksum()
	}
}

// shared reports whether another parameter of the task overlaps the output o:
// then it cannot be marked.
func (v *verifier) shared(o *view) bool {
	for _, list := range [][]view{v.ins, v.outs, v.writes, v.reads} {
		for i := range list {
			if w := &list[i]; w != o && w.region.Overlaps(o.region) {
				return true
			}
		}
	}
	return false
}

// After returns what the body did against its declaration.
func (v *verifier) After() error {
	var errs []error
	for i := range v.ins {
		w := &v.ins[i]
		if w.checksum() != w.sum && !v.written(w) {
			errs = append(errs, fmt.Errorf("verify: %s is declared Input, and the body wrote to it (%v): declare it Inout", task.ParamName(int(w.param.index)), w.region))
		}
	}
	for i := range v.outs {
		if o := &v.outs[i]; !o.untouched {
			errs = append(errs, o.check())
		}
	}
	return errors.Join(errs...)
}

// written reports whether another parameter allows the body to write to w.
func (v *verifier) written(w *view) bool {
	for _, list := range [][]view{v.outs, v.writes} {
		for i := range list {
			if list[i].region.Overlaps(w.region) {
				return true
			}
		}
	}
	return false
}

// check looks for marks that are left in an output.
func (o *view) check() error {
	var all, left, read int
	o.each(func(b []byte) {
		n, l, q := countMarks(b, o.param.fill)
		all, left, read = all+n, left+l, read+q
	})
	name := task.ParamName(int(o.param.index))
	switch {
	case read > 0:
		return fmt.Errorf("verify: %s is declared Output, and the body read %d of its %d elements before writing them (%v): declare it Inout", name, read, all, o.region)
	case left == all:
		return fmt.Errorf("verify: %s is declared Output, and the body never wrote to it (%v)", name, o.region)
	case left > 0 && o.param.fill != fillBytes:
		return fmt.Errorf("verify: %s is declared Output, and the body left %d of its %d elements unwritten (%v): an Output is overwritten everywhere, declare it Inout", name, left, all, o.region)
	}
	return nil
}

// each calls f for every contiguous run of the view.
func (w *view) each(f func([]byte)) {
	n, length, stride := w.region.Columns()
	for i := range n {
		f(unsafe.Slice((*byte)(unsafe.Add(w.base, i*stride)), length))
	}
}

var seed = maphash.MakeSeed()

func (w *view) checksum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	w.each(func(b []byte) { h.Write(b) })
	return h.Sum64()
}

func floats64(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

func floats32(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func markElements(b []byte, f fill) {
	switch f {
	case fillFloat64:
		for i := range floats64(b) {
			floats64(b)[i] = mark64
		}
	case fillFloat32:
		for i := range floats32(b) {
			floats32(b)[i] = mark32
		}
	default:
		for i := range b {
			b[i] = markByte
		}
	}
}

// countMarks counts elements, marks that are left, and marks that arithmetic has
// made quiet, which says that the body read them.
func countMarks(b []byte, f fill) (all, left, read int) {
	switch f {
	case fillFloat64:
		for _, x := range floats64(b) {
			all++
			if x == mark64 {
				left++
			} else if math.IsNaN(math.Float64frombits(x)) && x&^(1<<63) == mark64|quiet64 {
				read++
			}
		}
	case fillFloat32:
		for _, x := range floats32(b) {
			all++
			if x == mark32 {
				left++
			} else if x&^(1<<31) == mark32|quiet32 {
				read++
			}
		}
	default:
		for _, x := range b {
			all++
			if x == markByte {
				left++
			}
		}
	}
	return all, left, read
}
