package tasks

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"runtime/debug"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// role tells how a body may access the memory of a view.
type role uint8

const (
	roleIn     role = iota // read it: the bytes are the same afterwards
	roleOut                // overwrite it
	roleUpdate             // anything
	roleLeave              // not at all, only its children: weak accesses, and slices passed as Value
)

// view is the memory of an access, or of a Value slice.
type view struct {
	name   string // of the parameter or clause
	role   role
	value  bool // a Value slice
	region deps.Region
	base   unsafe.Pointer
	layout *layout // nil: unknown, or cannot be marked
	shared []span  // memory also in other views
	seed   uint64  // of the marks
	other  bool    // marked with the other pattern
	marked bool

	sum   uint64        // of roleIn
	bytes []byte        // saved content: plain layouts, and roleLeave
	elems reflect.Value // saved content, a slice, of layouts with pointers
}

// span is an interval of addresses.
type span struct{ from, to uintptr }

// addressOf returns a pointer to the first byte of region.
func addressOf(region deps.Region) unsafe.Pointer {
	base := region.Base()
	return *(*unsafe.Pointer)(unsafe.Pointer(&base))
}

// columns calls f for every contiguous piece of the view.
func (w *view) columns(f func(piece []byte)) {
	n, length, stride := w.region.Columns()
	for i := range n {
		f(unsafe.Slice((*byte)(unsafe.Add(w.base, i*stride)), length))
	}
}

// leaves calls f for every part of every element that belongs to this view alone; i counts
// the parts from 1.
func (w *view) leaves(f func(p unsafe.Pointer, l *leaf, i uint64)) {
	i := uint64(0)
	w.columns(func(piece []byte) {
		for at := uintptr(0); at+w.layout.size <= uintptr(len(piece)); at += w.layout.size {
			for k := range w.layout.leaves {
				l := &w.layout.leaves[k]
				p := unsafe.Add(unsafe.Pointer(unsafe.SliceData(piece)), at+l.off)
				if i++; !w.isShared(p, l.size) {
					f(p, l, i)
				}
			}
		}
	})
}

func (w *view) isShared(p unsafe.Pointer, size uintptr) bool {
	for _, s := range w.shared {
		if uintptr(p) < s.to && s.from < uintptr(p)+size {
			return true
		}
	}
	return false
}

// share notes the memory that w shares with u.
func (w *view) share(u *view) {
	if !w.region.Overlaps(u.region) {
		return
	}
	u.columns(func(piece []byte) {
		from := uintptr(unsafe.Pointer(unsafe.SliceData(piece)))
		w.shared = append(w.shared, span{from, from + uintptr(len(piece))})
	})
}

// mark marks every part as not written.
func (w *view) mark(other bool) {
	w.marked, w.other = true, other
	w.leaves(func(p unsafe.Pointer, l *leaf, i uint64) { l.put(p, l.bits(w.seed, i, other)) })
}

// tally counts the marks left and read.
func (w *view) tally() (t tally) {
	n := 0
	w.leaves(func(unsafe.Pointer, *leaf, uint64) { n++ })
	t.log = log2(n)
	w.leaves(func(p unsafe.Pointer, l *leaf, i uint64) {
		mark, x := l.bits(w.seed, i, w.other), uint64(0)
		if l.kind != leafPointer {
			x = load(p, l.size)
		}
		t.count(l, l.is(p, mark), l.derived(p), x, mark)
	})
	return t
}

// values returns the parts of a plain layout, in order.
func (w *view) values() (all []uint64) {
	w.leaves(func(p unsafe.Pointer, l *leaf, _ uint64) { all = append(all, load(p, l.size)) })
	return all
}

// save saves the content.
func (w *view) save() {
	if w.layout == nil || w.layout.plain || w.role == roleLeave {
		w.bytes = w.bytes[:0]
		w.columns(func(piece []byte) { w.bytes = append(w.bytes, piece...) })
		return
	}
	w.elems = reflect.MakeSlice(reflect.SliceOf(w.layout.typ), 0, 1)
	w.columns(func(piece []byte) {
		for at := uintptr(0); at+w.layout.size <= uintptr(len(piece)); at += w.layout.size {
			w.elems = reflect.Append(w.elems, reflect.NewAt(w.layout.typ, unsafe.Pointer(&piece[at])).Elem())
		}
	})
}

// restore restores the content that save has saved; for plain layouts.
func (w *view) restore() {
	rest := w.bytes
	w.columns(func(piece []byte) { rest = rest[copy(piece, rest):] })
}

// unmark restores the content of the parts that still have their marks.
func (w *view) unmark() {
	saved := unsafe.Pointer(unsafe.SliceData(w.bytes))
	if !w.layout.plain {
		saved = w.elems.UnsafePointer()
	}
	n := uint64(len(w.layout.leaves))
	w.leaves(func(p unsafe.Pointer, l *leaf, i uint64) {
		if !l.is(p, l.bits(w.seed, i, w.other)) {
			return
		}
		old := unsafe.Add(saved, uintptr((i-1)/n)*w.layout.size+l.off)
		if l.kind == leafPointer {
			reflect.NewAt(l.mark.Type(), p).Elem().Set(reflect.NewAt(l.mark.Type(), old).Elem())
		} else {
			store(p, l.size, load(old, l.size))
		}
	})
}

// overlap calls f for the common pieces of w and region: their offset in bytes, and the
// memory.
func (w *view) overlap(region deps.Region, f func(at uintptr, piece []byte)) {
	u := view{region: region, base: addressOf(region)}
	n, length, stride := w.region.Columns()
	base := uintptr(w.base)
	u.columns(func(piece []byte) {
		from := uintptr(unsafe.Pointer(unsafe.SliceData(piece)))
		to, i := from+uintptr(len(piece)), uintptr(0)
		if stride > 0 && from > base {
			i = (from - base) / stride
		}
		for ; i < n && base+i*stride < to; i++ {
			lo, hi := max(from, base+i*stride), min(to, base+i*stride+length)
			if lo < hi {
				f(i*length+lo-base-i*stride, piece[lo-from:hi-from])
			}
		}
	})
}

// same reports whether the common memory of w and region still has the saved content.
func (w *view) same(region deps.Region) bool {
	same := true
	w.overlap(region, func(at uintptr, piece []byte) {
		saved := w.bytes[at : at+uintptr(len(piece))]
		same = same && (bytes.Equal(piece, saved) || w.sameAlone(piece, saved))
	})
	return same
}

// sameAlone reports whether piece equals saved, except for memory shared with other views.
func (w *view) sameAlone(piece, saved []byte) bool {
	for i := range piece {
		if piece[i] != saved[i] && !w.isShared(unsafe.Pointer(&piece[i]), 1) {
			return false
		}
	}
	return true
}

// renew saves the present content of the common memory of w and region.
func (w *view) renew(region deps.Region) {
	w.overlap(region, func(at uintptr, piece []byte) { copy(w.bytes[at:], piece) })
}

var seed = maphash.MakeSeed()

func (w *view) checksum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	w.columns(func(piece []byte) { h.Write(piece) })
	return h.Sum64()
}

// readable reports whether the memory of w can be read: a Region method may name invalid
// addresses.
func (w *view) readable() (yes bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { yes = recover() == nil }()
	w.checksum()
	return true
}

// locate returns the element type of the memory at region, if v refers to it: a slice or
// variable that v is, points to, or has in a field.
func locate(v reflect.Value, region deps.Region, depth int) reflect.Type {
	const few = 64
	if depth == 0 {
		return nil
	}
	n, length, stride := region.Columns()
	from, size := region.Base(), (n-1)*stride+length
	inside := func(p, bytes uintptr) bool { return p <= from && from+size <= p+bytes }
	switch v.Kind() {
	case reflect.Slice:
		if t := v.Type().Elem(); inside(v.Pointer(), uintptr(v.Len())*t.Size()) {
			return within(t, v.Pointer(), from, length)
		}
		for i := range min(v.Len(), few) {
			if t := locate(v.Index(i), region, depth-1); t != nil {
				return t
			}
		}
	case reflect.Pointer:
		if t := v.Type().Elem(); !v.IsNil() && inside(v.Pointer(), t.Size()) {
			return within(t, v.Pointer(), from, length)
		}
		return locate(v.Elem(), region, depth-1)
	case reflect.Interface:
		return locate(v.Elem(), region, depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if t := locate(v.Field(i), region, depth-1); t != nil {
				return t
			}
		}
	}
	return nil
}

// within returns the type of the elements that exactly fill length bytes at from, in an
// array of t or a variable of type t at p; nil if there is none.
func within(t reflect.Type, p, from, length uintptr) reflect.Type {
	size := t.Size()
	if size == 0 {
		return nil
	}
	if (from-p)%size == 0 && length%size == 0 {
		return t
	}
	p += (from - p) / size * size
	switch t.Kind() {
	case reflect.Array:
		return within(t.Elem(), p, from, length)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); p+f.Offset <= from && from+length <= p+f.Offset+f.Type.Size() {
				return within(f.Type, p+f.Offset, from, length)
			}
		}
	}
	return nil
}
