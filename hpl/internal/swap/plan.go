package swap

import (
	"fmt"
	"math/bits"
	"slices"
)

// Plan lists the row moves of one panel, as one process row sees them. It depends on the
// pivots alone, so one plan serves all columns, whole or in pieces of any width. It does
// not change after New: any goroutines may use it at the same time.
type Plan struct {
	rank, size int
	order      []int // process rows in the order of their shares; the owner first
	base       []int // share i is rows base[i] to base[i+1] of U, in the order of the shares
	placeInU   []int // place of each of these rows in U

	leaving []int // leavers of share i's process row; 0 for the owner
	head    int   // rows of the work buffer before the shares

	share []int  // local rows of this rank's share
	leave []int  // owner: local rows of leavers to others, in the order of the work buffer
	enter []int  // local rows that receive leavers of the owner
	stay  []move // owner: leavers that stay, as local rows
}

// New returns the plan of the panel from column first on: pivots[j] is the global row exchanged with row
// first+j, and not above it, for j = 0, 1, ... in this order. Rows are dealt in blocks of nb to size
// process rows in turn, beginning with 0; rank is this one. New allocates some integers per
// pivot. It panics if the panel does not lie in one block, or if a pivot lies above its row.
func New(rank, size, nb, first int, pivots []int) *Plan {
	if rank < 0 || rank >= size || nb < 1 || first < 0 || first%nb+len(pivots) > nb {
		panic(fmt.Sprintf("swap: no plan of %d pivots from row %d on in blocks of %d as process row %d of %d", len(pivots), first, nb, rank, size))
	}
	d := distribution{nb: nb, size: size}
	owner, _ := d.of(first)
	p := &Plan{rank: rank, size: size, order: order(owner, size)}
	top, below := trace(first, pivots)
	p.addShares(d, top)
	p.addLeavers(d, below)
	return p
}

// distribution deals rows out in blocks.
type distribution struct{ nb, size int }

// of returns the process row of a global row, and its local number there.
func (d distribution) of(row int) (rank, local int) {
	return row / d.nb % d.size, row/d.nb/d.size*d.nb + row%d.nb
}

// order returns the process rows in the order of their shares: by distance from the owner;
// a row above the largest power of two follows its partner in BinaryExchange.
func order(owner, size int) (ranks []int) {
	m := power(size)
	for v := range m {
		ranks = append(ranks, (owner+v)%size)
		if v+m < size {
			ranks = append(ranks, (owner+v+m)%size)
		}
	}
	return ranks
}

// power returns the largest power of two up to n.
func power(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// addShares records the owners of the rows top, which end up in U.
func (p *Plan) addShares(d distribution, top []int) {
	p.base = []int{0}
	for _, r := range p.order {
		for j, row := range top {
			if rank, local := d.of(row); rank == r {
				p.placeInU = append(p.placeInU, j)
				if r == p.rank {
					p.share = append(p.share, local)
				}
			}
		}
		p.base = append(p.base, len(p.placeInU))
	}
}

// addLeavers records the destinations of the rows that leave the triangle. In the work
// buffer of the owner, the leavers to the second share's process row are the last.
func (p *Plan) addLeavers(d distribution, below []move) {
	p.leaving = make([]int, p.size)
	for i := p.size - 1; i >= 0; i-- {
		for _, m := range below {
			_, from := d.of(m.from)
			rank, to := d.of(m.to)
			switch {
			case rank != p.order[i]:
			case i == 0:
				p.stay = append(p.stay, move{from, to})
			default:
				p.leaving[i]++
				p.leave = append(p.leave, from)
				if rank == p.rank {
					p.enter = append(p.enter, to)
				}
			}
		}
	}
	if p.rank != p.order[0] {
		p.leave, p.stay = nil, nil
	}
	p.head = len(p.leave) + len(p.enter)
}

// move is a row that leaves the triangle.
type move struct{ from, to int }

// trace follows the exchanges of rows. top[j] is the row that ends up in row first+j; below
// lists the rows that end up below, ordered by destination. All of these come from the
// triangle: a pivot row receives the content of row first+j, which can have come only from
// rows first to first+j.
func trace(first int, pivots []int) (top []int, below []move) {
	end := first + len(pivots)
	top = make([]int, len(pivots))
	for j := range top {
		top[j] = first + j
	}
	moved := make(map[int]int, len(pivots)) // by row below: number of the row now there
	for j, to := range pivots {
		switch {
		case to < first+j:
			panic(fmt.Sprintf("swap: the pivot of row %d is row %d, which is above it", first+j, to))
		case to < end:
			top[j], top[to-first] = top[to-first], top[j]
		default:
			now, ok := moved[to]
			if !ok {
				now = to
			}
			moved[to], top[j] = top[j], now
		}
	}
	for to, from := range moved {
		below = append(below, move{from, to})
	}
	slices.SortFunc(below, func(a, b move) int { return a.to - b.to })
	return top, below
}

// Rows returns the number of rows of U.
func (p *Plan) Rows() int { return len(p.placeInU) }

// Work returns the number of elements of a work buffer for n columns, at most twice U's.
func (p *Plan) Work(n int) int { return (p.head + len(p.placeInU)) * n }
