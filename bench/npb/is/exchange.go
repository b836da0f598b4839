package is

import (
	"fmt"

	"github.com/weft-hpc/weft/mpi"
)

// Form is how keys are exchanged.
type Form int

// The forms.
const (
	Blocking    Form = iota // an Alltoallv
	Nonblocking             // messages together, and counting as they come
)

// String returns the name of the form.
func (f Form) String() string { return [...]string{"blocking", "nonblocking"}[f] }

// exchange brings the keys to their ranks and counts them there.
func (f Form) exchange(s *Sort) error {
	if f == Nonblocking {
		return s.pieces()
	}
	recv := s.recv[:s.own]
	if err := s.comm.Alltoallv(mpi.Of(s.send), s.scounts, s.sdispls, mpi.Of(recv), s.rcounts, s.rdispls); err != nil {
		return err
	}
	s.begin()
	s.count(recv)
	return nil
}

// pieces starts all messages, counts the keys that stay here, and then those of each rank as
// they come.
func (s *Sort) pieces() error {
	p, me := s.comm.Size(), s.comm.Rank()
	in, out := make([]*mpi.Request, p), make([]*mpi.Request, p)
	for i := 1; i < p; i++ {
		from, to := (me-i+p)%p, (me+i)%p
		in[from] = s.comm.Irecv(mpi.Of(s.part(from)), from, 0)
		out[to] = s.comm.Isend(mpi.Of(s.send[s.sdispls[to]:][:s.scounts[to]]), to, 0)
	}
	s.begin()
	s.count(s.send[s.sdispls[me]:][:s.scounts[me]])
	for range p - 1 {
		from, _, err := mpi.Waitany(in...)
		if err != nil {
			return fmt.Errorf("keys of rank %d: %w", from, err)
		}
		in[from] = nil
		s.count(s.part(from))
	}
	return mpi.Waitall(out...)
}

// part returns the keys received from a rank.
func (s *Sort) part(from int) []int32 { return s.recv[s.rdispls[from]:][:s.rcounts[from]] }
