package bcast

// long spreads the panel over 0 and the ranks from first on, and rolls it around. The
// members of the ring are counted without gap: member 0 is the root, member i > 0 the
// rank first-1+i.
func (b *builder) long(first int) {
	l := &ring{b: b, first: first, members: b.size - first + 1}
	if l.members < 2 {
		return
	}
	has := make([]int, l.members) // member i has the parts [i, has[i]) when they are spread
	l.spread(0, l.members, has)
	l.roll(has)
}

// ring is the members among which a panel is rolled.
type ring struct {
	b              *builder
	first, members int
}

// rank returns the distance of a member.
func (l *ring) rank(member int) int {
	if member == 0 {
		return 0
	}
	return l.first - 1 + member
}

// message passes the parts [lo, hi); part i is an equal share of the panel, which ends
// up first with member i.
func (l *ring) message(from, to, lo, hi int) {
	l.b.message(l.rank(from), l.rank(to), l.b.n*lo/l.members, l.b.n*hi/l.members)
}

// spread distributes the parts [lo, hi), which member lo has, over the members of the
// same numbers.
func (l *ring) spread(lo, hi int, has []int) {
	has[lo] = hi
	for hi-lo > 1 {
		middle := lo + (hi-lo+1)/2
		l.message(lo, middle, middle, hi)
		l.spread(middle, hi, has)
		hi = middle
	}
}

// roll passes part after part to the right: in turn s, member i gives part i-s to the next
// one, unless that has it.
func (l *ring) roll(has []int) {
	for s := range l.members - 1 {
		for i := range l.members {
			part, to := (i-s+l.members)%l.members, (i+1)%l.members
			if part < to || part >= has[to] {
				l.message(i, to, part, part+1)
			}
		}
	}
}
