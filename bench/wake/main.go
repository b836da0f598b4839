// Command wake measures how long it takes to wake a sleeping thread.
//
// Two threads, each pinned on a core of its own, wake each other in turn; each
// hand-over is timed one way, from before the waker's first step to after the
// sleeper's return. The contenders run interleaved, round by round, so that other load
// on the machine affects all alike. The peer is the same game in C, two pthreads on
// two futex words, compiled when the program starts; without a C
// compiler there is no ratio.
//
// It ends with one line per contender:
//
//	result name=parker us_median=.. us_min=.. c_us_median=.. c_us_min=.. ratio=..
//
// us_median is the median over the rounds of the medians of each round, us_min the
// smallest hand-over of all; the c_ values belong to the peer, and ratio is
// us_median / c_us_median.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/internal/osthread"
)

// game is what every contender plays.
type game struct {
	handovers int    // per round
	cores     [2]int // where the two threads are pinned
}

// timing is what one contender took in one round, in us per hand-over.
type timing struct {
	median, min float64
}

// contender is one way to wake a thread; play runs one round.
type contender struct {
	name string
	play func(game) (timing, error)
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const about = `wake measures how long it takes to wake a sleeping thread, and the same in C.

	wake -rounds 9
`

// run is the program: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	var rounds, handovers int
	line := commandline.New("wake", about)
	line.Least(&rounds, "rounds", 5, 1, "interleaved `rounds` of each contender")
	line.Least(&handovers, "handovers", 4000, 1, "wake-ups `per round`")
	line.Exits("0 done, 1 failed, 2 usage")
	err := line.Parse(args, line.NoArgs)
	if err == nil {
		err = measure(rounds, handovers, stdout)
	}
	return commandline.Code(err, stdout, stderr)
}

func measure(rounds, handovers int, out io.Writer) error {
	claim := osthread.ClaimCores(2)
	claim.Release() // they play one after the other, and a runtime claims its own
	if claim.Oversubscribed() {
		return fmt.Errorf("two cores are needed, and the process may use %q", osthread.Usable())
	}
	g := game{handovers: handovers, cores: [2]int(claim.Cores())}
	defer osthread.RaiseProcs(4)() // two threads that sleep, and two Ps to spare for those that wake

	all := []contender{
		{"parker", playParker},
		{"worker_parked", playRuntime(untilParked, 10)},
		{"worker_spinning", playRuntime(untilSpinning, 1)},
	}
	peer, err := buildPeer()
	switch {
	case errors.Is(err, errNoPeer):
		fmt.Fprintln(out, "no peer:", err)
	case err != nil:
		return err
	default:
		defer peer.remove()
		all = append(all, contender{peerName, peer.play})
	}

	fmt.Fprintf(out, "%s %s/%s, cores %v of %d, GOMAXPROCS %d, %d hand-overs per round\n", runtime.Version(),
		runtime.GOOS, runtime.GOARCH, g.cores, osthread.Online(), runtime.GOMAXPROCS(0), handovers)
	timings := make(map[string][]timing)
	for round := range rounds {
		for _, c := range all {
			t, err := c.play(g)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			timings[c.name] = append(timings[c.name], t)
			fmt.Fprintf(out, "round %d  %-15s median %8.3f us  min %8.3f us\n", round+1, c.name, t.median, t.min)
		}
	}
	printResults(out, all, timings)
	return nil
}

// printResults prints the result lines, one per contender but the peer.
func printResults(out io.Writer, all []contender, timings map[string][]timing) {
	for _, c := range all {
		if c.name == peerName {
			continue
		}
		t := over(timings[c.name])
		fmt.Fprintf(out, "result name=%s us_median=%.3f us_min=%.3f", c.name, t.median, t.min)
		if len(timings[peerName]) > 0 {
			p := over(timings[peerName])
			fmt.Fprintf(out, " c_us_median=%.3f c_us_min=%.3f ratio=%.3f", p.median, p.min, t.median/p.median)
		}
		fmt.Fprintln(out)
	}
}

// over returns the median of the rounds' medians and the least of their minima.
func over(rounds []timing) timing {
	var medians, minima []float64
	for _, t := range rounds {
		medians = append(medians, t.median)
		minima = append(minima, t.min)
	}
	return timing{median: report.Median(medians), min: slices.Min(minima)}
}
