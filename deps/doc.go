// Package deps decides what must wait for what.
//
// A program submits tasks in an order; every task says which regions of memory
// it touches and how ([Mode]). A [Tracker] turns that into edges: task B waits
// for task A when both touch a common byte, A came first, and their modes do
// not commute. The package starts no goroutine and makes no call of the
// operating system.
//
// A program needs [Region] alone, and only for what slices and pointers cannot say:
// parameters of types of its own ([Regioner]), and things that are not memory
// ([Handle]). The rest is for runtimes.
//
// # Vocabulary
//
//	region     a set of bytes: an interval, a strided column-major tile, or a
//	           handle that stands for itself
//	node       what waits and is waited for; it lives inside a task record
//	access     one (region, mode) of one node
//	entry      what the tracker remembers of one region
//	group      the accesses of an entry that may run side by side: readers, or
//	           concurrent, commutative or reduction accesses
//	last       the node that every access of the group follows: the last writer,
//	           or a join node that stands for an earlier group
//	domain     the tasks that one tracker sees: those of the main program, or
//	           the children of one task
//	inserter   the one goroutine that submits to a domain
//
// # Who owns what
//
// A tracker, its entries and the bookkeeping half of every node belong to the
// inserter: no lock, no atomic. The other half of a node is shared with
// whoever completes it, and is two words:
//
//	Node.pending  predecessors not yet released, plus a guard while the
//	              inserter is still adding edges. The inserter adds
//	              (edges - guard) when it is done, a predecessor adds -1 when it
//	              is released (one that finds 1 is the last and need not add);
//	              who brings it to zero owns the node and runs it.
//	Node.word     number of successors | closed | failed | free.
//	              open   -> open+1   inserter, by CAS, after writing the slot
//	              open   -> closed   whoever completes the node, once (Release)
//	              closed -> free     join nodes only: the slots are no longer read
//	              any    -> open     inserter, when it uses the node again
//
// An edge is therefore one plain store and one CAS, and a CAS that fails says
// that the predecessor has ended and no edge is needed. The slots below the
// count are published by the CAS and read after the swap that closes the word.
//
// # Node reuse
//
// The tracker keeps references to nodes that may long have ended. A reference
// carries the number of the task that used the node; the inserter gives every
// use a new number, and only the inserter reuses nodes of its domain, so a
// reference is stale exactly when the numbers differ, and checking that needs
// no synchronization.
//
// # Cost
//
// A region seen before costs one probe of an open-addressing table (Nanos6's
// discrete dependencies taught us the single-inserter table). A region seen
// for the first time is also looked up in an interval tree; entries that
// overlap without being equal are linked to each other once, so later
// accesses pay for the overlaps that exist and for nothing else. Entries whose
// accesses have all ended are purged when the table fills, so memory follows
// the number of live regions and not the length of the run; a program that
// comes back to regions soon after they were purged gets a larger table.
//
// # Not guaranteed
//
// Transitively implied edges are not removed (double edges between the same
// two nodes are). Addresses identify regions, so memory that a live task has
// declared must not move or be reused; Go's heap, globals and mapped memory
// do not move.
package deps
