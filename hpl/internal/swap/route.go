package swap

import "github.com/weft-hpc/weft/hpl/internal/route"

// Route returns the messages of this process row between Pack and Unpack, on the work
// buffer for n columns. Ranks are ranks of the column communicator.
func (p *Plan) Route(algorithm Algorithm, n int) []route.Step {
	if n == 0 || p.size == 1 {
		return nil
	}
	b := &builder{p: p, n: n}
	extra := p.size - power(p.size)
	// The leavers to the second share's process row travel with the first share, if that
	// goes there as it is.
	switch {
	case algorithm == BinaryExchange:
		b.leavers(extra == 0)
		b.exchange(power(p.size), extra)
	case algorithm == Equilibrated && p.size > 2 && p.unequal():
		b.leavers(false)
		b.equalize(p.equal())
		b.allgather(p.equal())
	default:
		b.leavers(true)
		b.allgather(p.base)
	}
	return b.steps
}

// unequal reports whether a share is more than 1.5 times as long as the average.
func (p *Plan) unequal() bool {
	longest := 0
	for i := range p.size {
		longest = max(longest, p.base[i+1]-p.base[i])
	}
	return 2*p.size*longest > 3*p.Rows()
}

// equal returns the bounds of shares of equal lengths.
func (p *Plan) equal() (bounds []int) {
	for i := range p.size + 1 {
		bounds = append(bounds, p.Rows()*i/p.size)
	}
	return bounds
}

// builder collects the messages of one rank. Shares number the process rows; rows are
// counted from the first share.
type builder struct {
	p     *Plan
	n     int
	lead  int // leavers that travel with the first share to the next process row
	steps []route.Step
}

// step adds a message of rows to or from the process row of share i, from row at of the
// work buffer on, if it has any rows.
func (b *builder) step(send bool, i, at, rows int) {
	if rows > 0 {
		b.steps = append(b.steps, route.Step{Send: send, Peer: b.p.order[i], At: at * b.n, Len: rows * b.n})
	}
}

// message adds the message of rows [lo, hi) of the shares, if this rank sends or receives
// it; lead rows of leavers precede them.
func (b *builder) message(from, to, lo, hi, lead int) {
	at, rows := b.p.head+lo-lead, hi-lo+lead
	switch b.p.rank {
	case b.p.order[from]:
		b.step(true, to, at, rows)
	case b.p.order[to]:
		b.step(false, from, at, rows)
	}
}

// leavers sends the owner's leavers. If joined, the leavers to the second share's process
// row wait for the first share.
func (b *builder) leavers(joined bool) {
	at := 0 // in the work buffer of the owner
	for i := b.p.size - 1; i > 0; i-- {
		rows := b.p.leaving[i]
		switch {
		case i == 1 && joined:
			b.lead = rows
		case b.p.rank == b.p.order[0]:
			b.step(true, i, at, rows)
		case b.p.rank == b.p.order[i]:
			b.step(false, 0, 0, rows)
		}
		at += rows
	}
}

// first returns the number of leavers that travel with the message from share from to share
// to.
func (b *builder) first(from, to int) int {
	if from == 0 && to == 1 {
		return b.lead
	}
	return 0
}

// exchange collects all shares on all process rows: m rows, a power of two, exchange all
// their data pairwise at growing distances; each extra one has a partner among them.
func (b *builder) exchange(m, extra int) {
	share := func(v int) int { return v + min(v, extra) } // of the process row at distance v
	base := b.p.base
	for v := range extra {
		i := share(v)
		b.message(i+1, i, base[i+1], base[i+2], 0)
	}
	for d := 1; d < m; d *= 2 {
		for v := range m {
			group := v &^ (d - 1)
			from, to := share(v), share(v^d)
			b.message(from, to, base[share(group)], base[share(group+d)], b.first(from, to))
		}
	}
	for v := range extra {
		i := share(v)
		b.message(i, i+1, 0, base[i+1], 0)
		b.message(i, i+1, base[i+2], b.p.Rows(), 0)
	}
}

// equalize sends every process row the missing rows of its new share.
func (b *builder) equalize(shares []int) {
	base := b.p.base
	for from := range b.p.size {
		for to := range b.p.size {
			lo, hi := max(base[from], shares[to]), min(base[from+1], shares[to+1])
			if from != to && lo < hi {
				b.message(from, to, lo, hi, 0)
			}
		}
	}
}

// allgather passes the shares around: in round s, process row i sends share i-s to the next
// one, without the rows that it had at the beginning.
func (b *builder) allgather(shares []int) {
	size, base := b.p.size, b.p.base
	for s := range size - 1 {
		for from := range size {
			share, to := (from-s+size)%size, (from+1)%size
			lo, hi, lead := shares[share], shares[share+1], 0
			if s == 0 {
				lead = b.first(from, to)
			}
			b.message(from, to, lo, max(lo, min(hi, base[to])), lead)
			lo = max(lo, base[to+1])
			b.message(from, to, lo, max(lo, hi), 0)
		}
	}
}
