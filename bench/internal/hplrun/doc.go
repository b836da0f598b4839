// Package hplrun is the LINPACK program: bench/xhpl, and bench/xhpl-lookahead, which is
// the same with one driver fixed.
//
// Program.Run reads the command line (flags.go) and, with -dat, an HPL.dat (package
// hpldat), starts the ranks, chooses the values that are still open (plan.go: the grid, and
// the size of the matrix for this machine, by size.go; memory.go and limits.go refuse
// runs that do not fit), and runs every test (sweep.go). Rank 0 prints the output of
// netlib's program, to the character (netlib.go), then further remarks and the result
// lines (report.go).
//
// # Vocabulary
//
//	test      one combination of the values of an HPL.dat
//	run       one solution: a test is run once, or -reps times with each driver
//	driver    hpl.Variant: task, lookahead, blocking, tasks-plain
//	code      netlib's T/V: WR11R2C4 is row-major, depth 1, broadcast 1, recursion
//	          right, 2 parts, leaves Crout, leaves of 4 columns
//
// # Differences from netlib's program
//
//   - The task drivers have no depth; their code has 9 where the depth is, whatever DEPTH
//     says. A list of DEPTHs is still run value by value, so that counts agree.
//     The blocking driver has 0.
//   - A failed residual, or a singular matrix, is exit code 1, and a bad HPL.dat 2;
//     netlib has 0 and 1, and so has -netlib-exit.
//   - Memory is looked at before anything is run, not when it runs out: one test that
//     does not fit refuses the file, where netlib skips the test.
//   - Errors name the line of HPL.dat, not of the source.
//
// Ranks are goroutines or processes; all of them parse the same command line, make the
// same plan, and go through the same runs. Only rank 0 keeps results.
package hplrun
