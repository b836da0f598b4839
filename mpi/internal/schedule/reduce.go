package schedule

import "github.com/weft-hpc/weft/internal/engine"

// operand is the state of a reduction on one rank: the value combined so far, and a buffer
// for the next one.
type operand struct {
	s               *schedule
	value           engine.Buffer // contiguous
	incoming        engine.Buffer // as long
	t               tree
	root, rootGroup int // of a reduction to one rank; else -1
	group           int
}

// operand returns an operand that holds the input of this rank. Its value is the receive
// buffer, if this rank has a contiguous one, else a temporary buffer.
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

func (s *schedule) emptyOperand(value engine.Buffer, root int) *operand {
	o := &s.reduction
	*o = operand{s: s, value: value, incoming: s.temp(value.Len(), value), t: newTree(s.size), root: root, rootGroup: -1}
	o.group = o.t.group(s.rank)
	if root >= 0 {
		o.rootGroup = o.t.group(root)
	}
	return o
}

// merge ends a round that receives elements [from, to) from peer, and combines them into
// value. The other elements of value are lost.
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

// fold combines the ranks of each group of two. It reports whether this rank leads its group.
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

// deliver copies the value to the receive buffer, unless it is in there.
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

// reduceTree: at each step one of two neighbouring blocks of groups sends to the other.
func (s *schedule) reduceTree(root int) {
	t := newTree(s.size)
	if to := s.leafTarget(t, root); to >= 0 {
		s.send(to, s.input())
		return
	}
	o := s.operand(root)
	o.fold() // this rank leads its group
	for m := 1; m < t.groups; m *= 2 {
		other := t.leader(groupOwner(o.group^m, m, o.rootGroup), root)
		if groupOwner(o.group, 2*m, o.rootGroup) != o.group {
			s.send(other, o.value)
			return
		}
		s.recv(other, o.incoming)
		o.merge(other, 0, o.value.Len())
	}
	o.deliver()
}

// leafTarget returns the rank to which a leaf of the tree sends its input; -1 if this rank is
// not a leaf.
func (s *schedule) leafTarget(t tree, root int) int {
	g, rootGroup := t.group(s.rank), t.group(root)
	switch {
	case t.paired(s.rank) && t.leader(g, root) != s.rank:
		return s.rank ^ 1
	case t.paired(s.rank) || t.groups == 1 || groupOwner(g, 2, rootGroup) == g:
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

// halve exchanges halves: after the step of distance m, the operand holds one of 2m parts of
// the vector, combined over 2m groups.
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

// collect reverses the steps of halve: each pair joins its parts on both ranks, or on the
// rank on the side of the root. It reports whether this rank has the whole vector.
func (o *operand) collect() bool {
	s := o.s
	for m := o.t.groups / 2; m > 0; m /= 2 {
		lo, middle, hi := o.cut(m)
		mine, theirs := o.value.Part(lo, middle-lo), o.value.Part(middle, hi-middle)
		if o.group&m != 0 {
			mine, theirs = theirs, mine
		}
		other := o.t.leader(o.group^m, o.root)
		receives := o.rootGroup < 0 || o.group&m == o.rootGroup&m
		if receives {
			s.recv(other, theirs)
		}
		if o.rootGroup < 0 || !receives {
			s.send(other, mine)
		}
		s.end()
		if !receives {
			return false
		}
	}
	return true
}

// cut returns the part [lo, hi) of the vector that the operand held before the step of
// distance m of halve, and the middle at which that step cut it.
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
