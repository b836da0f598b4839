// Command dense compares gonum, gonum on weft (package hpl/gonum) and, built with -tags
// openblas, OpenBLAS: products, factorizations and solutions of dense matrices in float64.
//
//	dense                                   products and factorizations of orders 1000 and 2000
//	dense -op gemm,lu -n 8,64,300 -workers 1
//	dense -op together -n 300               8 goroutines at once, and in turn
//	dense -h
//
// Contenders take turns, repetition by repetition. The results are compared with gonum's
// before the timing: a difference is exit code 1. It ends with one line per operation, order
// and contender:
//
//	result op=lu m=2000 n=2000 by=weft-avx512 workers=2 reps=5 ms=.. gflops=.. fraction=.. speedup=..
//
// fraction is gflops over the measured peak of the workers' cores, speedup the time of the
// first contender over this one's.
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
			err = fmt.Errorf("dense: FAILED: %w", err)
		}
	}
	return commandline.Code(err, stdout, stderr)
}
