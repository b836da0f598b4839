// Package task holds the task record and the domain: package tasks fills them in when a
// program spawns, and package dataflow runs them. Users never see them.
//
// # Terms
//
//	declaration  a function made a task (Decl); one per package variable
//	record       one task: its node in the graph, its arguments, its accesses
//	domain       the tasks that share one dependency tracker: the tasks of the
//	             main program, or the children of one task. One goroutine inserts.
//	allocator    the records that one inserting goroutine makes and reuses
//	gate         a record that stands in the parent's domain for a weak access
//	runner       executes records: a worker of package dataflow
//
// # Life of a record
//
//	free      on the free list of its pool; belongs to the allocator's goroutine
//	filling   Begin .. Commit; belongs to the inserter
//	waiting   belongs to its last unfinished predecessor
//	ready     in a queue, or queued on a commutative lock; belongs to the queue
//	running   belongs to the runner
//	draining  the body has ended; children or held events keep it from ending.
//	          Belongs to the goroutine that brings refs to zero.
//	ended     released; on its way to the free list through a runner's return
//	          chain and the inbox of its allocator, or, if it failed, kept until
//	          the failure has been reported
//
// Only the goroutine of its allocator reuses a record, and only that goroutine inserts into
// its domain, so checking the tracker's references (node, number) needs no synchronization.
//
// # Weak accesses
//
// A task with a weak access does not access the region itself; its children do. The weak
// access becomes a gate: a separate record in the parent's domain with the strong access.
// When the gate becomes ready it opens: the children of the task that access the region
// wait for that, but the task does not. The gate ends when the task and all its children
// have ended.
//
// A task may have thousands of weak accesses, with Each. The tracker relates them to each
// other: while a task is registered, every entry that it has named carries a claim, with
// the modes and the gates of the task, so a further access looks only at the entries that
// overlap it. The children search the accesses of their parent in a tree (givens), which
// the first child that needs it makes.
//
// # Children that their parents do not cover
//
// The tracker orders a child among its siblings, and by its parent's accesses among the
// tasks of the parent's domain. It does not order accesses beyond those with any task
// outside the parent. Checking domains (Cover) compare such accesses with the tasks beside
// the parent; an error needs a conflict, and no path of dependences between the two tasks.
package task
