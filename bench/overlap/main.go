// Command overlap runs one program in several forms: rank 0 sends a message to rank 1
// (2 MiB), and both compute meanwhile (30 ms of fixed work). How much of the message is
// hidden behind the arithmetic?
//
//	blocking          Send or Recv, then the computation
//	nonblocking       Isend or Irecv, the computation, Wait
//	progress-thread   the same, with the progress thread of Open MPI's TCP transport
//	commthread        comm task and compute task, on the communication thread and one
//	                  worker per rank
//
// A perfect overlap takes as long as the longer of the two alone.
//
//	overlap                       in-process ranks, 1 Gbit/s shaped, both progress modes
//	overlap -net 10gige -both
//	overlap -real                 real TCP, limited to 1 Gbit/s; needs root and Open MPI
//	mpirun -np 2 overlap          over whatever the machine's MPI library uses
//
// The forms alternate, repetition by repetition. The computation is a fixed number of
// rounds of a kernel, calibrated in a quiet phase: a loop that ends at a given time
// would hide the cycles that polling takes from it. The time is the slower rank's, from a
// barrier to the end of message and computation.
//
// # Real TCP
//
// With -real the program starts itself in a new network namespace (unshare -n),
// limits the loopback device there with a token bucket (tc, tbf), and runs each form
// under mpirun with Open MPI's TCP transport alone. Nothing outside the namespace
// changes, and it is gone at the end.
//
// # HUNT
//
// With -reading the program repeats the evaluation of HUNT (Iancu, Husbands, Hargrove,
// section 6) on package commthread/dds: the cost of a transfer that is read at once, and
// the gains of reading it while it arrives and of hiding it behind other work. See hunt.go.
//
// # Reading the source
//
// variant.go has the forms, measure.go runs them on a rank, shaped.go over in-process
// ranks, real.go over real TCP; flags.go has the flags and report.go the output.
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
	case c.hunt:
		return huntMode(stdout, stderr, c)
	case c.inside:
		return inNamespace(stdout, stderr, c)
	case c.real:
		return overTCP(stdout, stderr, c)
	case c.launched:
		return underLauncher(stdout, stderr, c)
	}
	return shaped(stdout, stderr, c)
}
