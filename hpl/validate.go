package hpl

import (
	"fmt"

	"github.com/weft-hpc/weft/hpl/blas"
)

// Default returns a configuration for a matrix of order n that suits most machines: one
// process, one worker, blocks of 192 columns, narrower for small n, a recursion from the
// right in halves with Crout leaves of 8 columns, look-ahead 1 (for the driver LookAhead),
// modified ring, mixed row exchange, and netlib's seed. Any goroutine; does not block.
func Default(n int) Config {
	return Config{
		N: n, NB: defaultBlock(n), P: 1, Q: 1,
		Variant: Task, Depth: 1,
		PFact: Crout, RFact: Right, NBMin: 8, NDiv: 2,
		Bcast: RingModified, Swap: Mix, SwapThreshold: 64,
		Align: 8, Workers: 1, Seed: 100,
	}
}

// defaultBlock is a multiple of the 24 rows of a tile. Wide blocks make the product fast;
// narrow ones leave less work to the panels and more to overlap, which counts most for
// small n. On one core of an EPYC with AVX-512 the speed was within 3 % of the best of 24
// to 384 for n = 250 to 3000.
func defaultBlock(n int) int {
	switch {
	case n <= 700:
		return 48
	case n <= 3000:
		return 96
	default:
		return 192
	}
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
