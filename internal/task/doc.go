// Package task holds the task record and the domain: what package tasks fills
// in when a program spawns, and package dataflow runs. Users never see it.
//
// # Vocabulary
//
//	declaration  a function made a task (Decl); one per package variable
//	record       one task: its node in the graph, its arguments, its accesses
//	domain       the tasks that share one dependency tracker: those of the main
//	             program, or the children of one task. One goroutine inserts.
//	allocator    the records that one inserting goroutine makes and reuses
//	gate         a record that stands in the parent's domain for a weak access
//	runner       what executes records: a worker of package dataflow
//
// # Life of a record
//
//	free      on the free list of its pool; belongs to the allocator's goroutine
//	filling   Begin .. Commit; belongs to the inserter
//	waiting   belongs to its last unfinished predecessor
//	ready     in a queue, or queued on a commutative lock; belongs to the queue
//	running   belongs to the runner
//	draining  the body has ended; children or held events keep it from ending.
//	          Belongs to whoever brings refs to zero.
//	ended     released; on its way to the free list through a runner's return
//	          chain and the inbox of its allocator, or, if it failed, kept aside
//	          until the failure has been reported
//
// A record is reused only by the goroutine of its allocator, which is the only
// one that inserts into its domain, so the tracker's references (node, number)
// are checked without synchronization.
//
// # Weak accesses
//
// A task with a weak access does not touch the region itself; its children do.
// The weak access becomes a gate: a record of its own in the parent's domain
// that has the access strongly. When the gate becomes ready it opens: the
// children of the task that touch the region wait for that, and not the task.
// The gate ends when the task has ended with all its children.
//
// A task may have thousands of weak accesses, with Each. What they need of each other is
// found in the tracker: while a task is registered, every entry that it has named carries
// a claim, with the modes and the gates that stand there, so a further access looks at
// the entries around it alone. The children search the accesses of their parent in a tree
// (givens), which is made when the first child needs it.
//
// # Children that their parents do not cover
//
// A child is ordered among its siblings, and by its parent's accesses among the tasks of
// the parent's domain. What it touches beyond them is ordered with nobody outside the
// parent. Domains that check (Cover) compare such accesses with those of the tasks beside
// the parent; an error needs both, and no path of dependences between the two tasks.
package task
