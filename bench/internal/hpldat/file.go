package hpldat

import (
	"iter"

	"github.com/weft-hpc/weft/hpl"
)

// MaxValues is the most values in a list (netlib's HPL_MAX_PARAM).
const MaxValues = 20

// Grid is a grid of processes.
type Grid struct{ P, Q int } // rows, columns

// File is the content of an HPL.dat: lists of values; every combination is a test.
type File struct {
	Output string // name of the output file, used if Device is neither 6 nor 7
	Device int    // 6: standard output, 7: standard error

	N, NB         []int
	ColumnMajor   bool
	Grids         []Grid
	Threshold     float64 // of the residual; 0 or less: no check
	PFact         []hpl.Factor
	NBMin, NDiv   []int
	RFact         []hpl.Factor
	Bcast         []hpl.Broadcast
	Depth         []int
	Swap          hpl.Swap
	SwapThreshold int // columns
	L1NoTrans     bool
	UNoTrans      bool
	NoEquil       bool
	Align         int // float64s

	// Width, if there is one, chooses NB for an order and a grid. The list NB then has what it chooses.
	Width func(n int, g Grid) int

	Notes []string // a sentence for each missing value: its name and default
}

// Default returns a file for one system of order n, as [hpl.Default] would solve it.
func Default(n int) *File {
	c := hpl.Default(n)
	return &File{
		Output: "HPL.out", Device: 6,
		N: []int{c.N}, NB: []int{c.NB}, ColumnMajor: c.ColumnMajor, Grids: []Grid{{c.P, c.Q}}, Threshold: 16,
		PFact: []hpl.Factor{c.PFact}, NBMin: []int{c.NBMin}, NDiv: []int{c.NDiv}, RFact: []hpl.Factor{c.RFact},
		Bcast: []hpl.Broadcast{c.Bcast}, Depth: []int{c.Depth},
		Swap: c.Swap, SwapThreshold: c.SwapThreshold, L1NoTrans: c.L1NoTrans, UNoTrans: c.UNoTrans, NoEquil: c.NoEquil, Align: c.Align,
	}
}

// Count returns the number of tests.
func (f *File) Count() int {
	return len(f.Grids) * len(f.N) * len(f.widths(f.N[0], f.Grids[0])) * len(f.Depth) * len(f.Bcast) * len(f.RFact) * len(f.PFact) * len(f.NBMin) * len(f.NDiv)
}

// Ranks returns how many ranks the largest grid needs.
func (f *File) Ranks() (most int) {
	for _, g := range f.Grids {
		most = max(most, g.P*g.Q)
	}
	return most
}

// Tests returns the tests in netlib's order: grid, N, NB, DEPTH, BCAST, RFACT, PFACT,
// NBMIN, NDIV, the last one changing fastest. What an HPL.dat does not say, such as
// Variant and Workers, is as in [hpl.Default].
func (f *File) Tests() iter.Seq[hpl.Config] {
	return func(yield func(hpl.Config) bool) {
		for _, g := range f.Grids {
			for _, n := range f.N {
				for _, nb := range f.widths(n, g) {
					c := hpl.Default(n)
					c.NB, c.P, c.Q, c.ColumnMajor = nb, g.P, g.Q, f.ColumnMajor
					c.Swap, c.SwapThreshold = f.Swap, f.SwapThreshold
					c.L1NoTrans, c.UNoTrans, c.NoEquil, c.Align = f.L1NoTrans, f.UNoTrans, f.NoEquil, f.Align
					if !f.algorithms(c, yield) {
						return
					}
				}
			}
		}
	}
}

// widths returns the NBs of an order on a grid.
func (f *File) widths(n int, g Grid) []int {
	if f.Width != nil {
		return []int{f.Width(n, g)}
	}
	return f.NB
}

// algorithms yields the tests of one system on one grid; false if that is enough.
func (f *File) algorithms(c hpl.Config, yield func(hpl.Config) bool) bool {
	for _, c.Depth = range f.Depth {
		for _, c.Bcast = range f.Bcast {
			for _, c.RFact = range f.RFact {
				for _, c.PFact = range f.PFact {
					for _, c.NBMin = range f.NBMin {
						for _, c.NDiv = range f.NDiv {
							if !yield(c) {
								return false
							}
						}
					}
				}
			}
		}
	}
	return true
}
