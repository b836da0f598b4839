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
// # What Verify finds
//
// With the option dataflow.Verify the tasks run one by one, in the order of their spawns,
// and each body is compared with its declaration. Errors name task, parameter and remedy.
//
//	an Input              is the same afterwards
//	an Output             has been written everywhere when body, children and held events
//	                      have ended, and was not read before: before the body, it is
//	                      filled with marks. A body that fails may leave its outputs.
//	a Weak access         is not written by the body itself, but after a wait for the
//	                      children that touched it
//	a slice as Value      is not written (the first MiB of it)
//	an access of a child  is covered by its parent, where other tasks touch that memory
//
// That holds for the dynamic form, too, and for types with a method Region if the memory
// belongs to a slice or variable that the argument refers to; of other memory (a bare
// deps.Region, say) only inputs are compared.
//
// Marks are NaN with a payload in floating-point numbers, which shows a read of them in a
// calculation; noise in integers; and values of their own in pointers, strings, slices, maps
// and interfaces, so a body that reads such an Output may panic. Locks, channels, functions and
// atomic variables are left alone. An integer that equals its mark proves nothing, but some
// bits, and an error needs 30: one 64-bit number, or a run of small ones. A few small integers
// that are not written, and most ways to read an integer, show only if the body is run twice.
//
// A body is run a second time, with its inputs and updates restored and other marks, if
// that can do no harm as far as can be seen: it was declared without a Context, captures
// no variable, and is passed only numbers, text, and memory of numbers. A difference is
// an error if it goes with the marks in eight more runs; so results that come from chance, from
// a clock or from a counter are no error. What such a body prints, sends, or counts in a
// global variable happens twice: give it a Context if that matters.
//
// Not seen: globals and captured variables, in whatever form; a read of more memory
// than was declared, or of what is Weak; Commutative bodies that do not commute and
// Concurrent ones that do not synchronize; whatever depends on values that the run did
// not have. Run the program with Seeded, and under the race detector, as well.
//
// A task costs about the time to read its inputs twice, to copy, mark and read its outputs,
// some 30 ns a number, and to copy what is Weak or a Value; a body that is run twice
// takes twice as long, and all of them run on one core. Debug and Verify keep the memory
// that tasks have named until the next Wait.
//
// # Cost
//
// A Spawn of a declared task with three parameters allocates nothing in steady
// state and costs about 0.1 us on a 2.6 GHz EPYC core including its execution;
// bodies below a microsecond are better fused.
package tasks
