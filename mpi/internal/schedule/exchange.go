package schedule

import "github.com/weft-hpc/weft/internal/engine"

// gather: every rank sends to the root. Only the root has the counts, so the ranks cannot
// agree on a tree.
func (s *schedule) gather(root int) {
	k := s.k
	if s.rank != root {
		s.send(root, k.Send)
		return
	}
	if !k.Send.IsInPlace() {
		s.copy(s.part(k.Recv, k.RecvCounts, k.RecvDispls, root), k.Send)
	}
	for i := 1; i < s.size; i++ {
		r := s.at(i)
		s.recv(r, s.part(k.Recv, k.RecvCounts, k.RecvDispls, r))
		s.endWindow(i)
	}
}

// scatter: the root sends to every rank.
func (s *schedule) scatter(root int) {
	k := s.k
	if s.rank != root {
		s.recv(root, k.Recv)
		return
	}
	if !k.Recv.IsInPlace() {
		s.copy(k.Recv, s.part(k.Send, k.SendCounts, k.SendDispls, root))
	}
	for i := 1; i < s.size; i++ {
		r := s.at(i)
		s.send(r, s.part(k.Send, k.SendCounts, k.SendDispls, r))
		s.endWindow(i)
	}
}

// endWindow ends the round after every inFlight-th message.
func (s *schedule) endWindow(i int) {
	if i%inFlight == 0 {
		s.end()
	}
}

// alltoall: at distance i every rank sends to the i-th after it and receives from
// the i-th before it. With counts, empty parts are not sent.
func (s *schedule) alltoall() {
	k := s.k
	out := func(r int) engine.Buffer { return s.part(k.Send, k.SendCounts, k.SendDispls, r) }
	in := func(r int) engine.Buffer { return s.part(k.Recv, k.RecvCounts, k.RecvDispls, r) }
	s.copy(in(s.rank), out(s.rank))
	for i := 1; i < s.size; i++ {
		from, to := s.at(-i), s.at(i)
		if b := in(from); b.Len() > 0 || k.RecvCounts == nil {
			s.recv(from, b)
		}
		if b := out(to); b.Len() > 0 || k.SendCounts == nil {
			s.send(to, b)
		}
		s.endWindow(i)
	}
}

func (s *schedule) allgather() {
	k := s.k
	total := k.Recv.Len()
	if k.RecvCounts != nil {
		total = 0
		for _, n := range k.RecvCounts {
			total += n
		}
	}
	if bruck(s.size, total*k.Recv.ElemSize()) {
		s.allgatherBruck(total)
	} else {
		s.allgatherRing()
	}
}

func (s *schedule) gathered(r int) engine.Buffer {
	return s.part(s.k.Recv, s.k.RecvCounts, s.k.RecvDispls, r)
}

// allgatherRing: each part travels around the ring.
func (s *schedule) allgatherRing() {
	if !s.k.Send.IsInPlace() {
		s.copy(s.gathered(s.rank), s.k.Send)
		s.end()
	}
	for i := range s.size - 1 {
		s.recv(s.at(-1), s.gathered(s.at(-i-1)))
		s.send(s.at(1), s.gathered(s.at(-i)))
		s.end()
	}
}

// allgatherBruck: Bruck and others (1997). The work buffer holds the parts of the ranks from
// this one on; their number doubles in each round.
func (s *schedule) allgatherBruck(total int) {
	work := s.temp(total, s.k.Recv)
	starts := s.table(s.size + 1)
	for i := range s.size {
		starts[i+1] = starts[i] + s.gathered(s.at(i)).Len()
	}
	span := func(from, to int) engine.Buffer { return work.Part(starts[from], starts[to]-starts[from]) }
	if s.k.Send.IsInPlace() {
		s.copy(span(0, 1), s.gathered(s.rank))
	} else {
		s.copy(span(0, 1), s.k.Send)
	}
	s.end()
	for m := 1; m < s.size; m *= 2 {
		n := min(m, s.size-m)
		s.recv(s.at(m), span(m, m+n))
		s.send(s.at(-m), span(0, n))
		s.end()
	}
	for i := range s.size {
		s.copy(s.gathered(s.at(i)), span(i, i+1))
	}
}
