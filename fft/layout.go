package fft

import (
	"fmt"
	"unsafe"
)

// Layout says where pencils lie in a slice: element i of pencil b at
// i*Stride + b*Dist. FFTW calls the two stride and dist.
type Layout struct{ Stride, Dist int }

// Contiguous is the layout of pencils of length n one after another.
func Contiguous(n int) Layout { return Layout{Stride: 1, Dist: n} }

// Interleaved is the layout of count pencils side by side: first all elements 0,
// then all elements 1, and so on.
func Interleaved(count int) Layout { return Layout{Stride: count, Dist: 1} }

// span is the length of a slice that holds count pencils of length n.
func (l Layout) span(n, count int) int {
	if count == 0 {
		return 0
	}
	return (n-1)*l.Stride + (count-1)*l.Dist + 1
}

// check reports a layout that cannot hold the pencils apart.
func (l Layout) check(what string, n, count int) error {
	if l.Stride < 1 && n > 1 || l.Dist < 1 && count > 1 {
		return fmt.Errorf("fft: %s layout with stride %d and distance %d: both must be at least 1", what, l.Stride, l.Dist)
	}
	if n > 1 && l.Stride > maxPoints/n || count > 1 && l.Dist > maxPoints/count {
		return fmt.Errorf("fft: %s layout with stride %d and distance %d: %d transforms of length %d reach beyond %d numbers", what, l.Stride, l.Dist, count, n, maxPoints)
	}
	if n > 1 && count > 1 && !l.disjoint(n, count) {
		return fmt.Errorf("fft: %s layout with stride %d and distance %d: %d pencils of length %d would overlap", what, l.Stride, l.Dist, count, n)
	}
	return nil
}

// disjoint reports whether no two elements share memory. That is so if one dimension lies
// within the steps of the other. Other layouts are decided by arithmetic: i Stride = b Dist
// has its first solution at the least common multiple.
func (l Layout) disjoint(n, count int) bool {
	g := gcd(l.Stride, l.Dist)
	return l.Dist/g >= n || l.Stride/g >= count
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// overlap reports whether two slices share memory, and whether they start together.
func overlap(a, b []complex128) (shared, same bool) {
	if len(a) == 0 || len(b) == 0 {
		return false, false
	}
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+16*uintptr(len(b)) && y < x+16*uintptr(len(a)), x == y
}
