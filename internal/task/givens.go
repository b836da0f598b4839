package task

import (
	"cmp"
	"slices"

	"github.com/weft-hpc/weft/deps"
)

// given is an access of a parent, as its children see it.
type given struct {
	Access
	region deps.Region
	gate   *Gate   // for a weak access
	reach  uintptr // highest address in its subtree
}

// givens holds the accesses of a parent, for searches by the accesses of children. The
// slice, sorted by first address, is a binary tree: the root is in the middle, and so on in
// both halves.
type givens struct {
	tree  []given
	known bool
	looks int // accesses visited, for tests
}

// parents returns the accesses of the parent of d. They no longer change.
func (d *Domain) parents() *givens {
	if !d.given.known {
		d.given.fill(d.Parent)
	}
	return &d.given
}

func (x *givens) fill(p *Record) {
	clear(x.tree)
	x.tree, x.known = x.tree[:0], true
	gates := 0
	p.Accesses(func(a Access) {
		g := given{Access: a, region: a.Entry.Region()}
		if a.Weak {
			g.gate = p.cold.Gates[gates]
			gates++
		}
		x.tree = append(x.tree, g)
	})
	// Stable: the order of equal bases must not depend on the addresses.
	slices.SortStableFunc(x.tree, func(a, b given) int { return cmp.Compare(a.region.Base(), b.region.Base()) })
	reach(x.tree)
}

// reach computes the reach of every subtree.
func reach(tree []given) uintptr {
	if len(tree) == 0 {
		return 0
	}
	mid := len(tree) / 2
	g := &tree[mid]
	g.reach = max(g.region.Last(), reach(tree[:mid]), reach(tree[mid+1:]))
	return g.reach
}

// around calls f for every access whose region overlaps r.
func (x *givens) around(r deps.Region, f func(*given)) { x.search(x.tree, r, f) }

func (x *givens) search(tree []given, r deps.Region, f func(*given)) {
	for len(tree) > 0 {
		x.looks++
		mid := len(tree) / 2
		g := &tree[mid]
		if g.reach < r.Base() {
			return
		}
		x.search(tree[:mid], r, f)
		if g.region.Base() > r.Last() {
			return
		}
		if g.region.Overlaps(r) {
			f(g)
		}
		tree = tree[mid+1:]
	}
}
