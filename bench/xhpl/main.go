// Command xhpl is the LINPACK benchmark on weft: netlib's HPL with the factorization as
// a graph of tasks, whose messages overlap with arithmetic without anybody scheduling
// them. It reads netlib's input file and prints what netlib's xhpl prints.
//
//	xhpl                                one process, all cores, sized for about 15 s
//	xhpl -n 8000 -nb 192                one system
//	xhpl -dat HPL.dat -ranks 4          the tests of a file, on 4 ranks in this process
//	xhpl -n 4000 -q 2 -compare          task, look-ahead and blocking driver in turn
//	xhpl -n 4000 -q 2 -trace run.html   with a timeline for any browser
//	mpirun -np 4 xhpl -dat HPL.dat      under MPI
//
// xhpl -h explains the flags and the output. The folder testdata has netlib's HPL.dat,
// whose 864 tests go through every combination of what matters on 4 ranks:
//
//	xhpl -dat bench/xhpl/testdata/HPL.dat -ranks 4
//
// The two others there have every broadcast, and every value of the options of which a
// file has one only.
//
// Exit code: 0 all tests passed, 1 a test failed, 2 usage.
package main

import "github.com/weft-hpc/weft/bench/internal/hplrun"

func main() { program.Main() }

var program = hplrun.Program{
	Name: "xhpl",
	About: `NAME is the LINPACK benchmark: netlib's HPL with the factorization as a graph of tasks,
or, with -variant, as netlib schedules it. It reads netlib's HPL.dat and prints netlib's
output.`,
}
