package hpl

import (
	"math"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// pivot finds the largest element of column c among the active rows, moves its row to row c
// of the triangle, in all columns of the panel, and returns the element. The replaced row
// takes the pivot's place.
func (f *factorization) pivot(c int) (value float64, err error) {
	i := f.active(c)
	best := -1 // none
	if i < f.m {
		best = i + f.k.Idamax(f.m-i, f.a[i+c*f.lda:], 1)
	}
	if f.exchange != nil {
		defer f.s.watch.since(osthread.Nanotime(), timeMaxSwap)
		return f.pivotAcross(c, i, best)
	}
	if best != c {
		f.k.Dswap(f.p.jb, f.a[c:], f.lda, f.a[best:], f.lda)
	}
	f.pivots[c] = f.p.j + best
	return f.element(c, c, f.m-c), nil
}

// pivotAcross is pivot with rows on several processes: row best, of the rows from i on, is the
// local candidate, none if negative.
func (f *factorization) pivotAcross(c, i, best int) (value float64, err error) {
	t, rows := f.exchange, f.s.matrix.rows
	mine := t.mine
	mine.clear()
	if best >= 0 {
		mine.set(f.element(best, c, f.m-i), rows.global(f.p.top+best))
		f.k.Dcopy(f.p.jb, f.a[best:], f.lda, mine.pivotRow(), 1)
	}
	if f.owner {
		f.k.Dcopy(f.p.jb, f.a[c:], f.lda, mine.addTopRow(), 1)
	}
	if err := t.run(); err != nil {
		return 0, err
	}
	f.k.Dcopy(f.p.jb, mine.pivotRow(), 1, f.top(c, 0), f.ldl)
	row := mine.row()
	f.pivots[c] = row
	if who, at := rows.locate(row); who == f.s.grid.row && row != f.p.j+c {
		f.k.Dcopy(f.p.jb, mine.topRow(), 1, f.a[at-f.p.top:], f.lda)
	}
	if f.s.model != nil {
		return mine[candidateSize], nil
	}
	return mine.pivotRow()[c], nil
}

// element returns element (i, c) of a, the largest of n; with modelled kernels one for it.
func (f *factorization) element(i, c, n int) float64 {
	if f.s.model != nil {
		return f.s.model.Largest(n)
	}
	return f.a[i+c*f.lda]
}

// candidate is the message of one process for one pivot: netlib's 2*jb+4 numbers. It begins
// with the size of the best element (negative if there is none), its global row, a flag
// that the row of the triangle follows, and an unused number. Then come the pivot row and
// the row of the triangle.
type candidate []float64

const (
	candidateSize = iota
	candidateRow
	candidateTop
	candidateHead = 4
)

func (c candidate) clear() { c[candidateSize], c[candidateRow], c[candidateTop] = -1, 0, 0 }

// set announces the element in global row. A NaN beats all others, so that all processes
// choose the same.
func (c candidate) set(value float64, row int) {
	c[candidateSize], c[candidateRow] = math.Abs(value), float64(row)
	if math.IsNaN(value) {
		c[candidateSize] = math.Inf(1)
	}
}

func (c candidate) pivotRow() []float64 { return c[candidateHead:][:(len(c)-candidateHead)/2] }
func (c candidate) topRow() []float64   { return c[candidateHead+(len(c)-candidateHead)/2:] }
func (c candidate) row() int            { return int(c[candidateRow]) }

// addTopRow returns the memory for the row of the triangle, and marks it as present.
func (c candidate) addTopRow() []float64 {
	c[candidateTop] = 1
	return c.topRow()
}

// merge takes the better parts of other: the larger element (of equal ones the upper row),
// and the row of the triangle.
func (c candidate) merge(other candidate) {
	if a, b := c[candidateSize], other[candidateSize]; b > a || b == a && other[candidateRow] < c[candidateRow] {
		c[candidateSize], c[candidateRow] = b, other[candidateRow]
		copy(c.pivotRow(), other.pivotRow())
	}
	if c[candidateTop] == 0 && other[candidateTop] != 0 {
		copy(c.addTopRow(), other.topRow())
	}
}

// pivotExchange exchanges candidates among the processes of a column.
type pivotExchange struct {
	c            *mpi.Comm
	mine, theirs candidate
	me, size     int // distance from the process row of the triangle
	root         int

	awake    bool          // wait polls instead of blocking in the engine
	waits    int           // number of waits so far
	shortest time.Duration // shortest of them
}

func newPivotExchange(c *mpi.Comm, root, jb int) *pivotExchange {
	n := candidateHead + 2*jb
	return &pivotExchange{
		c: c, mine: make(candidate, n), theirs: make(candidate, n),
		me: (c.Rank() - root + c.Size()) % c.Size(), size: c.Size(), root: root,
		shortest: time.Hour,
	}
}

// pivotTag is the tag of candidates; they follow each other in order.
const pivotTag = 1

// run merges the candidates of all processes into mine, on all of them, by binary exchange:
// log2(P) rounds in which each process exchanges with one other. The processes beyond the
// largest power of two send theirs to a partner first, and receive the result at the end.
func (t *pivotExchange) run() error {
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

// send sends mine to the process at distance to.
func (t *pivotExchange) send(to int) error {
	if t.awake {
		return t.wait(t.c.Isend(mpi.Of(t.mine), t.rank(to), pivotTag))
	}
	return t.c.Send(mpi.Of(t.mine), t.rank(to), pivotTag)
}

// receive receives a candidate from the process at distance from.
func (t *pivotExchange) receive(o candidate, from int) error {
	if t.awake {
		return t.wait(t.c.Irecv(mpi.Of(o), t.rank(from), pivotTag))
	}
	_, err := t.c.Recv(mpi.Of(o), t.rank(from), pivotTag)
	return err
}

// meet exchanges candidates with the process at distance other.
func (t *pivotExchange) meet(other int) error {
	mine, theirs, peer := mpi.Of(t.mine), mpi.Of(t.theirs), t.rank(other)
	if t.awake {
		return t.wait(t.c.Irecv(theirs, peer, pivotTag), t.c.Isend(mine, peer, pivotTag))
	}
	_, err := t.c.Sendrecv(mine, peer, pivotTag, theirs, peer, pivotTag)
	return err
}

// Limits of polling in wait on a comm thread.
const (
	awakeLimit  = 50 * time.Microsecond // longer than the wake-up of a sleeping peer
	fastMessage = 30 * time.Microsecond // sleep through messages that take longer
	trials      = 4
)

// wait waits for messages and polls for awakeLimit first. Where a comm thread shares its
// core with a worker, sleep and wake-up take several times as long as a message of a fast
// network, and then the waiting peers sleep as well. If none of the first messages of a
// panel is fast, the thread sleeps in all later waits, and the worker computes.
func (t *pivotExchange) wait(all ...*mpi.Request) error {
	begin := osthread.Nanotime()
	for {
		done, err := mpi.Testall(all...) // on a comm thread, other bodies run here
		took := time.Duration(osthread.Nanotime() - begin)
		if !done && took >= osthread.SpinBudget(awakeLimit) {
			err = mpi.Waitall(all...)
			took = time.Duration(osthread.Nanotime() - begin)
			osthread.Spun(min(took, awakeLimit))
		} else if !done {
			continue
		}
		t.shortest = min(t.shortest, took)
		if t.waits++; t.waits == trials {
			t.awake = t.shortest <= fastMessage
		}
		return err
	}
}

// rank returns the rank of the process at a distance.
func (t *pivotExchange) rank(distance int) int { return (distance + t.root) % t.size }
