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
//	join       a node of the tracker that waits for several others and does nothing
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
// # Entries that overlap
//
// Two entries whose regions overlap without being equal are linked. An access of one
// must follow the conflicting accesses of the other; three rules keep this from
// costing more with every access that was ever made.
//
//	since    A write (Out, Inout) conflicts with everything, so its node W follows
//	         all earlier accesses of the entry and of those that overlap it. Entry
//	         e notes the time of its latest write as e.since, and a later access of
//	         e follows only what others did from then on.
//	gather   An access that must follow many members of a group of another entry
//	         makes one join node of them, which takes their place in the group.
//	lists    An entry has a list of the others that it looks at when it is
//	         accessed. It may drop an entry that has nothing for it to wait for, but
//	         then that one must look at it: of two that overlap, at least one has
//	         the other in its list. Whoever is accessed enters itself in the lists
//	         of those in its own list that lack it.
//
// Times are those of a clock of the tracker that advances with every write to an entry
// that others overlap: what was made before W has a lower time than e.since, what came
// later has not. Task numbers would not do, because a task that is being submitted may
// access a region after a node that began later (a combine node, a gate) has.
//
// Why an access X of e, after W, need not follow an access A that is older than W and
// whose region overlaps that of e. X starts after W has ended, because it follows the
// last node of e, or members of the group that do, and these follow W:
//
//   - readers, concurrent and commutative accesses follow last when they join the
//     group, so whoever follows the group follows last, and a join of the group too;
//   - a member of a reduction does not, but follows nothing at all: its combine node
//     stands for it, and follows the group and last;
//   - a lazy read follows only the arrival of last; so an entry with one is marked
//     (lazy), and a write then follows last as well. For a lazy X itself: the arrival
//     of W is released when W has started, so after A has ended;
//   - if another write V of a region that contains that of e came after W, then V
//     follows W, and stands for e as its last node; e.since becomes the time of V. All
//     that overlaps e overlaps what V wrote, so V follows it.
//
// And W follows A: directly, or because A is older than the write before W and W
// follows that. Nodes that are [Tracker.Apart] are two of one task, which end together.
//
// Failures take the same way. A failed A poisons W, which then counts as failed in its
// turn and is remembered until [Node.Forgive] like A; so X is poisoned by W. A join
// fails if a member does.
//
// Why e may drop o: no access of o has a time of e.since or later, so no access of e
// will follow one before the next access of o, which enters o in the list of e again
// (o has e in its list, or gets it with the drop); or all accesses of o have ended.
// A write may drop every entry. What is open as a reduction is never dropped, nor what
// the task that is being submitted has named. For a search of what is busy, or of what
// one task named twice, an entry that has been dropped does not count: the access that
// made it drop stands for it.
//
// # Cost
//
// A region seen before costs one probe of an open-addressing table (Nanos6's
// discrete dependencies taught us the single-inserter table). A region seen
// for the first time is also looked up in an interval tree; entries that
// overlap without being equal are linked to each other once, so later
// accesses pay for the overlaps that exist and for nothing else: a step for each entry
// in the list, an edge for each access that is not implied by an earlier write, and,
// over a whole run, a step for each access and each entry that overlaps it. Lists are
// cleared up at every eighth access, long ones at every access. Entries whose
// accesses have all ended are purged when the table fills, so memory follows
// the number of live regions and not the length of the run; a program that
// comes back to regions soon after they were purged gets a larger table.
//
// A tracker that tells of its edges ([Tracker.Configure]) must also remember accesses
// that have ended, until a write stands for them: its memory grows with the number of
// regions and with the reads between two writes. The rules above hold for it too, and
// what they imply it does not tell.
//
// # Not guaranteed
//
// Not all edges that others imply are left out (double edges between the same
// two nodes are, and those of the rules above). Addresses identify regions, so memory
// that a live task has
// declared must not move or be reused; Go's heap, globals and mapped memory
// do not move. A region without bytes (an empty slice, a nil pointer, a type without
// size) overlaps nothing and causes no dependence, and that is no error.
package deps
