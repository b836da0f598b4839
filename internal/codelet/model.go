package codelet

// Model takes the time of transforms on another machine, and computes nothing: neither does it
// read or write a number. Programs that run with it ask it for memory, and tell it what they do
// with data beside the kernels.
type Model interface {
	// Transform takes the time of count transforms of length n of data in the cache.
	Transform(n, count int)

	// Transfer takes the time to bring so many bytes of an array of size bytes to the cache, or
	// back: none if the array fits in there. What is written is brought there first.
	Transfer(bytes, size int)

	// Compute takes the time of so many operations on data in the cache.
	Compute(operations int)

	// Reserve returns n numbers that take no memory and cannot be accessed. Messages carry none of
	// them.
	Reserve(n int) ([]complex128, error)
}

// Modelled returns a set without kernels: plans that are made with it tell m what they would
// compute.
func Modelled(m Model) *Set { return &Set{name: "modelled", lanes: 1, model: m} }

// Model returns the model of a set of [Modelled], nil for other sets.
func (s *Set) Model() Model { return s.model }
