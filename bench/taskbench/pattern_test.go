package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

// reads is the brute-force definition of the patterns, one pair of points at a time,
// against which the lists are checked. It shares only the random numbers with the code
// under test.
func reads(s shape, set, p, d int) bool {
	mod := func(x int) int {
		for x < 0 {
			x += s.width
		}
		for x >= s.width {
			x -= s.width
		}
		return x
	}
	nearby := d >= p-s.radix/2 && d <= p+(s.radix-1)/2
	switch s.pattern {
	case noComm:
		return d == p
	case stencil1D:
		return d == p || d == p-1 || d == p+1
	case stencil1DPeriodic:
		return d == p || d == mod(p-1) || d == mod(p+1)
	case dom:
		return d == p || d == p-1
	case tree:
		return p == 2*d || p == 2*d+1
	case fft:
		step := 1
		for range set {
			step *= 2
		}
		return d == p || d-p == step || p-d == step
	case allToAll:
		return true
	case nearest:
		return s.radix > 0 && nearby
	case spread:
		for i := range s.radix {
			shift := i * s.width / s.radix
			if i != 0 {
				shift += set
			}
			if mod(p+shift) == d {
				return true
			}
		}
		return false
	case randomNearest:
		hash := []int64{int64(s.index), int64(s.radix), int64(set), int64(d), int64(p)}
		return nearby && (uniform(hash...) < s.fraction || s.radix > 0 && d == p)
	}
	return false
}

// everyShape calls f with shapes of every pattern, all widths 1..17 and many radices,
// periods, fractions and heights.
func everyShape(f func(s shape)) {
	for kind := range patternNames {
		for width := 1; width <= 17; width++ {
			base := shape{index: 1, pattern: pattern(kind), steps: 12, width: width, radix: 3, period: 1, fraction: 0.25}
			if !base.pattern.usesRadix() {
				for _, base.steps = range []int{1, 2, 3, 5, 8, 16, 17, 18, 40} {
					f(base)
				}
				continue
			}
			for base.radix = range width + 3 {
				for base.period = 1; base.period <= 3; base.period++ {
					f(base)
				}
			}
		}
	}
}

func TestPatterns_agree_with_brute_force(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	everyShape(func(s shape) {
		for set := range s.sets() {
			for p := range s.width {
				var deps, readers []int
				for d := range s.width {
					if reads(s, set, p, d) {
						deps = append(deps, d)
					}
					if reads(s, set, d, p) {
						readers = append(readers, d)
					}
				}
				context := fmt.Sprintf("%+v set %d point %d", s, set, p)
				require.ElementsMatch(t, deps, s.dependences(set, p), context)
				require.ElementsMatch(t, readers, s.readers(set, p), "readers, "+context)
				require.IsIncreasing(t, append([]int{-1}, s.dependences(set, p)...), context)
			}
		}
	})
}

func TestPoints_stay_within_the_width(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	everyShape(func(s shape) {
		assert.Zero(t, s.widthAt(-1))
		assert.Zero(t, s.offset(-1))
		for step := range s.steps {
			first, n := s.offset(step), s.widthAt(step)
			require.GreaterOrEqual(t, first, 0)
			require.Positive(t, n, "%+v step %d", s, step)
			require.LessOrEqual(t, first+n, s.width)
			require.GreaterOrEqual(t, s.set(step), 0)
			require.Less(t, s.set(step), s.sets())
			if s.pattern != dom && s.pattern != tree {
				require.Equal(t, s.width, n)
			}
		}
	})
}

func TestClip_keeps_what_exists_one_step_before(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	everyShape(func(s shape) {
		for step := range s.steps {
			for p := s.offset(step); p < s.offset(step)+s.widthAt(step); p++ {
				var deps, want []int32
				for _, d := range s.dependences(s.set(step), p) {
					deps = append(deps, int32(d))
					if d >= s.offset(step-1) && d < s.offset(step-1)+s.widthAt(step-1) {
						want = append(want, int32(d))
					}
				}
				lo, hi := s.clip(deps, step)
				require.ElementsMatch(t, want, deps[lo:hi], "%+v step %d point %d", s, step, p)
			}
		}
	})
}

// TestGolden pins a few lists by hand, in case definition and code err together.
func TestGolden(t *testing.T) {
	at := func(s shape, set, p int) []int { return s.dependences(set, p) }
	s := shape{steps: 10, width: 8, radix: 3, period: 2}
	for _, c := range []struct {
		pattern pattern
		set, p  int
		want    []int
	}{
		{trivial, 0, 3, nil},
		{noComm, 0, 3, []int{3}},
		{stencil1D, 0, 0, []int{0, 1}},
		{stencil1DPeriodic, 0, 0, []int{0, 1, 7}},
		{dom, 0, 0, []int{0}},
		{tree, 0, 5, []int{2}},
		{fft, 0, 3, []int{2, 3, 4}},
		{fft, 2, 3, []int{3, 7}},
		{allToAll, 0, 5, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{nearest, 0, 5, []int{4, 5, 6}},
		{spread, 0, 5, []int{2, 5, 7}}, // 5, 5+8/3, 5+16/3 mod 8
		{spread, 1, 5, []int{0, 3, 5}},
		{randomNearest, 0, 5, []int{5}}, // fraction 0: only itself
	} {
		s.pattern = c.pattern
		assert.Equal(t, c.want, at(s, c.set, c.p), "%v set %d point %d", c.pattern, c.set, c.p)
	}
	s.pattern = fft
	assert.Equal(t, []int{2, 0, 1, 2}, []int{s.set(0), s.set(1), s.set(2), s.set(3)})
	s.pattern = dom
	assert.Equal(t, []int{0, 0, 1, 7}, []int{s.offset(0), s.offset(2), s.offset(3), s.offset(9)})
	assert.Equal(t, []int{1, 3, 5, 1}, []int{s.widthAt(0), s.widthAt(2), s.widthAt(4), s.widthAt(9)})
	s.pattern = tree
	assert.Equal(t, []int{1, 2, 4, 8, 8}, []int{s.widthAt(0), s.widthAt(1), s.widthAt(2), s.widthAt(3), s.widthAt(9)})
}

func TestNames(t *testing.T) {
	for i, name := range patternNames {
		p, err := parsePattern(name)
		require.NoError(t, err)
		assert.Equal(t, pattern(i), p)
	}
	_, err := parsePattern("stencil")
	assert.ErrorContains(t, err, `"stencil"`)
	assert.ErrorContains(t, err, "stencil_1d_periodic")
	_, err = parseKernel("gpu")
	assert.ErrorContains(t, err, "compute_bound")
}
