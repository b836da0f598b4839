package distributed

// partition divides n indices into contiguous parts whose sizes differ by at most one: the
// first n % parts are the longer ones. A value.
type partition struct{ n, parts int }

func (b partition) start(i int) int { return i*(b.n/b.parts) + min(i, b.n%b.parts) }
func (b partition) size(i int) int  { return b.start(i+1) - b.start(i) }

// of returns the part of index i.
func (b partition) of(i int) int {
	long := b.n % b.parts
	size := b.n/b.parts + 1
	if i < long*size {
		return i / size
	}
	return long + (i-long*size)/(size-1)
}
