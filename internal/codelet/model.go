package codelet

// Model charges the time of transforms on another machine. It computes nothing and neither
// reads nor writes a number. Programs that run with it ask it for memory, and report their
// use of data outside the kernels.
type Model interface {
	// Transform takes the time of count transforms of length n of data in the cache.
	Transform(n, count int)

	// Transfer charges the time to move bytes of an array of size bytes to the cache or back:
	// none if the array fits into the cache. A write moves them to the cache first.
	Transfer(bytes, size int)

	// Compute charges the time of operations on data in the cache.
	Compute(operations int)

	// Reserve returns n numbers that take no memory and cannot be accessed. Messages carry none of
	// them.
	Reserve(n int) ([]complex128, error)
}

// Modelled returns a set without kernels: its plans report their work to m instead of
// computing.
func Modelled(m Model) *Set { return &Set{name: "modelled", lanes: 1, model: m} }

// Model returns the model of a set of [Modelled], nil for other sets.
func (s *Set) Model() Model { return s.model }
