// Package schedule carries out collective operations as schedules of point-to-point
// messages, without blocking. An engine that can send and receive gets all collectives from
// it; an engine with collectives of its own uses it for the missing operations.
//
// # Vocabulary
//
//	schedule   the work of one rank in one collective: a list of rounds, written at its start
//	round      messages that are under way at the same time, then local steps
//	step       a receive, a send, a copy, or the combination of two buffers
//	runner     carries out the schedules of one rank ([Runner])
//	tree       the order in which all reductions combine
//
// A round posts all its receives, then all its sends. When all have completed, the local
// steps run in their order, and then the next round starts. Different collectives are
// independent, so any number of them may be under way.
//
// # States and owners
//
// A runner owns its schedules, and the goroutine inside the engine owns the runner; there
// are no locks and no atomics.
//
//	state      live  queued  pending
//	written    yes   yes     0         Start has put it into the ready list
//	waiting    yes   no      > 0       for the messages of its round
//	ready      yes   yes     any       the round has ended, or one of its messages has failed
//	completed  no    any     any       the call has completed; messages may be under way
//	idle       no    no      0         available for a later collective
//
// The completion of a message calls the hook [engine.Call].OnDone. The hook counts, and queues
// the schedule as ready after the last message or the first error. Start and Advance run
// the ready schedules. One may be called inside the other, when the engine's post calls
// Advance: the inner call leaves the work to the outer one. A completed schedule keeps its
// temporary buffers and calls until its last message has completed.
//
// # Messages and tags
//
// All messages are hidden calls on the communicator of the collective, so they match no
// messages of the program or of other communicators. Their tag is the number of the
// collective modulo 32768; every MPI library allows such tags. Messages of one collective
// between the same two ranks share the tag; both ranks post them in the same order.
//
// # Algorithms
//
// There are p ranks; l = ceil(log2 p). n counts bytes: of the vector of a broadcast or
// reduction, of all parts of a gather, scatter or allgather, of the send buffer of an
// alltoall. The cost is for the slowest rank in the LogGP model: a = o + L + o per round, G
// per byte on the wire, c per byte combined.
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
// If p is not a power of two, reductions first join neighbours to 2^k groups, which sends
// n bytes more; allreduce sends n bytes more at the end, too. Scans do neither. A comparison
// of the costs decides between short and long (cost.go): for 4 ranks allreduce changes at
// 19 KiB, allgather at 8 KiB, and bcast at about 145 KiB.
//
// # One order for reductions
//
// All ranks of a reduction combine along one tree, which depends only on their number
// (tree.go), with lower ranks on the left. Recursive doubling with distance 1 first follows
// the tree. So does recursive halving: it halves the vector, not the tree. A reduction to a
// root follows it, too: the root does not decide which ranks combine, only which of them
// holds the result. So:
//
//   - the result is the same to the last bit on all ranks, for every root, every
//     length and every one of reduce, allreduce and reduce-scatter;
//   - operations that do not commute need no algorithms of their own.
//
// Scans have another order, by doubling distances; it also depends on the rank.
//
// # Buffers
//
// Buffers of the program are used in place: the engine sends and receives strided buffers;
// they are packed only where the algorithm sends pieces of them. A reduction works in the
// receive buffer, if that is contiguous, and in one temporary buffer. A barrier, broadcast
// or reduction allocates nothing when it is repeated.
//
// # Errors
//
// A message that fails, or is too short, ends its collective on this rank. The error has the
// same class, or [mpi.ErrCount] for a short message, and names the other rank and both
// sizes. The other ranks are not notified: they wait for the messages of this rank until the
// communicator is revoked.
//
// # What is not guaranteed
//
//   - Ranks that disagree about the length or the operation get an error only if a message
//     between them shows it. They may choose different algorithms, and wait for ever. An
//     engine that sees the calls of all ranks can compare them first.
//   - If the engine cannot end single messages (see [NewRunner]): after an error or
//     [Runner.Abort], messages under way may still be written into the receive buffer of the
//     call.
//   - A schedule takes memory for its steps: 100 bytes for each message.
//
// # Rejected
//
//   - A tree for gather and scatter: only the root has the counts. The other ranks do not
//     know whether all parts have equal length, so they cannot agree on a tree.
//   - Rings for reductions, which combine each part of the vector in another order, and
//     trees rotated to the root. Both make the result depend on more than the number of
//     ranks.
//   - Schedules as coroutines: slightly easier to read, but each round costs a switch and
//     each collective under way a stack.
//
// # Sources
//
// Alexandrov, Ionescu, Schauser, Scheiman: LogGP, 1995. Thakur, Rabenseifner, Gropp:
// Optimization of collective communication operations in MPICH, 2005. Bruck, Ho,
// Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications,
// 1997. Hoefler, Lumsdaine, Rehm: Implementation and performance analysis of
// non-blocking collective operations for MPI, 2007.
package schedule
