// Package tasks declares functions as tasks, with their accesses to their parameters: once,
// to be called many times, as a pragma did for a C function in SMPSs:
//
//	var (
//		potrf = tasks.Declare1("potrf", factor, tasks.Inout, tasks.HighPriority)
//		trsm  = tasks.Declare2("trsm", solve, tasks.Input, tasks.Inout)
//		gemm  = tasks.Declare3("gemm", multiply, tasks.Input, tasks.Input, tasks.Inout)
//	)
//
//	potrf.Spawn(rt, a[k][k])          // returns at once
//	trsm.Spawn(rt, a[k][k], a[i][k])  // will wait for potrf: both access a[k][k]
//
// Spawn does not wait for the task. The runtime (package dataflow) finds the dependences from
// the memory of the arguments, and runs each body when its inputs are ready. The result is
// that of a program in which each Spawn calls the function directly.
//
// # Parameters
//
//	[]T          the bytes of its len elements
//	*T           the bytes of the variable
//	Tile[T]      a column-major block of a matrix
//	*Buffer[T]   storage that the runtime may rename
//	any type with a method Region() deps.Region
//	[]E          with Each: every element is a separate access
//	any type     with Value: passed on, no dependence
//
// A parameter of another type panics at declaration. A nil pointer and a region of length
// zero cause no dependence. Until the task has ended, a slice passed with Each must not
// change, and the memory of a region must not be freed or moved.
//
// # Accesses
//
//	Input        reads
//	Output       writes every byte and reads none
//	Inout        reads and writes
//	Concurrent   may run beside other Concurrent accesses; the bodies synchronize
//	Commutative  one at a time, in any order
//	Reduction    gets a private copy; copies are combined in the order of submission
//	Weak(...)    only the children of the task access it
//	Lazy(...)    may still be arriving when the task starts
//	Each(...)    of every element of a slice parameter
//
// # Clauses
//
// Clauses follow the accesses of a declaration, or the arguments of one Spawn:
//
//	Priority(n), HighPriority   first among the ready tasks, across all workers
//	Label(name), Cost(d)        name in reports; length of the body
//	If(false)                   Spawn waits for the task, and runs it in place
//	Final(true)                 its children run in place
//	OnReady(f)                  f is called when it becomes ready
//	OnWorker(i), OnComm         runs on worker i, on the communication thread
//
// A body that takes a [Context] (DeclareCtx1 ...) may return an error, spawn children, wait
// for them, keep its task from ending until an event has come, and give its core to another
// worker while it sleeps.
//
// [Spawn] takes a closure, and its accesses as clauses, if they are known at run time only.
//
// Mistakes: the option dataflow.Verify compares each body with its declaration (file
// verify.go says what it finds, and costs). Run with dataflow.Seeded and the race detector,
// too.
//
// Cost: a declared task with three parameters takes about 0.1 us on a 2.6 GHz EPYC core, and
// allocates nothing; Spawn of a closure allocates. Fuse bodies below a microsecond.
package tasks
