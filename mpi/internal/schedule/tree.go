package schedule

import "math/bits"

// tree is the order in which all reductions of p ranks combine. Neighbouring ranks form
// groups: the first groups have two ranks, the others one, so that the number of groups is a
// power of two. Groups 2i and 2i+1 combine, then pairs of these, and so on. The lower
// operand always comes from the lower ranks. Every algorithm follows this tree, so a result
// depends only on the number of ranks: not on the root, the length or the algorithm.
type tree struct {
	groups int // a power of two
	pairs  int // groups of two ranks
}

func newTree(p int) tree {
	groups := 1 << (bits.Len(uint(p)) - 1)
	return tree{groups: groups, pairs: p - groups}
}

// group returns the group of a rank.
func (t tree) group(rank int) int {
	if rank < 2*t.pairs {
		return rank / 2
	}
	return rank - t.pairs
}

// leader returns the rank that works for group g: its first rank, or root if that is in g.
func (t tree) leader(g, root int) int {
	switch {
	case g >= t.pairs:
		return g + t.pairs
	case root == 2*g+1:
		return root
	}
	return 2 * g
}

// paired reports whether the rank shares its group with a neighbour.
func (t tree) paired(rank int) bool { return rank < 2*t.pairs }

// groupOwner returns the group that works for the aligned block of m groups around g:
// rootGroup if it is in the block, else the first.
func groupOwner(g, m, rootGroup int) int {
	first := g &^ (m - 1)
	if rootGroup >= first && rootGroup < first+m {
		return rootGroup
	}
	return first
}

// reversed returns g with its log2(groups) bits in the opposite order.
func (t tree) reversed(g int) int {
	if t.groups == 1 {
		return g
	}
	return int(bits.Reverse64(uint64(g)) >> (64 - bits.Len(uint(t.groups-1))))
}
