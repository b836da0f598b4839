// Package schedule carries out the collective operations of an engine as schedules
// of messages between two ranks, without blocking. An engine that can send and
// receive gets all collectives from it; one that has its own uses it for the
// operations that these do not know.
//
// # Vocabulary
//
//	schedule   what one rank does in one collective: a list of rounds, written when it starts
//	round      messages that are under way at the same time, then local steps
//	step       a receive, a send, a copy, or the combination of two buffers
//	runner     what carries out the schedules of one rank ([Runner])
//	room       a temporary buffer, kept for the next collective
//	tree       the order in which all reductions combine
//
// Of a round, all receives are posted, then all sends; when all have completed, the
// local steps follow in their order, and then the next round. The rounds of
// different collectives are independent, so any number of them may be under way.
//
// # States and owners
//
// A schedule is owned by its runner, and a runner by the goroutine that is inside
// the engine; there are no locks and no atomics.
//
//	state     live  queued  pending
//	written   yes   yes     0         Start has put it into the ready list
//	waiting   yes   no      > 0       for the messages of its round
//	ready     yes   yes     any       the round has ended, or one of its messages has failed
//	over      no    any     any       the call has completed; messages may be under way
//	idle      no    no      0         to be used again
//
// The completion of a message calls the hook [mpi.Call].OnDone, which counts, and puts
// the schedule into the ready list with the last one or with the first error; it does
// nothing else. Start and Advance work the list off. Both may find themselves inside
// the other, when the engine's post calls Advance: the inner one leaves the work to
// the outer one. A schedule that is over keeps its rooms and its calls until the last
// of its messages has completed, however late.
//
// # Messages and tags
//
// All messages are hidden calls on the communicator of the collective, so they meet
// neither those of the program nor those of other communicators. Their tag is the
// number of the collective modulo 32768, which fits into every MPI library. Messages
// of one collective between the same two ranks have one tag and match in order; both
// sides post them in the same order.
//
// # Algorithms
//
// p ranks; n bytes: the vector of a broadcast or reduction, the sum of all parts of a
// gather, scatter or allgather, what one rank sends in an alltoall. l = ceil(log2 p).
// The cost is that of the slowest rank in the LogGP model with a = o + L + o per
// round, G per byte on the wire and c per byte combined.
//
//	operation        algorithm                           cost                      when
//	barrier          dissemination                       l a
//	bcast            binomial tree                       l (a + n G)               short
//	                 chain of k segments                 (k + p - 2) (a + n/k G)   long
//	reduce           binomial on the tree                l (a + n (G + c))         short
//	                 halving, collected at the root      2 l a + n (2 G + c)       long
//	allreduce        recursive doubling                  l (a + n (G + c))         short
//	                 halving and doubling (Rabenseifner) 2 l a + n (2 G + c)       long
//	reduce-scatter   recursive halving                   l a + n (G + c)
//	scan             doubling distances                  l (a + n (G + c))
//	exscan           the same, after a shift by one      (l + 1) (a + n G) + l n c
//	allgather        Bruck: doubling distances           l a + n G, 2 n copied     short
//	                 ring                                (p - 1) a + n G           long
//	gather, scatter  all with the root                   o (p - 1) + L + n G
//	alltoall         all pairs, by distance              p/16 a + n G
//
// If p is not a power of two, reductions but the scans send n bytes more before, and
// allreduce after, as their first step joins neighbours to 2^k groups. Short and
// long are decided by comparing these costs (cost.go): for 4 ranks allreduce
// changes at 19 KiB, allgather at 8 KiB, and bcast at about 145 KiB.
//
// # One order for reductions
//
// All ranks of a reduction combine along one tree, which depends on their number
// only (tree.go), lower ranks on the left. Recursive doubling with distance 1 first
// follows it, and so does halving: what halves is the vector and not the tree.
// A reduction to a root does, because it is not the root that decides who combines
// with whom, but only on which side the two meet. So:
//
//   - the result is the same to the last bit on all ranks, for every root, every
//     length and every one of reduce, allreduce and reduce-scatter;
//   - operations that do not commute need no algorithms of their own.
//
// Scans have another order, by doubling distances, which depends on the rank, too.
//
// # Buffers
//
// Buffers of the program are used where they lie: strided ones are sent and received
// by the engine as they are, and packed only where pieces of them travel. A
// reduction works in the receive buffer, if it is contiguous, and one room.
// Steady repetition of a barrier, broadcast or reduction allocates nothing.
//
// # Errors
//
// A message that fails, or is shorter than what is expected, ends its collective on
// this rank with an error of the same class ([mpi.ErrCount] if it is too short) that
// names the other rank and both sizes. The other ranks are not told: what they
// expect from this one does not come, until the communicator is revoked.
//
// # What is not guaranteed
//
//   - Ranks that disagree about the length or the operation get an error only if a
//     message between them shows it. They may choose different algorithms, and wait
//     for ever; engines that see more of the ranks can compare their calls first.
//   - After an error or [Runner.Abort], messages that were under way may still be written into
//     the receive buffer of the call, until the engine has ended them.
//   - A schedule takes memory for its steps: 100 bytes for each of its messages.
//
// # Rejected
//
//   - A tree for gather and scatter: the ranks beside the root need not give counts, so
//     they cannot tell parts of equal length from others, and not agree on a tree.
//   - Rings for reductions (each part of the vector is combined in another order), and
//     trees that are rotated to the root: both make the result depend on
//     more than the number of ranks.
//   - Schedules as coroutines: they read better by a little, and cost a switch for each
//     round and a stack for each collective under way.
//
// # Sources
//
// Alexandrov, Ionescu, Schauser, Scheiman: LogGP, 1995. Thakur, Rabenseifner, Gropp:
// Optimization of collective communication operations in MPICH, 2005. Bruck, Ho,
// Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications,
// 1997. Hoefler, Lumsdaine, Rehm: Implementation and performance analysis of
// non-blocking collective operations for MPI, 2007.
package schedule
