package distributed

// blocks cuts n indices into parts that differ by at most one: the first n % parts
// are the longer ones. A value.
type blocks struct{ n, parts int }

func (b blocks) start(i int) int { return i*(b.n/b.parts) + min(i, b.n%b.parts) }
func (b blocks) size(i int) int  { return b.start(i+1) - b.start(i) }

// of returns the part that index i belongs to.
func (b blocks) of(i int) int {
	long := b.n % b.parts
	size := b.n/b.parts + 1
	if i < long*size {
		return i / size
	}
	return long + (i-long*size)/(size-1)
}
