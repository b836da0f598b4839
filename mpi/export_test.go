package mpi

// Defined returns an error if o cannot combine elements of b.
func (o *Op) Defined(b Buffer) error { return o.defined(b) }
