package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// twoSides is an outcome with these figures.
func twoSides(less bool, ours, theirs []float64) *outcome {
	o := &outcome{unit: gflops, less: less, contest: contest{name: "c", sides: []*side{
		{name: "weft", cores: 2, layout: "1 process", kernel: kernel{name: "k"}}, {name: "peer", cores: 2, layout: "1 process", kernel: kernel{name: "k"}},
	}}}
	for i, values := range [][]float64{ours, theirs} {
		o.samples = append(o.samples, nil)
		for _, v := range values {
			o.samples[i] = append(o.samples[i], sample{value: v})
		}
	}
	return o
}

func TestFigures(t *testing.T) {
	assert.Equal(t, figures{median: 3, low: 2, high: 4, least: 1, top: 5}, figuresOf([]float64{5, 1, 4, 2, 3}))
	assert.Equal(t, figures{median: 2.5, low: 1.75, high: 3.25, least: 1, top: 4}, figuresOf([]float64{4, 3, 2, 1}))
	assert.Equal(t, figures{median: 7, low: 7, high: 7, least: 7, top: 7}, figuresOf([]float64{7}))
}

// Rounds are compared one by one: a machine that is twice as fast in one of them changes
// no ratio, though it changes the medians.
func TestAdvantages_are_of_rounds(t *testing.T) {
	assert.Equal(t, []float64{2, 2, 2}, twoSides(false, []float64{10, 20, 10}, []float64{5, 10, 5}).advantages(1))
	assert.Equal(t, []float64{0.5, 0.5}, twoSides(true, []float64{10, 20}, []float64{5, 10}).advantages(1), "small figures are the good ones")
}

func TestOfKernel(t *testing.T) {
	o := twoSides(false, []float64{100, 100}, []float64{50, 50})
	assert.Zero(t, o.ofKernel(0), "not measured")
	o.samples[0][0].kernel, o.samples[0][1].kernel = 100, 60
	assert.InDelta(t, 100/(80*2.0), o.ofKernel(0), 1e-12)
	o.unit = "µs"
	assert.Zero(t, o.ofKernel(0), "no speed")
}

func TestNotes_name_every_difference(t *testing.T) {
	o := twoSides(false, []float64{1}, []float64{1})
	assert.Empty(t, o.notes(), "alike in everything")
	o.sides[1].cores = 3
	assert.Contains(t, strings.Join(o.notes(), "\n"), "**Different numbers of cores**: weft has 2, peer 3")
	o.sides[1].cores, o.sides[1].layout = 2, "2 processes"
	assert.Contains(t, strings.Join(o.notes(), "\n"), "Different layouts")
	o.sides[1].layout, o.sides[1].kernel.name = "1 process", "other"
	assert.Contains(t, strings.Join(o.notes(), "\n"), "is not known")
	o.samples[0][0].kernel, o.samples[1][0].kernel = 90, 30
	assert.Contains(t, strings.Join(o.notes(), "\n"), "a ratio of 3.00 has nothing to do")
	o.sides[1].kernel.name, o.sides[1].remark = "k", "it cheats"
	assert.Equal(t, []string{"peer: it cheats."}, o.notes())
	assert.Empty(t, twoSides(false, []float64{10, 14}, []float64{20, 29}).notes())
	assert.Contains(t, strings.Join(twoSides(false, []float64{10, 14}, []float64{20, 31}).notes(), "\n"), "**Unsteady**: peer varied from 20.00 to 31.00 GFLOP/s")
}

func TestInUse(t *testing.T) {
	before, ok := readTicks("cpu  100 10 50 1000 40 5 5 20 7 7\ncpu0 1 2 3\n")
	assert.True(t, ok)
	assert.Equal(t, ticks{idle: 1040, all: 1230}, before)
	later, ok := readTicks("cpu  140 10 50 1100 60 5 5 60 7 7\n")
	assert.True(t, ok)
	assert.InDelta(t, 80.0/200, before.inUse(later), 1e-12, "40 of user, 40 stolen, of 200")
	assert.Zero(t, before.inUse(before))
	for _, text := range []string{"", "cpu 1 2 3", "cpux 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"} {
		_, ok := readTicks(text)
		assert.False(t, ok, text)
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{12345: "12345", 123.45: "123.5", 12.345: "12.35", 0.25: "0.25", 0.12345: "0.1235"} {
		assert.Equal(t, want, short(v))
	}
}
