package distributed

// Layout says where this rank's part of a global array lies in a slice. A value.
type Layout struct {
	Start  [3]int // global index of the first element, by dimension
	Extent [3]int // elements of this rank, by dimension; any may be 0
	Stride [3]int // in the slice, from one index to the next, by dimension; Stride[2] is 1
	Len    int    // of the slice, padding included
}

// At returns the index in the slice of the element with global indices i, and whether this
// rank has it.
func (l Layout) At(i [3]int) (index int, here bool) {
	for d, v := range i {
		v -= l.Start[d]
		if v < 0 || v >= l.Extent[d] {
			return 0, false
		}
		index += v * l.Stride[d]
	}
	return index, true
}

// Points returns the number of elements of this rank.
func (l Layout) Points() int { return l.Extent[0] * l.Extent[1] * l.Extent[2] }

// Row returns the elements of x, a slice of this layout, with local indices i0 and i1:
// a row of Extent[2] elements.
func (l Layout) Row(x []complex128, i0, i1 int) []complex128 {
	at := i0*l.Stride[0] + i1*l.Stride[1]
	return x[at : at+l.Extent[2]]
}
