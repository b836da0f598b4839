package hpl

// axis is one dimension of a matrix in block-cyclic distribution: blocks of nb indices are
// dealt to procs processes in turn, the first to process 0. It describes the view of
// process me; local indices number the indices of that process from 0.
type axis struct {
	n, nb     int
	procs, me int
}

// before returns the number of local indices among the first g: netlib's numroc. If g is
// local, this is its local index, otherwise the index of the next local one.
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

// global returns the global index of local index l.
func (x axis) global(l int) int {
	return (l/x.nb*x.procs+x.me)*x.nb + l%x.nb
}

// owner returns the process that has index g.
func (x axis) owner(g int) int { return g / x.nb % x.procs }

// locate returns the owner of index g, and its local index there.
func (x axis) locate(g int) (who, l int) {
	who = x.owner(g)
	return who, x.beforeAt(g, who)
}
