package schedule

import "github.com/weft-hpc/weft/internal/engine"

// barrier: dissemination (Hensgen, Finkel, Manber 1988). After the round of distance m a
// rank knows, directly or not, that the 2m ranks up to itself have entered.
func (s *schedule) barrier() {
	for m := 1; m < s.size; m *= 2 {
		s.recv(s.at(-m), engine.Buffer{})
		s.send(s.at(m), engine.Buffer{})
		s.end()
	}
}

func (s *schedule) bcast(b engine.Buffer, root int) {
	segments, cost := pipeline(s.size, b.Bytes())
	if s.size <= 2 || treeCost(s.size, b.Bytes()) <= cost {
		s.bcastTree(b, root)
	} else {
		s.bcastChain(b, root, segments)
	}
}

// bcastTree: a binomial tree over the distances from the root, largest subtree first.
func (s *schedule) bcastTree(b engine.Buffer, root int) {
	me := (s.rank - root + s.size) % s.size
	mask := 1
	for mask < s.size && me&mask == 0 {
		mask *= 2
	}
	if me > 0 {
		s.recv(s.at(-mask), b)
		s.end()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if me+mask < s.size {
			s.send(s.at(mask), b)
		}
	}
	s.end()
}

// bcastChain: each rank forwards a segment while it receives the next.
func (s *schedule) bcastChain(b engine.Buffer, root, segments int) {
	me := (s.rank - root + s.size) % s.size
	work := b
	if !b.Contiguous() {
		if work = s.temp(b.Len(), b); me == 0 {
			s.copy(work, b)
			s.end()
		}
	}
	segment := func(i int) engine.Buffer {
		n, rest := work.Len()/segments, work.Len()%segments
		from := i*n + min(i, rest)
		return work.Part(from, (i+1)*n+min(i+1, rest)-from)
	}
	for i := 0; i <= segments; i++ {
		if me > 0 && i < segments {
			s.recv(s.at(-1), segment(i))
		}
		if me < s.size-1 && i > 0 {
			s.send(s.at(1), segment(i-1))
		}
		s.end()
	}
	if me > 0 && !b.Contiguous() {
		s.copy(b, work)
		s.end()
	}
}
