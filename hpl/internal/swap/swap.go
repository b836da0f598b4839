// Package swap exchanges the rows of the trailing matrix for the pivots of a panel, in a
// block-cyclic distribution over P process rows: it brings U, the rows that end up beside
// the panel's triangle, to all process rows, and moves the rows that leave the triangle to
// their places.
//
// # Vocabulary
//
//	triangle     the rows with the numbers of the panel's columns; their process row is the owner
//	U            the rows of the triangle after all exchanges
//	share        of a process row: the rows of U that it has before
//	leaver       a row of the triangle that ends up below it
//	plan         the owner of each share, and the destination of each leaver
//	work buffer  shares and leavers in transit, row after row
//
// # Use
//
// The exchanges of a panel are one permutation, so each row moves once:
//
//	p := swap.New(rank, P, nb, j, pivots)     once per panel
//	p.Pack(k, n, a, lda, w)                   own share and leavers to the work buffer
//	route.Exchange(c, tag, w, p.Route(algorithm, n))
//	p.Unpack(k, n, w, u, ldu, a, lda)         U, and the received leavers
//
// or [Plan.Apply] for all three. The kernels k copy the rows. The columns may be cut into pieces of any width; the
// pieces may be in flight at the same time, each with its own tag. The exchange does not
// write to the rows of the triangle: the owner stores U there after its solve.
//
// # The work buffer
//
//	owner     leavers of the others, those of process row 1 after the owner last | shares
//	others    leavers that come here                                             | shares
//
// Distances of process rows count from the owner, around the column. The leavers to
// distance 1 lie beside the share of the owner, so both are one message. The shares lie in
// the order in which BinaryExchange collects them. Rows are contiguous: any run of rows is
// one message.
//
// # Algorithms, with P process rows, R the rows of U, and n columns
//
//	BinaryExchange  floor(log2 P) rounds; in each, process rows at distance 1, 2, 4 ...
//	                exchange all their data. Those above the largest power of two send
//	                their share to a partner before and receive U from it afterwards.
//	                About R*n elements per process row
//	SpreadRoll      P-1 rounds; in each, every process row sends one share to the next.
//	                As much data, in smaller messages to a neighbour
//	Equilibrated    SpreadRoll after the shares have been made equally long, if one is
//	                more than 1.5 times as long as the average
//
// The owner sends the leavers directly, one message per process row. With P = 2 all
// algorithms are the same: one message from the owner, one to it.
package swap

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/mpi"
)

// Algorithm brings the shares of U to all process rows.
type Algorithm int

// The algorithms.
const (
	BinaryExchange Algorithm = iota
	SpreadRoll
	Equilibrated
)

// The numbers of netlib's SWAP.
const (
	netlibBinaryExchange = 0
	netlibMix            = 2
)

// Choose returns the algorithm for n columns according to netlib's parameters: SWAP (0
// binary exchange, 1 long, 2 mix: long from threshold columns on; others are long), and
// EQUIL.
func Choose(netlib, threshold, n int, equil bool) Algorithm {
	switch {
	case netlib == netlibBinaryExchange, netlib == netlibMix && n <= threshold:
		return BinaryExchange
	case equil:
		return Equilibrated
	}
	return SpreadRoll
}

// Apply exchanges the rows of n columns with the other process rows of c, whose ranks are
// the plan's, and returns when this rank has finished: Pack, the messages, Unpack. All
// ranks of c call it with the same algorithm, n and tag. a, column-major with leading
// dimension lda, starts at local row 0 of the first column; u is Rows x n, with leading
// dimension ldu; w has at least Work(n) elements. It does nothing if n is 0. A failure
// revokes c.
func (p *Plan) Apply(k blas.Kernels, c *mpi.Comm, algorithm Algorithm, tag, n int, a []float64, lda int, w, u []float64, ldu int) error {
	p.Pack(k, n, a, lda, w)
	err := route.Exchange(c, tag, w, p.Route(algorithm, n))
	if err == nil {
		p.Unpack(k, n, w, u, ldu, a, lda)
	}
	return err
}
