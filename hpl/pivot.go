package hpl

import (
	"math"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// pivot finds the largest element of column c among the active rows, makes its row the
// row c of the triangle, in all columns of the panel, and returns the element. The row
// that was there takes its place.
func (f *factorization) pivot(c int) (value float64, err error) {
	i := f.active(c)
	best := -1 // none
	if i < f.m {
		best = i + f.k.Idamax(f.m-i, f.a[i+c*f.lda:], 1)
	}
	if f.trade != nil {
		defer f.s.watch.since(osthread.Nanotime(), timeMaxSwap)
		return f.pivotAcross(c, best)
	}
	if best != c {
		f.k.Dswap(f.p.jb, f.a[c:], f.lda, f.a[best:], f.lda)
	}
	f.pivots[c] = f.p.j + best
	return f.a[c+c*f.lda], nil
}

// pivotAcross is pivot where the rows are in several processes: row best is the
// candidate of this one, unless it is negative.
func (f *factorization) pivotAcross(c, best int) (value float64, err error) {
	t, rows := f.trade, f.s.matrix.rows
	mine := t.mine
	mine.clear()
	if best >= 0 {
		mine.setCandidate(f.a[best+c*f.lda], rows.global(f.p.top+best))
		f.k.Dcopy(f.p.jb, f.a[best:], f.lda, mine.candidate(), 1)
	}
	if f.owner {
		f.k.Dcopy(f.p.jb, f.a[c:], f.lda, mine.giveTop(), 1)
	}
	if err := t.exchange(); err != nil {
		return 0, err
	}
	f.k.Dcopy(f.p.jb, mine.candidate(), 1, f.top(c, 0), f.ldl)
	row := mine.row()
	f.pivots[c] = row
	if who, at := rows.place(row); who == f.s.grid.row && row != f.p.j+c {
		f.k.Dcopy(f.p.jb, mine.top(), 1, f.a[at-f.p.top:], f.lda)
	}
	return mine.candidate()[c], nil
}

// offer is what the processes of a column tell each other for one pivot: netlib's
// message of 2*jb+4 numbers. In front stand the size of the best candidate (negative
// if there is none), its global row, and whether the row of the triangle follows; one
// is not used. Then come the candidate's row and the row of the triangle.
type offer []float64

const (
	offerSize = iota
	offerRow
	offerTop
	offerHead = 4
)

func (o offer) clear() { o[offerSize], o[offerRow], o[offerTop] = -1, 0, 0 }

// setCandidate announces the element in global row. One that is not a number
// beats all others, so that all processes choose the same.
func (o offer) setCandidate(value float64, row int) {
	o[offerSize], o[offerRow] = math.Abs(value), float64(row)
	if math.IsNaN(value) {
		o[offerSize] = math.Inf(1)
	}
}

func (o offer) candidate() []float64 { return o[offerHead:][:(len(o)-offerHead)/2] }
func (o offer) top() []float64       { return o[offerHead+(len(o)-offerHead)/2:] }
func (o offer) row() int             { return int(o[offerRow]) }

// giveTop returns the place of the row of the triangle, which is going to be there.
func (o offer) giveTop() []float64 {
	o[offerTop] = 1
	return o.top()
}

// merge takes what is better in other: the larger candidate, of equal ones the upper
// row, and the row of the triangle.
func (o offer) merge(other offer) {
	if a, b := o[offerSize], other[offerSize]; b > a || b == a && other[offerRow] < o[offerRow] {
		o[offerSize], o[offerRow] = b, other[offerRow]
		copy(o.candidate(), other.candidate())
	}
	if o[offerTop] == 0 && other[offerTop] != 0 {
		copy(o.giveTop(), other.top())
	}
}

// trade is the exchange of offers among the processes of a column.
type trade struct {
	c            *mpi.Comm
	mine, theirs offer
	me, size     int // distance from the process row of the triangle
	root         int

	awake    bool          // waits in wait, not in the engine
	waits    int           // so far
	shortest time.Duration // of these
}

func newTrade(c *mpi.Comm, root, jb int) *trade {
	n := offerHead + 2*jb
	return &trade{
		c: c, mine: make(offer, n), theirs: make(offer, n),
		me: (c.Rank() - root + c.Size()) % c.Size(), size: c.Size(), root: root,
		shortest: time.Hour,
	}
}

// pivotTag is for offers; they follow each other in order.
const pivotTag = 1

// exchange merges the offers of all processes into mine, on all of them, by binary
// exchange: log2(P) turns in which everybody meets one other. Those beyond the largest
// power of two give theirs to a partner before, and get the result afterwards.
func (t *trade) exchange() error {
	cube := 1
	for 2*cube <= t.size {
		cube *= 2
	}
	if t.me >= cube {
		if err := t.send(t.me - cube); err != nil {
			return err
		}
		return t.receive(t.mine, t.me-cube)
	}
	helper := t.me + cube
	if helper < t.size {
		if err := t.receive(t.theirs, helper); err != nil {
			return err
		}
		t.mine.merge(t.theirs)
	}
	for bit := 1; bit < cube; bit *= 2 {
		if err := t.meet(t.me ^ bit); err != nil {
			return err
		}
		t.mine.merge(t.theirs)
	}
	if helper < t.size {
		return t.send(helper)
	}
	return nil
}

// send gives mine to the process at a distance.
func (t *trade) send(to int) error {
	if t.awake {
		return t.wait(t.c.Isend(mpi.Of(t.mine), t.rank(to), pivotTag))
	}
	return t.c.Send(mpi.Of(t.mine), t.rank(to), pivotTag)
}

// receive takes an offer from the process at a distance.
func (t *trade) receive(o offer, from int) error {
	if t.awake {
		return t.wait(t.c.Irecv(mpi.Of(o), t.rank(from), pivotTag))
	}
	_, err := t.c.Recv(mpi.Of(o), t.rank(from), pivotTag)
	return err
}

// meet gives mine to the process at a distance, and takes theirs.
func (t *trade) meet(other int) error {
	mine, theirs, peer := mpi.Of(t.mine), mpi.Of(t.theirs), t.rank(other)
	if t.awake {
		return t.wait(t.c.Irecv(theirs, peer, pivotTag), t.c.Isend(mine, peer, pivotTag))
	}
	_, err := t.c.Sendrecv(mine, peer, pivotTag, theirs, peer, pivotTag)
	return err
}

// How long a trade on a comm thread waits awake, and when it gives that up.
const (
	patience = 50 * time.Microsecond // more than it takes to wake a peer that sleeps
	fast     = 30 * time.Microsecond // a message that takes longer is better slept through
	trials   = 4
)

// wait waits for messages, awake for a while: where a comm thread shares its core with a
// worker, to sleep and to be woken takes several times as long as a message of a fast
// network, and then the peers, who wait meanwhile, sleep as well. Where none of the first
// messages of a panel is fast, the thread sleeps from then on, and the worker computes.
func (t *trade) wait(all ...*mpi.Request) error {
	begin := osthread.Nanotime()
	for {
		done, err := mpi.Testall(all...) // on a comm thread, the others' turn
		took := time.Duration(osthread.Nanotime() - begin)
		if !done && took > patience {
			err = mpi.Waitall(all...)
		} else if !done {
			continue
		}
		t.shortest = min(t.shortest, took)
		if t.waits++; t.waits == trials {
			t.awake = t.shortest <= fast
		}
		return err
	}
}

// rank returns the rank at a distance.
func (t *trade) rank(distance int) int { return (distance + t.root) % t.size }
