// Package local is the engine whose ranks are goroutines of this process. It is what
// programs run on without an MPI library: [Run] calls a body once per rank.
//
//	err := local.Run(4, func(c *mpi.Comm) error { return c.Barrier() })
//
// Messages are copied, once when the receive was posted first. A network can be put
// between the ranks ([Network]), and faults ([Inject]).
//
// # Vocabulary
//
//	endpoint   the engine of one rank; its owner is the goroutine that is inside it
//	ring       cells for the small messages of one rank to another
//	packet     the copy of an eager message that came before its receive
//	transfer   a message that goes straight from buffer to buffer, later
//	matcher    the receives and messages of a rank that have not met
//	letter     what one rank tells the owner of another: "your receive has its
//	           message"; with a due time it takes effect later
//	timer      a letter that waits for its time
//	group      a communicator, shared by its ranks; comm: one rank's side of it
//	link       until when the two directions of a rank's network are taken
//	fate       why a rank is not there any more
//
// # The way of a message
//
// What the sender does depends on the size alone:
//
//	up to 96 bytes        into the next cell of the ring, and that is all. The receiver
//	                      looks at the rings, takes what is there and matches it.
//	up to the eager       takes the matching lock of the receiver, empties its rings
//	limit                 (so that nothing is overtaken) and looks for a receive.
//	                      Is there one, the sender takes it out, lets the lock go,
//	                      copies into its buffer and writes a letter. Otherwise it
//	                      lets the lock go, makes a packet, and tries once more; then
//	                      the packet stays with the receiver's messages.
//	above, and Ssend      the same, but without a receive a transfer stays. Whoever
//	                      comes second, sender or receiver, matches it, and begins.
//
// A transfer of more than 128 KiB is copied in chunks of this size, which both ends
// claim from a counter while they are in the engine: two cores copy faster than one.
// Whoever copies the last byte writes to the other. If the ring is full, the sender
// takes the receiver's lock and empties it: no send waits for a receiver.
//
// Nothing in here allocates in steady state: calls are linked through their own
// fields, messages, packets and transfers come from pools that sender and receiver
// share, letters lie in slices that are used again.
//
// # Who owns what
//
//   - The fields of an endpoint under "owner only" belong to the goroutine that is
//     inside the engine; the program hands them over when it changes goroutines.
//   - The matcher belongs to whoever holds the matching lock: the owner, or a sender.
//   - A posted receive belongs to the matcher, and from the moment it is taken out to
//     who took it, until the letter about it has been read by the owner.
//   - A ring belongs to its sender on one end and to the holder of the receiver's
//     matching lock on the other.
//   - A call is completed by the owner of its endpoint and by nobody else. Others write
//     a letter. Calls whose result is set wait on a list until all locks are free.
//
// Locks, outer before inner: endpoint.awake, which an owner holds while it is not asleep;
// registry.mu, group.mu; endpoint.mu (matching), then
// mailbox.mu. lock.mu, part.adding, link.mu, timing.mu and transfer.mu are innermost.
// No two endpoints' matching locks are held together, and nothing is copied under
// one but the 96 bytes of a small message.
//
// # Sleeping
//
// Await spins for 100 us (5 us with more ranks than cores) and then sleeps:
//
//	owner:   S1  asleep := true
//	         S2  look at rings, mail, news, timers; if there is something, skip S3
//	         S3  park, until unparked or shortly before the next due time
//	         S4  asleep := false
//	others:  B1  put the message, the letter, or set news (an atomic store)
//	         B2  if asleep and it can be made false, unpark
//
// All are sequentially consistent. If B2 sees asleep false, it comes before S1 or
// after S4 in their order; in the first case B1 comes before S2, which finds what was
// put; in the second the owner looks again before it sleeps. If B2 sees true, it
// unparks, and the parker keeps the token if the owner has not lain down yet. A
// message costs the sender a load of asleep, which is in a line of its own that
// nobody writes while the owner spins.
//
// A rank with nothing due sleeps without a timeout: it uses no core at all.
//
// # States of a transfer
//
//	open -> claimed     by the receiver, under its matching lock: from now on both
//	                    calls complete, whatever happens to the ranks
//	open -> withdrawn   by the sender: revoked, peer gone; the receiver drops it
//
// So a send that is given up either has not been seen, or ends as if nothing had
// happened: no peer copies from a buffer that the program has back. On a shaped
// network, where a claimed transfer may need its peer for long, either end can stop it:
// bytes are only moved under transfer.mu and while it is not stopped.
//
// # Trouble
//
// A rank that returns, panics, is killed or aborts leaves a fate behind; revocation
// and differing collectives leave a verdict in the group. Then every rank concerned
// gets a letter, and looks at all of its pending calls: what has matched completes,
// what can still match stays, everything else fails. A group in trouble is marked,
// so that the check costs one load where there is none. A rank that returned
// without error has sent what it has sent: calls that need more of it fail. A receive
// from any source that only the rank itself could still answer fails once the rank waits
// for it alone, and not before.
//
// [Run] looks once per second whether ranks wait for each other: whose owners sleep in
// Await, with nothing on its way to them, and whose calls need such ranks again. That is
// exact, because only ranks can end such a wait; what two looks see, nothing moved between
// them, ends the world. A communication thread sleeps outside of Await: what its rank will
// do next is not known here, and package dataflow reports when it does nothing.
//
// The first rank that makes a collective call writes down which, the others compare:
// a difference is the verdict mpi.ErrOrder, naming both.
//
// # The shaped network
//
// LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): latency L, overhead o, gap g,
// gap per byte G. A message of n bytes:
//
//	depart = max(now + o, egress);  egress  = depart + max(g, n*G)
//	begin  = max(depart + L, ingress);  ingress = begin + n*G
//	due    = begin + n*G + o
//
// Links are reserved in the order of the sends, but for the last gap of each direction:
// what is ready for it and fits leaves in it. The bytes are copied at once; what
// waits is the completion, as a timer of the rank it concerns, so that timing needs no
// thread of its own. Nothing goes through rings. A message matches in order, as if
// it were there; a receive completes, and a probe sees it, at the due time. Eager
// sends complete at once.
//
// Longer messages are announced by one of no bytes and answered after L. With
// progress nic that and all of the bytes run by themselves from the moment both calls
// have been made. With progress host the answer is given when the receiver is in the
// engine after the announcement came, the bytes leave in segments of 256 KiB while the
// sender is in the engine after the answer came, at most 1 MiB before the receiver,
// in the engine, has drained half of it and said so: a receiver is not woken for
// less. So a transfer that is started and left alone while both compute moves
// nothing; see package mpi, "Progress".
//
// Await sleeps until 150 us before the next due time and spins from there;
// Sleep does not spin. [World.TimingError] says how late that was. [Wire] moves the
// bytes instead, if it is given, or a [Mover] those that it wants: these need no credit
// from the receiver, because nobody in Go has to drain them.
//
// One-sided accesses are copied by the origin. On a shaped network the origin reserves
// the links, in both modes without any action of the target.
//
// # What is not guaranteed
//
//   - Fairness between senders: rings are emptied in rank order.
//   - Wildcard receives look through all unexpected messages; exact ones cost the same
//     with ten and with ten thousand receives in flight.
//   - A large message that comes from a busy network reserves the receiver's link in
//     the order of sending; a later one can use the last gap, and no earlier one.
//   - Window memory has no locks but for accumulations.
//   - A killed rank stops at its next call, not before.
package local
