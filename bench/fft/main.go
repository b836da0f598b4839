// Command fft measures the transforms of package fft on this machine, checks
// them by a round trip, and compares them with FFTW.
//
//	fft -n 512 -batch 16 -layout interleaved     many transforms of one length
//	fft -dims 256x256x128 -workers 2             one array of several dimensions
//	fft -n 1024 -isa avx2 -peer                  other kernels; FFTW beside them
//
// A measurement is repeated (-reps); small problems are done several times in each.
// FFTW, with -peer, is a C program compiled when this one starts (plans made
// with FFTW_MEASURE), and runs in turn with weft, repetition by repetition, so that
// other load on the machine affects both alike. It has as many threads as weft has workers.
//
// The last line is
//
//	result seconds_best=.. seconds_median=.. gflops_best=.. gflops_median=.. error=.. ..
//
// where one forward transform of the whole batch or array counts 5 N log2(N)
// operations per N points, and error is the largest difference after a forward and
// an inverse transform, relative to the root mean square. With -peer there are
// also peer_seconds_best, peer_seconds_median and ratio, which is
// peer_seconds_median / seconds_median.
//
// Exit code: 0 done and checked, 1 failed, 2 usage.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/internal/commandline"
)

func main() { os.Exit(program{stdout: os.Stdout, stderr: os.Stderr}.run(os.Args[1:])) }

// program is one invocation. tamper, if not nil, damages the output of every
// checked transform: the negative control of the tests.
type program struct {
	stdout, stderr io.Writer
	tamper         func([]complex128)
}

// run returns the exit code.
func (p program) run(args []string) int {
	c, err := parse(args)
	if err == nil {
		if err = p.measure(c); err != nil {
			err = fmt.Errorf("fft: FAILED: %w", err)
		}
	}
	return commandline.Code(err, p.stdout, p.stderr)
}

// measure runs the measurement of the flags.
func (p program) measure(c *config) error {
	job, err := newJob(c)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "Fourier transforms of complex128 on weft")
	fmt.Fprintln(p.stdout, machine.Line())
	fmt.Fprintf(p.stdout, "transform: %s, kernels %s, %d workers, %s, %d repetitions\n", c.title(), c.set, c.workers, c.placeText(), c.reps)
	var other *peer
	if c.peer {
		if other, err = startPeer(c, job.rounds); err != nil {
			return err
		}
		defer other.stop()
	}
	m, err := job.run(p.tamper, other)
	if err != nil {
		return err
	}
	m.print(p.stdout, c)
	if !(m.roundTrip < errorLimit) {
		return fmt.Errorf("the round trip is off by %.3g, more than %g", m.roundTrip, errorLimit)
	}
	return nil
}

// errorLimit is a hundred times the error of a correct transform.
const errorLimit = 1e-12
