// Command osu measures what messages cost, with the loops and formulas of the OSU
// micro-benchmarks (D. K. Panda et al., The Ohio State University), and the overlap
// of the Intel MPI benchmarks beside theirs:
//
//	osu latency                                half a round trip between ranks 0 and 1
//	osu bw -onesided                           puts and a flush instead of messages
//	osu mbw_mr -ranks 4                        two pairs: bandwidth and message rate
//	osu overlap -net gige -commthread          does arithmetic hide messages?
//	mpirun -np 2 osu ialltoall                 the same over the machine's MPI library
//	osu latency -compare mpirun.openmpi        ... beside the same loop in C
//	osu -h
//
// Beyond OSU's: inflight (the cost of a completion among N receives under way), wait
// (cpu used by a rank that waits for a message), spawn (from the spawn of a comm task
// to its post).
//
// # Choices
//
// Sizes above 8192 bytes run fewer iterations, as with OSU. Each size is checked: the
// last message must hold the bytes that the peer sent. The computation of the overlap tests
// is fixed work, calibrated in a quiet phase before; a timed loop would hide the cycles
// that messages take from it. Pure communication, pure computation and both together
// alternate, iteration by iteration, so that other load on the machine affects all alike.
// With -commthread, the messages of these tests are comm tasks and the
// computation is a task of the rank's only worker; other tests then hand their calls
// to the communication thread.
//
// # Reading the source
//
// tests.go lists the tests; sweep.go runs one over its sizes; loops.go and formula.go
// are OSU's counts and formulas, table.go its output. latency.go, bandwidth.go,
// onesided.go, overlap.go with exchange.go, inflight.go, wait.go and spawn.go with
// futex.go are the tests; peer.c, peer.go and compare.go are the comparison with C.
package main

import (
	"io"
	"os"

	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi/world"
)

func main() { world.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program. World knows the exit code of its error: 1 for a failure, 2 for
// wrong usage.
func run(args []string, stdout, stderr io.Writer) error {
	c, err := parseArgs(args)
	switch {
	case err != nil:
		return commandline.Help(stdout, err)
	case c.peer != "":
		return printPeer(stdout, c)
	case c.compare != "":
		return compare(stdout, stderr, c)
	}
	return c.start(c.body(stdout, stderr))
}
