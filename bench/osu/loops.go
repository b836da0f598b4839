package main

// loops says how often a message is sent: skip times to warm up, then count times
// under the clock.
type loops struct {
	count, skip int
}

// family is a set of loop counts: OSU has one for each kind of test, and runs
// fewer iterations above largeMessage bytes.
type family struct {
	small, large loops
}

const largeMessage = 8192

// The counts of the OSU micro-benchmarks 5 to 7 (options LAT_, BW_, COLL_), and of the
// tests that OSU does not have. An iteration of inflight is a completion, of wait a wait,
// of spawn a task.
var (
	latencyLoops    = family{loops{10000, 100}, loops{1000, 10}}
	bandwidthLoops  = family{loops{100, 10}, loops{20, 2}}
	collectiveLoops = family{loops{1000, 100}, loops{100, 10}}
	inflightLoops   = family{small: loops{100000, 10000}}
	waitLoops       = family{small: loops{3, 1}}
	spawnLoops      = family{small: loops{2000, 100}}
)

// forSize returns the counts for messages of a size. A count above 0 and a skip of at
// least 0 replace OSU's.
func (f family) forSize(bytes, count, skip int) loops {
	l := f.small
	if bytes > largeMessage && f.large.count > 0 {
		l = f.large
	}
	if count > 0 {
		l.count = count
		l.skip = min(l.skip, count)
	}
	if skip >= 0 {
		l.skip = skip
	}
	return l
}

// sizes returns the powers of two from lo to hi, and 0 before them if lo is 0.
func sizes(lo, hi int) (all []int) {
	if lo == 0 {
		all = append(all, 0)
		lo = 1
	}
	for n := lo; n <= hi; n *= 2 {
		all = append(all, n)
		if n > hi/2 {
			break // the next would be too much, or no int at all
		}
	}
	return all
}
