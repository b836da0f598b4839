package schedule

import "github.com/weft-hpc/weft/internal/engine"

// reduceScatter: recursive halving along the tree. At the step of distance m a rank keeps
// the parts of the groups whose number has the same bit m as its own. Parts in the order of
// reversed group numbers make these contiguous.
func (s *schedule) reduceScatter() {
	in, counts := s.input(), s.k.RecvCounts
	o := s.emptyOperand(s.temp(in.Len(), in), -1)
	starts := s.permute(o.value, in, o.t)
	if !o.fold() {
		s.takePart(s.rank ^ 1)
		return
	}
	lo, hi := 0, o.t.groups
	for m := 1; m < o.t.groups; m *= 2 {
		other := o.t.leader(o.group^m, -1)
		middle := (lo + hi) / 2
		if o.group&m == 0 {
			s.send(other, o.value.Part(starts[middle], starts[hi]-starts[middle]))
			hi = middle
		} else {
			s.send(other, o.value.Part(starts[lo], starts[middle]-starts[lo]))
			lo = middle
		}
		s.recv(other, o.incoming.Part(starts[lo], starts[hi]-starts[lo]))
		o.merge(other, starts[lo], starts[hi])
	}
	n := counts[s.rank]
	if o.t.paired(s.rank) {
		s.send(s.rank^1, o.value.Part(starts[lo]+n, counts[s.rank^1]))
	}
	s.copy(s.k.Recv, o.value.Part(starts[lo], n))
}

// permute copies the parts of in to out in the order of reversed group numbers, and returns
// their starts.
func (s *schedule) permute(out, in engine.Buffer, t tree) (starts []int) {
	k := s.k
	if !in.Contiguous() {
		packed := s.temp(in.Len(), in)
		s.copy(packed, in)
		in = packed
	}
	starts = s.table(t.groups + 1)
	for i := range t.groups {
		g := t.reversed(i)
		first := t.leader(g, -1)
		n := k.RecvCounts[first]
		if t.paired(first) {
			n += k.RecvCounts[first+1]
		}
		s.copy(out.Part(starts[i], n), in.Part(k.RecvDispls[first], n))
		starts[i+1] = starts[i] + n
	}
	s.end()
	return starts
}

// takePart receives the part of this rank from the leader of its group.
func (s *schedule) takePart(leader int) {
	k := s.k
	if !k.Send.IsInPlace() {
		s.recv(leader, k.Recv)
		return
	}
	part := s.temp(k.RecvCounts[s.rank], k.Recv)
	s.recv(leader, part)
	s.copy(k.Recv, part)
}

// scan: doubling distances (Hillis and Steele 1986). After the step of distance m a rank has
// combined the 2m ranks up to itself.
func (s *schedule) scan() {
	o := s.operand(-1)
	o.scanFrom(0)
}

// exscan: the inputs move up by one rank, and the ranks above the first scan them.
func (s *schedule) exscan() {
	in := s.input()
	if s.rank+1 < s.size {
		s.send(s.rank+1, in)
	}
	if s.rank == 0 {
		return
	}
	value := s.k.Recv
	if s.k.Send.IsInPlace() || !value.Contiguous() {
		value = s.temp(in.Len(), in)
	}
	o := s.emptyOperand(value, -1)
	s.recv(s.rank-1, o.value)
	s.end()
	o.scanFrom(1)
}

// scanFrom scans the operands of the ranks from first on, into the receive buffer.
func (o *operand) scanFrom(first int) {
	s := o.s
	for m := 1; m < s.size-first; m *= 2 {
		if s.rank+m < s.size {
			s.send(s.rank+m, o.value)
		}
		if s.rank-m < first {
			s.end()
			continue
		}
		s.recv(s.rank-m, o.incoming)
		o.merge(s.rank-m, 0, o.value.Len())
	}
	o.deliver()
}
