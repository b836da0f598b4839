// Package advise answers two questions about a program with blocking messages: which of
// them could be under way together, and how many seconds that would save.
//
//	WEFT_ADVISE=run.json ./program      run it once, unchanged
//	go run ./bench/advise run.json      the places, the greatest saving first
//	go run ./bench/advise -diff run.json    the change, where it is provably safe
//
// Programs that start with mpi/world need no more than the variable; others wrap their body
// with [Wrap]. Two more variables: WEFT_ADVISE_SIZE tells the problem size, a number, for
// sets of runs, and WEFT_ADVISE_REHEARSE how long the measurements after the run may take
// (500ms; 0: there are none).
//
// Savings are measured, not modelled: after the run, pieces of it are replayed in both forms, in
// turn, with all their calls and as much computation between. The run itself makes every call
// unchanged, so results, errors and the order of messages are the same as without the analysis.
// The method comes from Natvig and Elster, "Run-Time Analysis and Instrumentation for
// Communication Overlap Potential" (EuroMPI 2010).
//
// # What is not guaranteed
//
// Advice is about the run that was made: other sizes may have other chains of messages, and
// other savings. Its changes are right for all of them: they are made of [mpi.Batch], which
// compares the buffers when the program runs.
// Calls that a communication thread makes for tasks are counted and not advised on: tasks
// overlap already. First touches of received memory are seen for memory of [mpi.Alloc] only,
// and only with userfaultfd, with cgo and without the race detector; the file says
// where they were not.
package advise
