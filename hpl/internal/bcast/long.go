package bcast

// long scatters the panel over rank 0 and the ranks from first on, and then passes the
// parts around the ring. The members of the ring are numbered without gap: member 0 is the
// root, member i > 0 is rank first-1+i.
func (b *builder) long(first int) {
	l := &ring{b: b, first: first, members: b.size - first + 1}
	if l.members < 2 {
		return
	}
	has := make([]int, l.members) // member i has the parts [i, has[i]) after the scatter
	l.scatter(0, l.members, has)
	l.allgather(has)
}

// ring is the set of ranks that pass a panel around.
type ring struct {
	b              *builder
	first, members int
}

// rank returns the distance of a member from the root.
func (l *ring) rank(member int) int {
	if member == 0 {
		return 0
	}
	return l.first - 1 + member
}

// message sends the parts [lo, hi); part i is an equal share of the panel, which member i
// gets in the scatter.
func (l *ring) message(from, to, lo, hi int) {
	l.b.message(l.rank(from), l.rank(to), l.b.n*lo/l.members, l.b.n*hi/l.members)
}

// scatter distributes the parts [lo, hi) of member lo over the members of the same numbers.
func (l *ring) scatter(lo, hi int, has []int) {
	has[lo] = hi
	for hi-lo > 1 {
		middle := lo + (hi-lo+1)/2
		l.message(lo, middle, middle, hi)
		l.scatter(middle, hi, has)
		hi = middle
	}
}

// allgather passes part after part to the right: in round s, member i sends part i-s to the
// next member, unless that has it.
func (l *ring) allgather(has []int) {
	for s := range l.members - 1 {
		for i := range l.members {
			part, to := (i-s+l.members)%l.members, (i+1)%l.members
			if part < to || part >= has[to] {
				l.message(i, to, part, part+1)
			}
		}
	}
}
