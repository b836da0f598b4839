package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLatency_and_bandwidth(t *testing.T) {
	assert.InDelta(t, 0.25, latencyOf(0.005, 10_000), 1e-12, "10000 round trips in 5 ms: 0.5 us each")
	assert.InDelta(t, 125, bandwidthOf(0.016777216, 1<<21, 1), 1e-9, "2 MiB in 16.777 ms are 1 Gbit/s")
	assert.InDelta(t, 12.8, bandwidthOf(0.000005, 1, 64), 1e-9, "64 bytes in 5 us")
}

// Computed by hand: communication 10, computation 10.
func TestOverlap_formulas(t *testing.T) {
	for _, k := range []struct{ pure, compute, total, osu, imb float64 }{
		{10, 10, 10, 100, 100},
		{10, 10, 20, 0, 0},
		{10, 10, 15, 50, 50},
		{10, 10, 25, 0, 0},     // slower than one after the other
		{10, 20, 20, 100, 100}, // more work than communication
		{10, 20, 25, 50, 50},   //
		{20, 10, 20, 50, 100},  // OSU counts the communication that no work was there to hide
		{20, 10, 15, 75, 100},  // and IMB ends at 100
		{10, 10, 8, 120, 100},  // OSU does not: noise shows
		{0, 10, 10, 0, 0},      // no communication
		{10, 0, 10, 0, 0},      // no computation
	} {
		assert.InDelta(t, k.osu, overlapOSU(k.pure, k.compute, k.total), 1e-9, "OSU %v", k)
		assert.InDelta(t, k.imb, overlapIMB(k.pure, k.compute, k.total), 1e-9, "IMB %v", k)
	}
}

func TestBound(t *testing.T) {
	assert.InDelta(t, 92, boundOf(0.08, 1), 1e-9)
	assert.Zero(t, boundOf(2, 1))
	assert.Zero(t, boundOf(1, 0))
}

func TestLoops_are_those_of_OSU(t *testing.T) {
	for _, k := range []struct {
		f            family
		small, large loops
	}{
		{latencyLoops, loops{10000, 100}, loops{1000, 10}},
		{bandwidthLoops, loops{100, 10}, loops{20, 2}},
		{collectiveLoops, loops{1000, 100}, loops{100, 10}},
	} {
		assert.Equal(t, k.small, k.f.forSize(8192, 0, -1))
		assert.Equal(t, k.large, k.f.forSize(8193, 0, -1))
	}
	assert.Equal(t, loops{100000, 10000}, inflightLoops.forSize(1<<20, 0, -1), "no counts of its own for large messages")
	assert.Equal(t, loops{7, 7}, latencyLoops.forSize(8, 7, -1), "a short run does not warm up longer than it lasts")
	assert.Equal(t, loops{500, 0}, latencyLoops.forSize(8, 500, 0))
	assert.Equal(t, loops{10000, 3}, latencyLoops.forSize(8, 0, 3))
}

func TestSizes(t *testing.T) {
	assert.Equal(t, []int{1, 2, 4}, sizes(1, 4))
	assert.Equal(t, []int{0, 1, 2}, sizes(0, 3))
	assert.Equal(t, []int{3, 6}, sizes(3, 11))
	assert.Equal(t, []int{0}, sizes(0, 0))
	assert.Equal(t, []int{1 << 30}, sizes(1<<30, 1<<30))
}

// The lines have the format of OSU's programs.
func TestTable_lines(t *testing.T) {
	assert.Equal(t, "# Size          Latency (us)", headLine([]string{"Latency (us)"}))
	assert.Equal(t, "1                       0.79", rowLine(1, []float64{0.789}))
	assert.Equal(t, "4194304              5576.45", rowLine(4194304, []float64{5576.45}))
	assert.Equal(t, "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)", headLine(nbcColumns[:4]))
	assert.Equal(t, "1                      11.09              6.10              5.18              3.46", rowLine(1, []float64{11.09, 6.1, 5.18, 3.46}))
}

func TestOrder_has_each_tag_once_per_round(t *testing.T) {
	a, b := newOrder(7), newOrder(7)
	var rounds [][]int
	for range 3 {
		var round []int
		for range 7 {
			tag := a.next()
			assert.Equal(t, tag, b.next(), "both ranks see the same order")
			round = append(round, tag)
		}
		assert.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5, 6}, round)
		rounds = append(rounds, round)
	}
	assert.False(t, assert.ObjectsAreEqual(rounds[0], rounds[1]) && assert.ObjectsAreEqual(rounds[1], rounds[2]), "rounds differ")
}

func TestRoundUp_and_credit(t *testing.T) {
	for _, k := range [][3]int{{0, 10, 10}, {1, 10, 10}, {10, 10, 10}, {11, 10, 20}, {100000, 30, 100020}} {
		assert.Equal(t, k[2], roundUp(k[0], k[1]), k)
	}
	assert.Equal(t, []int{1, 1, 1, 2, 5, 5}, []int{credit(1), credit(2), credit(3), credit(4), credit(10), credit(10000)})
}

func TestPattern_is_never_0_and_tells_ranks_apart(t *testing.T) {
	for i := range 1000 {
		assert.NotZero(t, pattern(1, i))
		assert.NotEqual(t, pattern(0, i), pattern(1, i))
	}
}
