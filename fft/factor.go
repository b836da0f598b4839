package fft

import (
	"slices"

	"github.com/weft-hpc/weft/internal/codelet"
)

// factors finds the radices of transforms. Every pass reads and writes all data, so the
// fewest passes are best; among equally many, the smallest sum of radices has the least
// arithmetic.
type factors struct {
	radices []int
	known   map[int][]int // by length; nil for a length with another prime
	narrow  bool          // of vectors of two lanes
}

// newFactors returns the factors of transforms of length n. Radix 14 is for lengths with one factor 2 only:
// with more of them it takes the place of 16 and 8, and 25 088 points take 1.2 of their time so.
func newFactors(n int) *factors {
	f := &factors{radices: codelet.Radices(), known: map[int][]int{1: {}}}
	if n%4 == 0 {
		f.without(func(r int) bool { return r == 14 })
	}
	return f
}

// without removes radices.
func (f *factors) without(bad func(r int) bool) { f.radices = slices.DeleteFunc(f.radices, bad) }

// blockedFactors are the radices of passes that stay in the cache, for length n. There, with few registers,
// two small radices are faster than one large one that spills.
func blockedFactors(n int, set *codelet.Set) *factors {
	f := newFactors(n)
	if f.narrow = set.Lanes() == 2; f.narrow {
		f.without(func(r int) bool { return r >= 14 })
	}
	return f
}

// of returns the radices of n in descending order: nil if n has a prime factor above 13, an
// empty list for 1.
func (f *factors) of(n int) []int {
	if r, ok := f.known[n]; ok {
		return r
	}
	best := f.choose(n, f.radices)
	slices.SortFunc(best, func(a, b int) int { return b - a })
	f.known[n] = best
	return best
}

// choose returns the best radices of n that start with a radix of first.
func (f *factors) choose(n int, first []int) (best []int) {
	for _, r := range first {
		if n%r != 0 {
			continue
		}
		if rest := f.of(n / r); rest != nil {
			if list := append([]int{r}, rest...); best == nil || better(list, best) {
				best = list
			}
		}
	}
	return best
}

func better(a, b []int) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return sum(a) < sum(b)
}

func sum(x []int) (s int) {
	for _, v := range x {
		s += v
	}
	return s
}

// across returns the radices of passes over interleaved pencils. The first and the last pass
// touch the user's rows, whose distance is often a large power of two. Then 16 legs compete
// for one set of a cache with 12 ways, and 4 or 8 do not. The last pass, which writes,
// suffers more. With two lanes, radix 16 spills: 256 and 512 are better off with 8 and 4.
func (f *factors) across(n int, set *codelet.Set) []int {
	switch {
	case set.Lanes() == 2 && (n == 256 || n == 512):
		return []int{8, 8, n / 64}
	case n&(n-1) != 0 || n < 256 || f.narrow:
		return f.of(n)
	case n == 256:
		return []int{4, 16, 4}
	case n <= 1024:
		return []int{8, 16, n / (8 * 16)}
	}
	return append(slices.Clone(f.of(n/8)), 8)
}

// along returns the radices of passes along a single pencil: the set has Turn for the first
// one, if there is such a radix. With two lanes large powers of two begin and end with 8, for the
// reason that across has.
func (f *factors) along(n int, set *codelet.Set) []int {
	if set.Lanes() == 2 && n >= 4096 && n&(n-1) == 0 {
		return append(append([]int{8}, f.of(n/64)...), 8)
	}
	var first []int
	for _, r := range f.radices {
		if n%r == 0 && set.CanTurn(r) && n/r >= set.Lanes() {
			first = append(first, r)
		}
	}
	if len(first) == 0 {
		return f.of(n)
	}
	return f.choose(n, first)
}

// half returns a factor of n near its square root: with the fewest passes for the two
// together, and then the closest; 0 if there is none.
func (f *factors) half(n int, set *codelet.Set) (best int) {
	passes := 0
	for a := 2; a*a <= 4*n; a++ {
		if n%a != 0 || 4*a*a < n || f.of(a) == nil || f.of(n/a) == nil || !set.CanTurn(f.of(a)[0]) {
			continue
		}
		count := len(f.of(a)) + len(f.across(n/a, set))
		if best == 0 || count < passes || count == passes && max(a, n/a) < max(best, n/best) {
			best, passes = a, count
		}
	}
	return best
}

// smoothAbove returns the smallest fast length of at least n: a power of two times one of a
// few small odd numbers, divisible by 16 if n is above 16. 49 is none of them with four lanes, or if n is large:
// 200 704 points take 1.3 times as long as 204 800 (Zen 5), and with two lanes a transform of 100 003 points
// takes 1.04 times as long with them.
func smoothAbove(n int, set *codelet.Set) int {
	const large = 1 << 16
	best := 0
	for _, odd := range []int{1, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45, 49} {
		if odd == 49 && (set.Lanes() == 4 || n > large) {
			continue
		}
		m := odd
		for m < n || n > 16 && m%16 != 0 {
			m *= 2
		}
		if best == 0 || m < best {
			best = m
		}
	}
	return best
}
