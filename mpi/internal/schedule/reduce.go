package schedule

import "github.com/weft-hpc/weft/mpi"

// operand is a rank's share of a reduction: what it has combined so far, and room
// for what comes.
type operand struct {
	s          *schedule
	value      mpi.Buffer // contiguous
	incoming   mpi.Buffer // as long
	t          tree
	root, home int // of a reduction to one rank: it and its group; else -1
	group      int
}

// operand returns the share of this rank with its input in it. It works in the
// receive buffer, if it is one.
func (s *schedule) operand(root int) *operand {
	in := s.input()
	value := s.k.Recv
	if root >= 0 && s.rank != root || !value.Contiguous() {
		value = s.temp(in.Len(), in)
	}
	o := s.emptyOperand(value, root)
	if !same(value, in) || !in.Contiguous() {
		s.copy(value, in)
		s.end()
	}
	return o
}

func (s *schedule) emptyOperand(value mpi.Buffer, root int) *operand {
	o := &s.share
	*o = operand{s: s, value: value, incoming: s.temp(value.Len(), value), t: newTree(s.size), root: root, home: -1}
	o.group = o.t.group(s.rank)
	if root >= 0 {
		o.home = o.t.group(root)
	}
	return o
}

// merge ends a round in which elements [from, to) have been received from peer, and
// combines them. What else was in value is lost.
func (o *operand) merge(peer, from, to int) {
	mine, other := o.value.Part(from, to-from), o.incoming.Part(from, to-from)
	if peer > o.s.rank {
		o.s.combine(mine, other)
	} else {
		o.s.combine(other, mine)
		o.value, o.incoming = o.incoming, o.value
	}
	o.s.end()
}

// fold combines the ranks of each group of two. It reports whether this rank goes on.
func (o *operand) fold() bool {
	s := o.s
	if !o.t.paired(s.rank) {
		return true
	}
	other := s.rank ^ 1
	if o.t.leader(o.group, o.root) != s.rank {
		s.send(other, o.value)
		s.end()
		return false
	}
	s.recv(other, o.incoming)
	o.merge(other, 0, o.value.Len())
	return true
}

// deliver copies the value to the receive buffer, unless it is there.
func (o *operand) deliver() {
	if recv := o.s.k.Recv; !recv.Contiguous() || !same(recv, o.value) {
		o.s.copy(recv, o.value)
	}
}

func (s *schedule) reduce(root int) {
	if !doubling(s.size, s.input().Bytes()) {
		s.reduceHalving(root)
		return
	}
	s.reduceTree(root)
}

// reduceTree: at each step the owners of two neighbouring sets of groups meet.
func (s *schedule) reduceTree(root int) {
	t := newTree(s.size)
	if to := s.leafOf(t, root); to >= 0 {
		s.send(to, s.input())
		return
	}
	o := s.operand(root)
	o.fold() // this rank leads its group
	for m := 1; m < t.groups; m *= 2 {
		other := t.leader(owner(o.group^m, m, o.home), root)
		if owner(o.group, 2*m, o.home) != o.group {
			s.send(other, o.value)
			return
		}
		s.recv(other, o.incoming)
		o.merge(other, 0, o.value.Len())
	}
	o.deliver()
}

// leafOf returns the rank to which this one sends its input as it is; -1 if it
// receives something before.
func (s *schedule) leafOf(t tree, root int) int {
	g, home := t.group(s.rank), t.group(root)
	switch {
	case t.paired(s.rank) && t.leader(g, root) != s.rank:
		return s.rank ^ 1
	case t.paired(s.rank) || t.groups == 1 || owner(g, 2, home) == g:
		return -1
	}
	return t.leader(g^1, root)
}

// allreduce: recursive doubling, or Rabenseifner's halving and doubling.
func (s *schedule) allreduce() {
	o := s.operand(-1)
	if !o.fold() {
		s.recv(s.rank^1, s.k.Recv)
		return
	}
	n := o.value.Len()
	if doubling(s.size, o.value.Bytes()) {
		for m := 1; m < o.t.groups; m *= 2 {
			other := o.t.leader(o.group^m, -1)
			s.recv(other, o.incoming)
			s.send(other, o.value)
			o.merge(other, 0, n)
		}
	} else {
		o.halve()
		o.collect()
	}
	if o.t.paired(s.rank) {
		s.send(s.rank^1, o.value)
	}
	o.deliver()
}

// reduceHalving: Rabenseifner's algorithm with the last part towards the root only.
func (s *schedule) reduceHalving(root int) {
	o := s.operand(root)
	if !o.fold() {
		return
	}
	o.halve()
	if o.collect() {
		o.deliver()
	}
}

// halve exchanges halves: after the step of distance m, the operand has the
// combination of 2m groups in one of 2m parts of the vector.
func (o *operand) halve() {
	lo, hi := 0, o.value.Len()
	for m := 1; m < o.t.groups; m *= 2 {
		other := o.t.leader(o.group^m, o.root)
		middle := lo + (hi-lo)/2
		if o.group&m == 0 {
			o.s.send(other, o.value.Part(middle, hi-middle))
			hi = middle
		} else {
			o.s.send(other, o.value.Part(lo, middle-lo))
			lo = middle
		}
		o.s.recv(other, o.incoming.Part(lo, hi-lo))
		o.merge(other, lo, hi)
	}
	if recv := o.s.k.Recv; recv.Contiguous() && same(recv, o.incoming) {
		o.s.copy(recv.Part(lo, hi-lo), o.value.Part(lo, hi-lo))
		o.s.end()
		o.value, o.incoming = o.incoming, o.value
	}
}

// collect goes the way of halve back: both parts of a pair come together on both
// sides, or on the side of the root. It reports whether this rank has all.
func (o *operand) collect() bool {
	s := o.s
	for m := o.t.groups / 2; m > 0; m /= 2 {
		lo, middle, hi := o.cut(m)
		mine, theirs := o.value.Part(lo, middle-lo), o.value.Part(middle, hi-middle)
		if o.group&m != 0 {
			mine, theirs = theirs, mine
		}
		other := o.t.leader(o.group^m, o.root)
		receives := o.home < 0 || o.group&m == o.home&m
		if receives {
			s.recv(other, theirs)
		}
		if o.home < 0 || !receives {
			s.send(other, mine)
		}
		s.end()
		if !receives {
			return false
		}
	}
	return true
}

// cut returns where the part of the vector that the operand had before the step of
// distance m of halve begins, was cut, and ends.
func (o *operand) cut(m int) (lo, middle, hi int) {
	lo, hi = 0, o.value.Len()
	for d := 1; ; d *= 2 {
		middle = lo + (hi-lo)/2
		if d == m {
			return lo, middle, hi
		}
		if o.group&d == 0 {
			hi = middle
		} else {
			lo = middle
		}
	}
}
