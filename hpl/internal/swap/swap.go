// Package swap exchanges the rows of the trailing matrix as the pivots of a panel say, in
// a block-cyclic distribution over P process rows: it brings U, the rows that end up
// beside the panel's triangle, to all of them, and puts the rows that leave the triangle
// where they belong.
//
// # Vocabulary
//
//	triangle     the rows k*NB to k*NB+NB-1 of panel k; their process row is the owner
//	U            what stands in the rows of the triangle after all exchanges
//	share        of a process row: the rows of U that it has
//	leaver       a row of the triangle that ends up below it
//	plan         who has which share, and where the leavers go
//	work buffer  shares and leavers on their way, row after row
//
// # How it goes
//
// The exchanges of a panel are one permutation, so each row moves once:
//
//	p := swap.New(rank, P, nb, k, pivots)     once per panel
//	p.Pack(n, a, lda, w)                      own share and leavers to the work buffer
//	route.Exchange(c, tag, w, p.Route(way, n))
//	p.Unpack(n, w, u, ldu, a, lda)            U, and the leavers that came
//
// or [Plan.Apply] for all three. The columns may be cut into pieces as one likes; the
// pieces may be under way at the same time, each with a tag of its own. Nobody
// writes into the rows of the triangle: the owner stores there what it makes of U.
//
// # The work buffer
//
//	owner     leavers of the others, those of process row 1 after the owner last | shares
//	others    leavers that come here                                             | shares
//
// Process rows are counted from the owner, around the column: it is at distance 0.
// Leavers of distance 1 lie beside the share of the owner, so both are one message.
// The shares lie in the order of distances; in that in which BinaryExchange collects
// them, for that. Rows are contiguous: any run of rows is one message.
//
// # Ways, with P process rows, R the rows of U, and n columns
//
//	BinaryExchange  floor(log2 P) turns; in each, process rows at distance 1, 2, 4 ...
//	                give each other all they have. Those above the largest power of two
//	                give their share to a partner before and take U from it afterwards.
//	                About R*n elements per process row
//	SpreadRoll      P-1 turns; in each, everybody passes one share to the next. As much
//	                data, in smaller messages to a neighbour
//	Equilibrated    SpreadRoll after the shares have been made equally long, if one is
//	                more than half as long again as they are on average
//
// Leavers go from the owner to their place, one message per process row. With P = 2 all
// ways are the same: one message from the owner, one to it.
package swap

import (
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/mpi"
)

// Way is how the shares of U come to all process rows.
type Way int

// The ways.
const (
	BinaryExchange Way = iota
	SpreadRoll
	Equilibrated
)

// The numbers of netlib's SWAP.
const (
	netlibBinaryExchange = 0
	netlibMix            = 2
)

// Choose returns the way for n columns that netlib's parameters name: SWAP (0 binary
// exchange, 1 long, 2 mix: long from threshold columns on; others are long), and EQUIL.
func Choose(netlib, threshold, n int, equil bool) Way {
	switch {
	case netlib == netlibBinaryExchange, netlib == netlibMix && n <= threshold:
		return BinaryExchange
	case equil:
		return Equilibrated
	}
	return SpreadRoll
}

// Apply exchanges the rows of n columns with the other process rows of c, whose ranks
// are those of the plan, and returns when that is done here: Pack, the messages, Unpack.
// All ranks of c call it with the same way, n and tag. a, column-major with the leading
// dimension lda, starts at local row 0 of the first of the columns; u is Rows x n, with ldu;
// w has at least Work(n) elements. It does nothing if n is 0. A failure revokes c.
func (p *Plan) Apply(c *mpi.Comm, way Way, tag, n int, a []float64, lda int, w, u []float64, ldu int) error {
	p.Pack(n, a, lda, w)
	err := route.Exchange(c, tag, w, p.Route(way, n))
	if err == nil {
		p.Unpack(n, w, u, ldu, a, lda)
	}
	return err
}
