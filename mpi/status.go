package mpi

// Status describes the message of a receive or probe.
type Status struct {
	Source int // rank of the sender, or ProcNull
	Tag    int
	Bytes  int // of the payload
}

// Elements returns the number of elements of b's size in the message.
func (s Status) Elements(b Buffer) int {
	if b.ElemSize() == 0 {
		return 0
	}
	return s.Bytes / b.ElemSize()
}
