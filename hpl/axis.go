package hpl

// axis is one dimension of a matrix, cut into blocks of nb indices that are dealt to
// procs processes in turn, the first to process 0: the block-cyclic distribution. It
// speaks for process me: local indices are those it has, one after the other, from 0.
type axis struct {
	n, nb     int
	procs, me int
}

// before returns how many of the first g indices are local: netlib's numroc. It is also
// the local index of g if g is local, and of the next local one if it is not.
func (x axis) before(g int) int { return x.beforeAt(g, x.me) }

// beforeAt is before for process who.
func (x axis) beforeAt(g, who int) int {
	blocks := g / x.nb
	n := blocks / x.procs * x.nb
	switch extra := blocks % x.procs; {
	case who < extra:
		n += x.nb
	case who == extra:
		n += g % x.nb
	}
	return n
}

// local returns the number of local indices.
func (x axis) local() int { return x.before(x.n) }

// global returns the index that is local index l.
func (x axis) global(l int) int {
	return (l/x.nb*x.procs+x.me)*x.nb + l%x.nb
}

// owner returns the process that has index g.
func (x axis) owner(g int) int { return g / x.nb % x.procs }

// place returns the process that has index g, and the index there.
func (x axis) place(g int) (who, l int) {
	who = x.owner(g)
	return who, x.beforeAt(g, who)
}
