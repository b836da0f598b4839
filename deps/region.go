package deps

import (
	"fmt"
	"unsafe"
)

// A Region is a set of bytes that a task touches: an interval, a column-major
// tile of a matrix, or a handle. The zero Region is empty: it overlaps nothing
// and causes no dependence.
//
// A Region holds an address as a number. It keeps nothing alive: the caller keeps the
// memory reachable until the task has ended. A variable whose region is taken lives on the
// heap (it escapes), because stacks move.
type Region struct {
	base uintptr // first byte; the identity of a handle
	rows uintptr // bytes of one column
	cols uintptr // number of columns; 1 for an interval, 0 if empty
	ld   uintptr // bytes from one column to the next; 0 for an interval, handleLD for a handle
}

const handleLD = ^uintptr(0)

// Regioner is implemented by types that know their own region; a value of such
// a type can be a parameter of a task.
type Regioner interface{ Region() Region }

var (
	never bool // always false, which the compiler does not know
	//lint:ignore U1000 being assigned to is its use: the compiler has to think that escape keeps p
	kept unsafe.Pointer
)

// escape forces the variable at p onto the heap: a variable on the stack moves when the
// stack grows, and its region would not.
func escape(p unsafe.Pointer) {
	if never {
		kept = p
	}
}

// Bytes returns the interval of n bytes that starts at p. It is empty if n is 0
// or p is nil.
func Bytes(p unsafe.Pointer, n uintptr) Region {
	escape(p)
	if n == 0 || p == nil {
		return Region{}
	}
	return Region{base: uintptr(p), rows: n, cols: 1}
}

// Slice returns the interval of the len(s) elements of s. It is empty if the elements have
// no size; then it orders no tasks.
func Slice[T any](s []T) Region {
	var t T
	return Bytes(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*unsafe.Sizeof(t))
}

// Pointer returns the interval of the variable *p. It is empty for nil and for types
// without size, such as struct{}; then it orders no tasks. Use a [Handle] to order tasks
// without memory.
func Pointer[T any](p *T) Region {
	return Bytes(unsafe.Pointer(p), unsafe.Sizeof(*p))
}

// Handle returns a region that is equal to itself and overlaps nothing else. It names
// something that is not memory, such as a file or a place in a queue. Handles and addresses
// never overlap, whatever the number.
func Handle(id uintptr) Region {
	return Region{base: id, rows: 1, cols: 1, ld: handleLD}
}

// Tile returns the region of a column-major block: cols columns of rows
// elements of size bytes each, consecutive columns ld elements apart
// (ld is the leading dimension, as in BLAS). Two disjoint tiles of one matrix
// interleave in memory and still do not overlap. Negative sizes and ld < rows
// (when there is more than one column) are errors; a tile without rows or
// columns is empty.
func Tile(base unsafe.Pointer, rows, cols, ld int, size uintptr) (Region, error) {
	escape(base)
	switch {
	case rows < 0 || cols < 0:
		return Region{}, fmt.Errorf("tile of %d x %d elements: sizes must not be negative", rows, cols)
	case cols > 1 && ld < rows:
		return Region{}, fmt.Errorf("tile of %d x %d elements has leading dimension %d: it must be at least the number of rows, %d", rows, cols, ld, rows)
	case rows == 0 || cols == 0 || size == 0 || base == nil:
		return Region{}, nil
	case cols == 1 || ld == rows:
		return Bytes(base, uintptr(rows)*uintptr(cols)*size), nil
	}
	return Region{base: uintptr(base), rows: uintptr(rows) * size, cols: uintptr(cols), ld: uintptr(ld) * size}, nil
}

// Empty reports whether r has no bytes.
func (r Region) Empty() bool { return r.cols == 0 }

// IsHandle reports whether r was made by [Handle].
func (r Region) IsHandle() bool { return r.ld == handleLD }

// Base returns the address of the first byte, or the identity of a handle.
func (r Region) Base() uintptr { return r.base }

// Columns returns the shape of r in bytes: n runs of length bytes, stride bytes
// apart (0 for a single run).
func (r Region) Columns() (n, length, stride uintptr) {
	if r.IsHandle() {
		return 0, 0, 0
	}
	return r.cols, r.rows, r.ld
}

// end returns the address after the last byte.
func (r Region) end() uintptr {
	if r.IsHandle() {
		return r.base
	}
	return r.base + (r.cols-1)*r.ld + r.rows
}

// Last returns the address of the last byte, or the identity of a handle.
func (r Region) Last() uintptr {
	if r.IsHandle() {
		return r.base
	}
	return r.end() - 1
}

// Overlaps reports whether r and s have a byte in common (or are the same
// handle). The cost is constant for intervals and for tiles of equal leading
// dimension, and grows with the smaller number of columns otherwise.
func (r Region) Overlaps(s Region) bool {
	switch {
	case r.Empty() || s.Empty():
		return false
	case r.IsHandle() || s.IsHandle():
		return r == s
	case r.end() <= s.base || s.end() <= r.base:
		return false
	case r.cols == 1 && s.cols == 1:
		return true
	case r.cols > 1 && s.cols > 1 && r.ld != s.ld:
		return overlapByColumn(r, s)
	}
	return overlapShifted(r, s)
}

// overlapShifted decides for regions with one common stride L: column i of r and column j
// of s overlap if d + (j-i)L lies in (-s.rows, r.rows), where d is the distance of the
// bases. It asks whether some such m = i-j exists in [-(s.cols-1), r.cols-1].
func overlapShifted(r, s Region) bool {
	L := int64(max(r.ld, s.ld))
	d := int64(s.base) - int64(r.base)
	lo := max(floorDiv(d-int64(r.rows), L)+1, -int64(s.cols-1)) // smallest m with d - mL < r.rows
	hi := min(ceilDiv(d+int64(s.rows), L)-1, int64(r.cols-1))   // largest m with d - mL > -s.rows
	return lo <= hi
}

func overlapByColumn(r, s Region) bool {
	if r.cols > s.cols {
		r, s = s, r
	}
	for i := range r.cols {
		if overlapShifted(Region{base: r.base + i*r.ld, rows: r.rows, cols: 1}, s) {
			return true
		}
	}
	return false
}

// Contains reports whether every byte of s is also in r. True is always right; false may be
// wrong if several columns of r together cover a column of s.
func (r Region) Contains(s Region) bool {
	switch {
	case s.Empty():
		return true
	case r.Empty():
		return false
	case r.IsHandle() || s.IsHandle():
		return r == s
	case r.cols == 1:
		return r.base <= s.base && s.end() <= r.end()
	case s.base < r.base || s.cols > 1 && s.ld != r.ld:
		return false
	}
	off := s.base - r.base
	return off%r.ld+s.rows <= r.rows && off/r.ld+s.cols <= r.cols
}

// String describes r by address and shape, in bytes.
func (r Region) String() string {
	switch {
	case r.Empty():
		return "[empty]"
	case r.IsHandle():
		return fmt.Sprintf("[handle %d]", r.base)
	case r.cols == 1:
		return fmt.Sprintf("[%#x +%d B]", r.base, r.rows)
	}
	return fmt.Sprintf("[%#x %d x %d B, stride %d B]", r.base, r.cols, r.rows, r.ld)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
