package hpl

import (
	"fmt"
	"math"

	"github.com/weft-hpc/weft/hpl/blas"
)

// Default returns a configuration for a matrix of order n that suits most machines: one
// process, one worker, blocks of [BlockWidth] columns, a recursion from the right in halves with
// Crout leaves of 8 columns, look-ahead 1 (for the driver LookAhead), modified ring, mixed row
// exchange, and netlib's seed. Any goroutine; does not block.
func Default(n int) Config {
	return Config{
		N: n, NB: BlockWidth(n, 1, 1, nil), P: 1, Q: 1,
		Variant: Task, Depth: 1,
		PFact: Crout, RFact: Right, NBMin: 8, NDiv: 2,
		Bcast: RingModified, Swap: Mix, SwapThreshold: 64,
		Align: 8, Workers: 1, Seed: 100,
	}
}

// blockWidths is the table of [BlockWidth], measured on two cores of an EPYC with AVX-512, with both
// kernels. On one process of a Xeon, N = 1000, 2000, 4000, runs take up to 1.05 times as long as with the best of
// seven widths (bench/results/2026-11-30/hpl/products-xeon6.txt). Narrow blocks leave less work to the panels, of
// which a small matrix has relatively much; wide ones make the product fast. Several process rows
// exchange N candidates for pivots, whatever NB is, but rows less often with wide blocks.
var blockWidths = []struct {
	most    int // order
	rows12  int // P = 1, tiles of less than 24 rows (AVX2)
	rows24  int // P = 1, AVX-512
	several int // P > 1
}{
	{720, 48, 48, 96},
	{1500, 96, 96, 144},
	{3000, 144, 192, 144},
	{math.MaxInt, 192, 192, 192},
}

// BlockWidth returns the NB that suits a matrix of order n on p process rows and this many cores, the
// workers of all ranks, with kernels k (nil: blas.Default()): a multiple of 24, the rows of a tile. For two
// cores it is from a table of measured widths. More cores wait for the same panels, so for them it is that of a matrix
// of order n sqrt(2 / cores); but if each core has fewer than 32 columns, it is that of order n, because narrower blocks
// were slower there. Simulated with 4 to 64 cores, N = 1000 to 8000
// (bench/results/2026-11-28/hpl/blocks-by-cores.txt), time with the width for two cores / with this one is
// 0.96 to 1.43; the median of the points where they differ is 1.04. More cores are not tried. Any goroutine; does not block.
func BlockWidth(n, p, cores int, k blas.Kernels) int {
	if k == nil {
		k = blas.Default()
	}
	if cores > 2 && n/cores >= leastPanel {
		n = int(float64(n) * math.Sqrt(2/float64(cores)))
	}
	i := 0
	for n > blockWidths[i].most {
		i++
	}
	switch mr, _ := k.Strips(); {
	case p > 1:
		return blockWidths[i].several
	case mr >= 24:
		return blockWidths[i].rows24
	}
	return blockWidths[i].rows12
}

// Validate returns an error that names the first wrong field, its value and the allowed
// values, or nil. Any goroutine; does not block.
func (c Config) Validate() error {
	for _, f := range []struct {
		name         string
		value, least int
	}{
		{"N", c.N, 0}, {"NB", c.NB, 1}, {"P", c.P, 1}, {"Q", c.Q, 1},
		{"NBMin", c.NBMin, 1}, {"NDiv", c.NDiv, 2}, {"Depth", c.Depth, 0},
		{"SwapThreshold", c.SwapThreshold, 0}, {"Align", c.Align, 1}, {"Workers", c.Workers, 1},
	} {
		if f.value < f.least {
			return fmt.Errorf("hpl: Config.%s is %d: it has to be at least %d", f.name, f.value, f.least)
		}
	}
	for _, f := range []struct {
		name  string
		value int
		last  int
		all   string
	}{
		{"Variant", int(c.Variant), int(TaskPlain), "Task, LookAhead, Blocking or TaskPlain"},
		{"PFact", int(c.PFact), int(Right), "Left, Crout or Right"},
		{"RFact", int(c.RFact), int(Right), "Left, Crout or Right"},
		{"Bcast", int(c.Bcast), int(LongModified), "Ring, RingModified, TwoRing, TwoRingModified, Long or LongModified"},
		{"Swap", int(c.Swap), int(Mix), "BinaryExchange, SpreadRoll or Mix"},
	} {
		if f.value < 0 || f.value > f.last {
			return fmt.Errorf("hpl: Config.%s is %d: it has to be %s", f.name, f.value, f.all)
		}
	}
	if c.Without > allRefinements {
		return fmt.Errorf("hpl: Config.Without is %#x: it has to be a set of Refinements", uint(c.Without))
	}
	if c.N > maxOrder {
		return fmt.Errorf("hpl: Config.N is %d: it can be at most %d", c.N, maxOrder)
	}
	return nil
}

// maxOrder keeps the number of elements of a matrix below the largest int: 2^29, or 2^14
// with 32-bit ints.
const maxOrder = 1 << (14 + 15*(^uint(0)>>63))

// kernels returns the kernels to use.
func (c *Config) kernels() blas.Kernels {
	if c.Kernels != nil {
		return c.Kernels
	}
	return blas.Default()
}
