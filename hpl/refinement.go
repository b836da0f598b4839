package hpl

import (
	"fmt"
	"strings"
)

// Refinement is what the driver Task does beyond TaskPlain, as a set of bits, and Narrow, which all drivers do.
// Config.Without takes some of it away, to measure what it is worth; the result has the same bits, without Narrow up to rounding.
//
// Time of a run without a refinement / with it (xhpl -ablate). Simulated machines repeat exactly. In process and
// on gige: medians of 15 and of 7 runs on two cores of an Intel Xeon, 2026-11-26. The rows with a star are of
// 2026-11-25, of the version before, on an AMD EPYC: medians of eleven and of five runs. A dash: it makes no
// difference there, and what was measured was noise, up to 5 %. The simulated rows up to 4x4 are of 2026-11-27, since workers
// hold the lease there; the last two are of the day before:
//
//	                                priorities  cuts  parts  exchanges  late  shares  leases
//	1x1, 2 workers, N = 1000              1.02  1.02      -          -     -    0.99       -
//	1x1, 2 workers, N = 2000              1.08  1.03      -          -     -    0.97       -
//	1x2, 1 Gbit/s, N = 2000               1.01  1.00   1.07          -     -       -    1.01
//	2x1, 1 Gbit/s, N = 2000               1.00  1.02      -       0.98  1.04       -    1.03
//	1x2, Open MPI, N = 1000 *             1.05  0.99      -          -     -       -    2.33
//	2x1, Open MPI, N = 2000 *             0.96  1.02      -       0.96  0.97       -    1.42
//	1x2, two hosts, N = 2000 *            1.01  1.00   1.06          -     -       -    1.15
//	2x1, two hosts, N = 2000 (+-20 %) *   1.21  1.06      -       0.98  1.06       -    7.74
//	cluster, 1x1, 16 workers, N = 4096    1.06  1.00      -          -     -    1.13       -
//	cluster, 1x1, 64 workers, N = 8000    1.04  1.00      -          -     -    1.70       -
//	cluster, 1x4, 16 workers, N = 4000    1.00  1.00   1.02          -     -    1.39       -
//	cluster, 2x2, 16 workers, N = 8000    1.18  1.00   1.00       2.45  1.00    1.19    0.98
//	js21, 4x4, 4 workers, N = 4096        1.01  1.00   1.04       1.27  1.07    1.02    1.00
//	js21, 8x16, 4 workers, N = 16384      1.00     -   1.05       1.18  1.12       -       -
//	js21, 16x32, 1 worker, N = 4096       1.00  1.00   1.00       0.99  1.00    1.00    1.00
//
// Joins came later the same day, and apply where N is small, P > 1, ranks have one worker and the network is fast: in process, 2x1, NB = 48,
// N = 250, 500, 1000, medians of 44 runs, on ib 1.14, 1.18, 1.17 and at 10 Gbit/s 1.02, 1.00, 1.05. At
// 1 Gbit/s they lost 4 to 14 % before they depended on the network.
//
// Narrow came on 2026-11-28. Time without it / with it, on simulated machines: cluster, 1x1, 64 workers, N = 4000 and 8000
// 1.26 and 1.00, 16 workers 1.02 and 1.00; 1x4, 16 workers, N = 4000 1.33; 2x2, 16 workers, N = 8000 1.16; js21, NB = 128, 4x4, N = 4096
// 1.32; 8x16, N = 16384 1.34, and with look-ahead on 16x32 1.14. On two cores it changes the last two blocks only.
//
// Cuts are worth no time; they keep the graph small, which large simulated runs need. Exchanges are worth
// nothing on two ranks since the communication thread gets its core in time (1.16 to 1.49 before). On 512
// processes, N = 4096 is too small for any of them: pivots take the time.
type Refinement uint

// The refinements of the driver Task.
const (
	Priorities Refinement = 1 << iota // block columns from left to right; without it, only the next panel's is preferred
	Cuts                              // only urgent updates, and the last ones, are cut by rows; without it, all are
	Parts                             // a long panel travels in parts
	Joins                             // short updates of several block columns are one; without it, each is alone
	Exchanges                         // an exchange of rows is started and watched; without it, a body of the communication thread waits for it
	Late                              // an exchange that is not needed soon waits for the next panel
	Shares                            // idle workers take part in panels
	Narrow                            // near the end panels are narrower than blocks, so that fewer workers wait for them
	Leases                            // a worker with a core to itself may make MPI calls (commthread.Lease)

	allRefinements Refinement = 1<<iota - 1
)

var refinementNames = []string{"priorities", "cuts", "parts", "joins", "exchanges", "late", "shares", "narrow", "leases"}

// Refinements returns all of them, one by one.
func Refinements() (all []Refinement) {
	for i := range refinementNames {
		all = append(all, 1<<i)
	}
	return all
}

// ParseRefinements reads names that are separated by commas.
func ParseRefinements(text string) (set Refinement, err error) {
	for word := range strings.SplitSeq(text, ",") {
		bit := Refinement(0)
		for i, name := range refinementNames {
			if name == strings.TrimSpace(word) {
				bit = 1 << i
			}
		}
		if bit == 0 {
			return 0, fmt.Errorf("there is no refinement %q: there are %v", word, allRefinements)
		}
		set |= bit
	}
	return set, nil
}

// String returns the names, separated by commas.
func (r Refinement) String() string {
	var names []string
	for i, name := range refinementNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
