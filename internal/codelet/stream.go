package codelet

import "github.com/klauspost/cpuid/v2"

// Streams reports whether an output of so many numbers is so large that stores should bypass
// the caches: more than two third-level caches of this processor. Of an array of one or two of
// them much is still there when the next pass reads it. On a Zen 3, with 32 MiB, two cores
// transform arrays of 16 and 32 MiB in 0.6 of the time, of 64 MiB in 0.9, and of 128 and 256 MiB
// in as much if no store bypasses them. Modelled kernels, whose time must not depend on the machine that
// simulates, bypass them from 16 MiB on.
func (s *Set) Streams(points int) bool {
	if s.Model() != nil {
		return points >= 1<<20
	}
	return points > mostCached
}

var mostCached = cachedPoints(cpuid.CPU.Cache.L3)

// cachedPoints is the size of two caches of so many bytes; where the processor does not say
// its size, of 8 MiB.
func cachedPoints(l3 int) int {
	const bytes = 16 // of a number
	if l3 <= 0 {
		l3 = 8 << 20
	}
	return 2 * l3 / bytes
}
