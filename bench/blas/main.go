// Command blas measures the kernels of LINPACK on one pinned core: how many
// GFLOP/s, and what part of the processor's peak?
//
//	blas -op dgemm -m 2000 -n 2000 -k 192
//	blas -op dgemm -isa avx512,avx2,openblas -reps 31     (go build -tags openblas)
//	blas -h
//
// Implementations named together run in turn, repetition by repetition, so that other
// load on the machine affects all alike; so does the peak, a loop of independent
// multiply-adds in registers. Times are the thread's time on its core, if the system
// reports it. Before the timing, the results are compared with the results of the
// portable kernels: a difference is exit code 1.
//
// It ends with one line per implementation:
//
//	result op=dgemm isa=avx512 m=2000 n=2000 k=192 reps=15 gflops_best=.. gflops_median=.. peak_gflops=.. fraction=.. ratio=..
//
// peak_gflops is the median peak with the instructions of that implementation (the
// widest there are for portable and openblas; 0 where no loop exists), fraction is
// gflops_median / peak_gflops, and ratio is gflops_median over the gflops_median of the
// last implementation named.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/commandline"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program: 0 done and verified, 1 failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	c, err := parseArgs(args)
	if err == nil {
		c.progress = report.NewProgress(stderr)
		if err = c.execute(stdout); err != nil {
			err = fmt.Errorf("blas: FAILED: %w", err)
		}
	}
	return commandline.Code(err, stdout, stderr)
}
