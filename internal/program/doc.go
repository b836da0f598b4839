// Package program makes random programs of tasks, runs them on the runtime, and compares
// the results with an independent interpreter. It tests schedulers: a fault of the tracker,
// the queues or the locks shows as wrong words, as a task that ran and should not have, or
// as a run that does not end.
//
// # Vocabulary
//
//	program    steps of the main program, made from a seed by [Generate]
//	step       a spawn, a wait for all tasks or children, a wait on a region, or more work
//	task       accesses, clauses, and the steps of its body
//	region     words of the arena, as an interval or a column-major tile, or a buffer
//	work       the computation of a body: it mixes all words that it reads into all that it
//	           writes, so one task that runs too early changes all later results
//	outcome    the words at the end, the words read after waits, the tasks that ran
//
// # How it is used
//
// [Interpret] returns the outcome of a program in the order of its text: one task after
// another, and, where tasks fail, without their successors. It shares only the code of one
// body with the run on the runtime. [Run] returns the outcome on the runtime, in any
// configuration; [Compare] says how the two differ, and [Shrink] makes a program smaller
// as long as it shows the difference.
//
// Nothing here knows the time: bodies call [Config].Yield where others may go first, and
// what happens later than a body goes through [Config].Later. So the same programs run on
// a machine whose time is simulated.
//
// # What a program may do
//
// A child stays within the accesses of its parent. Concurrent and commutative accesses add,
// so that their order does not matter; reductions do not commute. A task that fails has
// written nothing. Programs with failing tasks have no reductions, and a task that
// overwrites a buffer has no children there and does not fail, though it may be skipped:
// after a failure, the buffer's contents depend on whether the task had a copy. A wait on a
// region whose writer has failed counts as a reader that was skipped.
package program
