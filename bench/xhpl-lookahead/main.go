// Command xhpl-lookahead is the baseline of xhpl: the LINPACK benchmark with netlib's
// own algorithm, panels factored DEPTH steps ahead and progress of messages by polling
// between chunks of columns, over the same kernels, with the same input and output.
// The two differ in the scheduler.
//
//	xhpl-lookahead -n 4000 -q 2 -depth 1
//	xhpl-lookahead -dat HPL.dat -ranks 4
//
// xhpl-lookahead -h explains the flags and the output. Exit code: 0 all tests passed, 1
// a test failed, 2 usage.
package main

import (
	"github.com/weft-hpc/weft/bench/internal/hplrun"
	"github.com/weft-hpc/weft/hpl"
)

func main() { program.Main() }

var (
	lookAhead = hpl.LookAhead
	program   = hplrun.Program{
		Name: "xhpl-lookahead",
		About: `NAME is the LINPACK benchmark as netlib schedules it: look-ahead of DEPTH panels,
messages progressed by polling. It is the baseline of xhpl, over the same kernels.`,
		Fixed: &lookAhead,
	}
)
