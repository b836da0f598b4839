package main

import "math"

// latencyOf returns the us of half a round trip, from the seconds of n round trips.
func latencyOf(seconds float64, n int) float64 { return seconds * 1e6 / float64(2*n) }

// bandwidthOf returns MB/s, of 10^6 bytes, of messages of size bytes.
func bandwidthOf(seconds float64, size, messages int) float64 {
	return float64(size) / 1e6 * float64(messages) / seconds
}

// overlapOSU is the overlap of the OSU micro-benchmarks, in percent: how much of the
// pure communication time pure is missing from total when compute goes on meanwhile.
func overlapOSU(pure, compute, total float64) float64 {
	if pure <= 0 {
		return 0
	}
	return math.Max(0, 100*(1-(total-compute)/pure))
}

// overlapIMB is the overlap as the Intel MPI benchmarks define it, in percent: the saved
// time over the time that could be saved.
func overlapIMB(pure, compute, total float64) float64 {
	least := math.Min(pure, compute)
	if least <= 0 {
		return 0
	}
	return 100 * math.Max(0, math.Min(1, (pure+compute-total)/least))
}

// boundOf is the most that overlapOSU can be when a core of the rank must copy the
// bytes of its messages: in copying seconds of the pure ones.
func boundOf(copying, pure float64) float64 {
	if pure <= 0 {
		return 0
	}
	return 100 * math.Max(0, 1-copying/pure)
}
