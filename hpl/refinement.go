package hpl

import (
	"fmt"
	"strings"
)

// Refinement is what the driver Task does beyond TaskPlain, as a set of bits, and Narrow, which all drivers do.
// Config.Without takes some of it away, to measure what it is worth; the result has the same bits, without Narrow up to rounding.
//
// Time of a run without a refinement / with it (xhpl -ablate): 1.10 means that without it runs take 10 % longer. The first ten rows are
// medians of eleven runs, of five on two hosts (Open MPI, 1 Gbit/s), on two cores of an Intel Xeon (480 MiB of third-level cache), 2026-11-30.
// Simulated machines, 2026-11-30, repeat exactly; js21 has NB = 128 and cluster NB = 192. A dash: it makes no difference there, and what was
// measured was noise, up to 5 %:
//
//	                                    priorities  cuts  parts  exchanges  late  shares  narrow  leases
//	1x1, 2 workers, N = 1000                  1.01  1.04      -          -     -    0.97    0.99       -
//	1x1, 2 workers, N = 2000                  1.07  1.02      -          -     -    0.99    0.99       -
//	1x2, N = 1000                             1.00  0.97      -          -     -       -    0.96    1.11
//	2x1, N = 1000                             1.00  0.98      -       1.15  1.01       -    1.00    1.26
//	1x2, 1 Gbit/s, N = 2000                   1.00  1.00   1.06          -     -       -    1.00    1.02
//	2x1, 1 Gbit/s, N = 2000                   1.02  0.99      -       1.03  1.02       -    1.00    1.09
//	1x2, Open MPI, N = 1000                   1.00  0.96      -          -     -       -    1.02    1.69
//	2x1, Open MPI, N = 2000                   0.94  1.00      -       1.13  1.02       -    0.98    1.60
//	1x2, two hosts, N = 2000                  1.01  1.00   1.07          -     -       -    1.00    1.08
//	2x1, two hosts, N = 2000                  1.05  1.00      -       1.05  1.04       -    1.03    2.60
//	cluster, 1x1, 16 workers, N = 4096        1.03  1.00      -          -     -    1.32    1.02       -
//	cluster, 1x1, 64 workers, N = 8000        1.08  1.00      -          -     -    1.69    1.00       -
//	cluster, 1x4, 16 workers, N = 4000        1.00  1.00   1.00          -     -    1.11    1.33       -
//	cluster, 2x2, 16 workers, N = 8000        1.11  1.00   1.00       2.44  0.98    1.18    1.17    1.00
//	js21, 4x4, 4 workers, N = 4096            1.00  1.01   1.00       1.32  1.06    1.01    1.31    1.00
//	js21, 8x16, 4 workers, N = 16384          1.06  1.00   1.00       1.19  1.01    1.00    1.33    1.01
//	js21, 16x32, 1 worker, N = 16384          1.07  1.02   1.00       1.13  0.98    1.01    1.28    1.00
//
// Joins apply in one process where updates are short, N = 250, 500, 1000: 1.02, 1.05, 1.02 (medians of fifteen, Xeon). They also apply
// where P > 1, ranks have one worker and the network is fast, N = 1000 on 2x1: 1.03 to 1.08 against joins of a quarter of the length,
// which gained, in process, NB = 48, N = 250, 500, 1000, medians of 44 runs of 2026-11-26, on ib 1.14, 1.18, 1.17 and
// at 10 Gbit/s 1.02, 1.00, 1.05. At 1 Gbit/s they lost 4 to 14 % before they depended on the network. On the 512 processes of the last row
// 1.01.
//
// Narrow gains look-ahead 1.14 on js21, 16x32, N = 16384, and tasks with 64 workers on 1x1, N = 4000, 1.26; on two cores only the
// last block is narrow.
//
// Cuts are worth time on one process with two workers only; they keep the graph small, which large simulated runs need.
// Exchanges are worth most on two ranks without a network, and within one machine under MPI.
type Refinement uint

// The refinements: Narrow of all drivers, the others of Task.
const (
	Priorities Refinement = 1 << iota // block columns from left to right; without it, only the next panel's is preferred
	Cuts                              // only urgent updates, and the last ones, are cut by rows; without it, all are
	Parts                             // a long panel travels in parts, on slow networks or where ranks have several workers
	Joins                             // short updates of several block columns are one; without it, each is alone
	Exchanges                         // an exchange of rows is started and watched; without it, a body of the communication thread waits for it
	Late                              // an exchange that is not needed soon waits for the next panel
	Shares                            // idle workers take part in panels
	Narrow                            // where few columns are left for each core, panels are narrower than blocks, so that fewer workers wait for them
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
