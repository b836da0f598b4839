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
// # Vocabulary
//
//	order N        of the matrix; the right side is its column N
//	block          NB x NB elements; blocks are dealt to the grid in both directions
//	process row,   of the grid: those of a process column share columns of the matrix
//	process column
//	local          index or count among what one process has (axis)
//	panel k        block column k from its diagonal down, and what comes of factoring it
//	triangle       the diagonal block of a panel: L1 and U; L2 is what is below it
//	active rows    of a panel: those that may still become pivot rows
//	trailing       the columns right of a panel
//	update         of a column by a panel: exchange rows, solve for U, multiply
//	look-ahead     panels that have been factored before the last one was applied everywhere
//	driver         what calls the kernels in which order
//
// # How the pieces fit
//
//	Config, Result    what is asked, what has been shown         config.go, validate.go
//	generator         the matrix, any tile at any time           generator.go
//	axis, grid,       who has what, who talks to whom            axis.go, grid.go, matrix.go
//	matrix
//	solver            what a rank knows; kernels are methods     solver.go
//	panel             a panel and its message                    panel.go
//	factor            active rows to panel, recursively          factor.go, leaf.go, pivot.go
//	swapHere, ...     the kernels of an update                   update.go
//	backSubstitute    the solution                               backsolve.go
//	verify            norms and residual                         verify.go
//	team, driver      workers and buffers without tasks          team.go, driver.go
//	run...            the drivers                                blocking.go, lookahead.go, task.go
//	spawnPlain        the plain graph of tasks                   taskplain.go
//	taskRun           the graph of tasks                         taskgraph.go, taskbody.go, arrive.go
//
// Folders: blas has the arithmetic, internal/bcast the ways of a panel along its row,
// internal/swap the exchanges of rows.
//
// # Kernels, and what a driver calls when
//
// A driver is given a solver whose matrix has been filled, and does this, where "here"
// means on the processes of column p.col:
//
//	s.newPanel(0)                   as many as are to be in flight; p.free() afterwards
//	s.start()                       once, when all is allocated: starts the clock
//	per panel k:
//	  s.place(p, k)                 everywhere: p is panel k from now on
//	  s.factor(p)                   here: needs the columns of p up to date; writes p.msg
//	  p.msg to all of the row       any way, whole or in pieces: one slice of numbers
//	  s.open(p)                     everywhere: pivots, packed triangle, plan of swaps
//	  per range [c0, c1) of local columns from p.right on:
//	    P = 1: s.swapHere(p, c0, c1)
//	    P > 1: s.swapAcross(p, c0, c1, tag, work, raw)
//	    s.solve(p, c0, c1, raw, u)
//	    s.multiply(p, r0, r1, c0, c1, u)      in one piece or several
//	  s.report(p)                   after all columns, for the program's progress
//	s.finish(team)                  once: back-substitution, stops the clock
//
// A column needs the panels one after another. Everything else is up to the driver:
// different columns, and different rows of multiply, do not know each other.
//
// # Who owns what
//
//   - A panel belongs to one goroutine from place to open, one after another in any case;
//     after open it is only read, by as many as like to, until the next place. Panels share
//     nothing.
//   - Columns of the matrix belong to who updates them; the kernels touch no others. factor
//     writes to the columns of its panel, solve to the rows of the triangle, multiply
//     to its rows. Reading the matrix is finish's affair.
//   - Scratch (work, raw, u) is the caller's: a kernel has none of its own. u belongs to one
//     range of columns of one panel from solve to the end of its last multiply.
//   - Pivots of the solver are written by open, each panel its own part; the info is atomic.
//   - The team belongs to the goroutine of the driver.
//
// # Communicators
//
// Each purpose has its own (grid), so messages of different purposes are not ordered:
//
//	panels   along a row      broadcasts of panels; tag k modulo panelTags
//	pivots   along a column   exchange of pivot rows in factor; x in the back-substitution
//	swaps    along a column   exchange of rows
//	sums     along a row      back-substitution, norms, x
//	all                       start, agreement, results
//
// factor and swapAcross block until their messages have come and gone, so where P > 1
// they are called in the same order on all processes of a column, or run where blocking
// hurts nobody; swaps of different columns may be under way together if their tags
// differ. An error of any of them revokes the grid (Run does), so nobody waits for who has
// given up.
//
// # Drivers
//
// Blocking does one panel after another. LookAhead is netlib's algorithm: its panels
// travel while the update looks after them between two blocks of columns, and not
// otherwise. Both use Workers as a threaded BLAS would: the columns of an update, and
// the rows of the products inside a panel (factorWith), are dealt out, and all wait for the
// slowest. Task makes every call a task whose dependences say what waits for what; TaskPlain
// does so in the loops of the sequential algorithm, in as few lines as that takes: read
// taskplain.go first.
//
// # Panels
//
// The factorization (factor.go) works in place. With P = 1 the triangle is the top of the
// panel, and rows are exchanged where they stand. With P > 1 every process of the column
// has a copy of the triangle, which grows by a row per column: one exchange of 2*NB+4
// numbers finds the pivot, brings its row to all, and the row it replaces to where the
// pivot row was (netlib's HPL_pdmxswp; of equal candidates the upper row wins, on any
// grid). What is below is packed for the product once, on the process that factored it,
// and travels like that. L is not permuted afterwards: only U is needed.
//
// # What is not guaranteed
//
//   - Results on different grids, or with different NB or kernels, are equal up to
//     rounding, not bit for bit; where two candidates are nearly equal, pivots may differ.
//   - UNoTrans changes nothing: U goes into the product packed, which is neither form.
//   - Where ranks share cores, a driver without tasks may wait in a spin of some
//     microseconds for a helper that has no core.
//   - A run that meets a NaN goes on to its end and reports it there.
package hpl
