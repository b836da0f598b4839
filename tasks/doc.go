// Package tasks says what a task is: a function together with how it touches its
// parameters.
//
// A function is declared once and called many times, as a pragma did for a C
// function in SMPSs:
//
//	var (
//		potrf = tasks.Declare1("potrf", factor, tasks.Inout, tasks.HighPriority)
//		trsm  = tasks.Declare2("trsm", solve, tasks.Input, tasks.Inout)
//		gemm  = tasks.Declare3("gemm", multiply, tasks.Input, tasks.Input, tasks.Inout)
//	)
//
//	potrf.Spawn(rt, a[k][k])          // returns at once
//	trsm.Spawn(rt, a[k][k], a[i][k])  // will wait for potrf: both touch a[k][k]
//
// Spawn never blocks for the task. The runtime (package dataflow) finds the
// dependences from the regions of memory that the arguments describe, and runs
// each body when everything it reads is there. The result is the same as if each
// Spawn had called the function then and there: that is the specification.
//
// # What can be a parameter
//
//	[]T          the bytes of its elements, as far as its length
//	*T           the bytes of the variable
//	Tile[T]      a column-major block of a matrix
//	*Buffer[T]   storage that the runtime may rename
//	any type with a method Region() deps.Region
//	[]E          with Each: every element is an access of its own
//	any type     with Value: passed on, no dependence
//
// A parameter of another type with an access other than [Value] panics at
// declaration. A nil pointer and a region of length zero are legal and cause no
// dependence.
//
// Arguments are kept by the runtime until the task has ended: a slice passed with
// Each must not change before that, and the memory of every region must stay
// what it is.
//
// # Accesses
//
//	Input        reads
//	Output       writes every byte and reads none
//	Inout        reads and writes
//	Concurrent   may run beside other Concurrent accesses; the bodies synchronize
//	Commutative  one at a time, in any order
//	Reduction    gets a private copy; copies are combined in the order of submission
//	Weak(...)    only the children of the task touch it
//	Lazy(...)    may still be arriving when the task starts
//	Each(...)    of every element of a slice parameter
//
// # Clauses
//
// Clauses stand behind the accesses of a declaration, where they hold for every task of
// it, or behind the arguments of a Spawn, where they hold for that one:
//
//	Priority(n), HighPriority   first among the ready tasks, across all workers
//	Label(name), Cost(d)        what reports call it, and how long it takes
//	If(false)                   Spawn waits for it, and runs it in place
//	Final(true)                 its children run in place
//	OnReady(f)                  f is called when it becomes ready
//	OnWorker(i), OnComm         where it runs: a worker, the communication thread
//
// A body that takes a [Context] (DeclareCtx1 ...) may return an error, spawn children,
// wait for them, keep its task from ending until an event has come, and give its core to
// another worker while it sleeps.
//
// # The dynamic form
//
// Where the number or kind of accesses is not known beforehand, [Spawn] takes a
// closure and its accesses as clauses. It allocates; declared tasks do not.
//
// # Cost
//
// A Spawn of a declared task with three parameters allocates nothing in steady
// state and costs about 0.1 us on a 2.6 GHz EPYC core including its execution;
// bodies below a microsecond are better fused.
package tasks
