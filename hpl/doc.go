// Package hpl solves the LINPACK benchmark: a dense system of linear equations with
// netlib's random matrix, by LU factorization with partial pivoting, on a grid of P x Q
// processes, and verifies the solution as netlib's HPL 2.3 does.
//
//	cfg := hpl.Default(8000)
//	err := world.Run(func(c *mpi.Comm) error {
//		r, err := hpl.Run(c, cfg)
//		...
//	})
//
// The driver Task, the default, spawns the factorization as a graph of tasks; the drivers
// TaskPlain, LookAhead and Blocking use the same kernels and the same verification
// ([Variant]). To see how tasks express LINPACK, read taskplain.go first. [Bytes] returns
// the memory of a run before it starts; bench/xhpl is the whole benchmark.
//
// # Guaranteed
//
//   - All drivers give the same bits for one configuration of grid, NB, workers and kernels.
//   - Residual is netlib's; a run without error and with Residual below 16 is netlib's PASSED.
//   - An error on one rank ends the run on all ranks.
//
// # Not guaranteed
//
//   - Results on different grids, or with different NB, workers or kernels, are equal up to
//     rounding, not bit for bit; where two candidates are nearly equal, pivots may differ.
//   - UNoTrans has no effect: U goes into the product packed, which is neither form.
//   - Where ranks share cores, a driver without tasks may spin for some microseconds for a
//     helper that has no core.
//   - A run that meets a NaN goes on to its end and reports it there.
//
// # Terms
//
//	order N        of the matrix; the right side is column N
//	block          NB x NB elements; both dimensions are dealt block-cyclically
//	process row,   of the grid: the processes of a process column share columns of the
//	process column matrix
//	panel k        a block column from its diagonal down, or some columns of one, and its factors
//	triangle       the diagonal block of a panel: L1 and U; L2 is below it
//	active rows    rows of a panel that may still become pivot rows
//	trailing       columns right of a panel
//	update         of a column by a panel: exchange rows, solve for U, multiply
//	look-ahead     panels factored before an older one has been applied everywhere
//	driver         schedules the kernels
//
// # Source
//
//	Config, Result    config.go, validate.go
//	generator         netlib's matrix, any tile at any time       generator.go
//	axis, grid,       distribution, communicators, local part     axis.go, grid.go, matrix.go
//	matrix
//	solver            the state of a rank; rules for drivers      solver.go
//	panel             a panel and its message                     panel.go
//	division          the columns of each panel                   narrow.go
//	factor            factorization of a panel                    factor.go, leaf.go, pivot.go
//	swapHere, ...     the kernels of an update                    update.go
//	backSubstitute    the solution                                backsolve.go
//	verify            norms and residual                          verify.go
//	team, driver      workers and buffers without tasks           team.go, driver.go
//	helpers           a team, or workers that join a task         taskshare.go
//	run...            drivers without tasks                       blocking.go, lookahead.go
//	spawnPlain        the plain graph of tasks                    taskplain.go
//	taskRun           what both graphs of tasks share             task.go, taskmemory.go
//	spawn             the plain graph with refinements            taskgraph.go, taskpolicy.go
//	Refinement        what it does beyond spawnPlain, and its worth       refinement.go
//	journal           the log of a driver without tasks                   journal.go
//
// Folder blas has the arithmetic, internal/bcast the broadcasts of panels, internal/swap the
// exchanges of rows.
package hpl
