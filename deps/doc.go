// Package deps finds the dependences between tasks from the memory that they access.
//
// A program needs [Region] alone, and only for parameters that are not slices or
// pointers: its own types implement [Regioner], and a [Handle] names a resource that is
// not memory. [Region.Overlaps] shows what the tracker compares.
//
// The rest is for runtimes. A runtime submits tasks in program order and registers each
// access, a region and a [Mode], with a [Tracker]. The tracker makes task B wait for task
// A if both access a common byte, A came first, and their modes do not commute. It starts
// no goroutine and makes no system call. See the example of Tracker.
//
// # Terms
//
//	region     a set of bytes: an interval, a strided column-major tile, or a handle
//	node       a vertex of the task graph; it lives inside a task record
//	edge       a dependence: the successor waits for the predecessor
//	access     one (region, mode) of one node
//	entry      the tracker's record of one region
//	group      the accesses of an entry that may run side by side: readers, or
//	           concurrent, commutative or reduction accesses
//	last       the node that every access of the group follows: the last writer, or
//	           a join node that stands for an earlier group
//	join       an empty node that waits for several others (StarPU: synchronization
//	           task; OmpSs-2 and OpenMP: taskwait node)
//	domain     the tasks that one tracker sees: the tasks of the main program, or the
//	           children of one task
//	inserter   the one goroutine that submits to a domain
//
// # Cost
//
// An access to a known region costs one probe of a hash table, plus one step for each
// entry that overlaps it without being equal, plus one edge for each access that no
// earlier write implies. The first access to a region also searches an interval tree.
// Memory follows the number of live regions, not the length of the run: the table drops
// entries without unfinished accesses when it fills, and grows for a program that comes
// back to such regions soon. A tracker that reports its edges ([Tracker.Configure]) keeps
// accesses that have ended until a write replaces them: its memory grows with the number
// of regions and with the reads between two writes.
//
// # Not guaranteed
//
// The tracker omits double edges and the edges that an earlier write implies, but no other
// redundant ones. Addresses identify regions, so memory that a live task has declared must
// not move or be reused; Go's heap, globals and mapped memory do not move. A region
// without bytes (an empty slice, a nil pointer, a type without size) overlaps nothing and
// causes no dependence, and that is no error.
package deps
