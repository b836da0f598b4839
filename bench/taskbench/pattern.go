package main

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// pattern is one of Task Bench's dependence types.
type pattern uint8

// The patterns, named as the flag -type names them.
const (
	trivial pattern = iota
	noComm
	stencil1D
	stencil1DPeriodic
	dom
	tree
	fft
	allToAll
	nearest
	spread
	randomNearest
)

// patternNames is in the order of the constants.
var patternNames = []string{
	"trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft", "all_to_all",
	"nearest", "spread", "random_nearest",
}

func (p pattern) String() string { return patternNames[p] }

// parsePattern returns the pattern called name.
func parsePattern(name string) (pattern, error) {
	i := slices.Index(patternNames, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown dependence type %q: choose one of %s", name, strings.Join(patternNames, ", "))
	}
	return pattern(i), nil
}

// usesRadix tells whether -radix changes the pattern.
func (p pattern) usesRadix() bool { return p == nearest || p == spread || p == randomNearest }

// usesPeriod tells whether -period changes the pattern.
func (p pattern) usesPeriod() bool { return p == spread || p == randomNearest }

// shape is the form of a task graph: which points exist at each timestep, and which
// points of the timestep before each of them reads. A shape is a value without state;
// every method is a pure function of it.
//
// The points of timestep t are offset(t) <= p < offset(t)+widthAt(t). Most patterns
// repeat after a few timesteps: dependence set d holds the same lists for every
// timestep with set(t) == d.
type shape struct {
	index    int // number of the graph in the run, part of the hash of randomNearest
	pattern  pattern
	steps    int
	width    int
	radix    int
	period   int
	fraction float64
}

// offset returns the first point of timestep t.
func (s *shape) offset(t int) int {
	if s.pattern != dom || t < 0 {
		return 0
	}
	return max(0, t+s.width-s.steps)
}

// widthAt returns the number of points of timestep t, 0 before the first.
func (s *shape) widthAt(t int) int {
	switch {
	case t < 0:
		return 0
	case s.pattern == dom:
		return min(s.width, t+1, s.steps-t)
	case s.pattern == tree && t < bits.Len(uint(s.width)):
		return min(s.width, 1<<t)
	}
	return s.width
}

// sets returns the number of dependence sets.
func (s *shape) sets() int {
	switch {
	case s.pattern == fft:
		return max(1, bits.Len(uint(s.width-1))) // ceil(log2 width), and one for a single point
	case s.pattern.usesPeriod():
		return s.period
	}
	return 1
}

// set returns the dependence set of timestep t.
func (s *shape) set(t int) int {
	switch {
	case s.pattern == fft:
		return (t + s.sets() - 1) % s.sets()
	case s.pattern.usesPeriod():
		return t % s.period
	}
	return 0
}

// dependences returns the points that point p reads from the timestep before, each
// once and in ascending order, before they are clipped to the points that exist there
// (see clip). It allocates; the graph calls it once per set and point.
func (s *shape) dependences(set, p int) []int {
	switch s.pattern {
	case noComm:
		return s.interval(p, p)
	case stencil1D:
		return s.interval(p-1, p+1)
	case stencil1DPeriodic:
		return s.modulo(p-1, p, p+1)
	case dom:
		return s.interval(p-1, p)
	case tree:
		return s.interval(p/2, p/2)
	case fft:
		return s.existing(p-1<<set, p, p+1<<set)
	case allToAll:
		return s.interval(0, s.width-1)
	case nearest:
		return s.neighbours(p, s.radix/2, (s.radix-1)/2)
	case spread:
		return s.strided(set, p, +1)
	case randomNearest:
		return s.chosen(s.interval(p-s.radix/2, p+(s.radix-1)/2), func(d int) bool { return s.connected(set, d, p) })
	}
	return nil
}

// readers returns the points that read p one timestep later, each once and in
// ascending order: the inverse of dependences, from its own formulas, so that one
// checks the other (see graph.verify).
func (s *shape) readers(set, p int) []int {
	switch s.pattern {
	case dom:
		return s.interval(p, p+1)
	case tree:
		return s.interval(2*p, 2*p+1)
	case nearest:
		return s.neighbours(p, (s.radix-1)/2, s.radix/2)
	case spread:
		return s.strided(set, p, -1)
	case randomNearest:
		return s.chosen(s.interval(p-(s.radix-1)/2, p+s.radix/2), func(r int) bool { return s.connected(set, p, r) })
	}
	return s.dependences(set, p) // the others are symmetric
}

// clip returns which part of deps, a list in ascending order, exists at timestep t-1:
// deps[lo:hi], because clipping takes points only from the ends.
func (s *shape) clip(deps []int32, t int) (lo, hi int) {
	first := int32(s.offset(t - 1))
	end := first + int32(s.widthAt(t-1))
	for hi = len(deps); hi > 0 && deps[hi-1] >= end; hi-- {
	}
	for lo < hi && deps[lo] < first {
		lo++
	}
	return lo, hi
}

// connected tells whether random_nearest keeps the edge from d to p.
func (s *shape) connected(set, d, p int) bool {
	if s.radix > 0 && d == p {
		return true
	}
	return uniform(int64(s.index), int64(s.radix), int64(set), int64(d), int64(p)) < s.fraction
}

// interval returns the points first..last that are within the width.
func (s *shape) interval(first, last int) []int {
	var points []int
	for p := max(first, 0); p <= min(last, s.width-1); p++ {
		points = append(points, p)
	}
	return points
}

// neighbours is the interval p-below..p+above, or nothing at radix 0.
func (s *shape) neighbours(p, below, above int) []int {
	if s.radix == 0 {
		return nil
	}
	return s.interval(p-below, p+above)
}

// existing returns the points that are within the width.
func (s *shape) existing(points ...int) []int {
	return s.chosen(points, func(p int) bool { return 0 <= p && p < s.width })
}

// modulo returns points wrapped around the width.
func (s *shape) modulo(points ...int) []int {
	wrapped := make([]int, len(points))
	for i, p := range points {
		wrapped[i] = ((p % s.width) + s.width) % s.width
	}
	slices.Sort(wrapped)
	return slices.Compact(wrapped)
}

// strided returns the points that spread reaches from p in one direction.
func (s *shape) strided(set, p, sign int) []int {
	var points []int
	for i := range s.radix {
		distance := i * s.width / s.radix
		if i > 0 {
			distance += set
		}
		points = append(points, p+sign*distance)
	}
	return s.modulo(points...)
}

// chosen returns the points that keep accepts.
func (s *shape) chosen(points []int, keep func(int) bool) []int {
	return slices.DeleteFunc(points, func(p int) bool { return !keep(p) })
}
