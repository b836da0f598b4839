// You will see the Cholesky factorization A = L Lᵀ of a matrix in one piece of
// memory, cut into tiles, done by a plain loop and then by the same loop with its
// calls spawned as tasks: both times, the speed-up, and the paths of a timeline
// and of the task graph. The last line checks the residual, and that both runs
// gave the same bytes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// The kernels (kernels.go) as tasks. The next potrf waits for the longest chain, so
// what leads to it goes first.
var (
	potrf = tasks.DeclareCtx1("potrf", func(_ *tasks.Context, a tile) error { return factor(a) }, tasks.Inout, tasks.HighPriority)
	trsm  = tasks.Declare2("trsm", solve, tasks.Input, tasks.Inout, tasks.Priority(2))
	syrk  = tasks.Declare2("syrk", square, tasks.Input, tasks.Inout, tasks.Priority(1))
	gemm  = tasks.Declare3("gemm", multiply, tasks.Input, tasks.Input, tasks.Inout)
)

// cholesky factors the lower triangle of m in tiles of nb x nb: it spawns the calls in the
// order of the plain loop (plain.go), and returns at once.
func cholesky(rt *dataflow.Runtime, m tile, nb int) {
	for k := 0; k < m.Cols; k += nb {
		potrf.Spawn(rt, at(m, nb, k, k))
		for i := k + nb; i < m.Rows; i += nb {
			trsm.Spawn(rt, at(m, nb, k, k), at(m, nb, i, k))
		}
		for j := k + nb; j < m.Cols; j += nb {
			syrk.Spawn(rt, at(m, nb, j, k), at(m, nb, j, j))
			for i := j + nb; i < m.Rows; i += nb {
				gemm.Spawn(rt, at(m, nb, i, k), at(m, nb, j, k), at(m, nb, i, j))
			}
		}
	}
}

// run runs the program of the flags and reports whether the result is right.
func run(o options) (ok bool, err error) {
	a := positive(o.n)
	var plain, parallel tile
	var t1, tp time.Duration
	err = dataflow.Run(func(rt *dataflow.Runtime) (err error) {
		plain, parallel, t1, tp, err = race(rt, a, o.nb)
		return err
	}, dataflow.Workers(o.workers))
	if err != nil {
		return false, err
	}
	flops := float64(o.n) * float64(o.n) * float64(o.n) / 3e9
	fmt.Printf("matrix     %d x %d in tiles of %d x %d\n", o.n, o.n, o.nb, o.nb)
	fmt.Printf("plain loop %.3f s  %5.2f GFLOP/s\n", t1.Seconds(), flops/t1.Seconds())
	fmt.Printf("%-2d workers %.3f s  %5.2f GFLOP/s  speed-up %.2f\n", o.workers, tp.Seconds(), flops/tp.Seconds(), t1.Seconds()/tp.Seconds())
	if err := o.private(); err != nil {
		return false, err
	}
	if err := record(o.trace, a, o.nb, o.workers); err != nil {
		return false, err
	}
	fmt.Printf("timeline   %s (%s)\n", o.trace, viewers[strings.ToLower(filepath.Ext(o.trace))])
	if err := record(o.dot, positive(4*16), 16, o.workers); err != nil {
		return false, err
	}
	fmt.Printf("graph      %s (of 4 x 4 tiles; %s)\n", o.dot, viewers[strings.ToLower(filepath.Ext(o.dot))])
	r, same := residual(a, parallel), slices.Equal(plain.Data, parallel.Data)
	if !(r < 16) || !same {
		fmt.Printf("FAILED: residual %.3g (limit 16), same bytes as the plain loop: %v\n", r, same)
		return false, nil
	}
	fmt.Printf("ok: residual %.3g (limit 16), same bytes as the plain loop\n", r)
	return true, nil
}

func main() {
	ok, err := run(parse())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !ok {
		os.Exit(1)
	}
}
