// Package distributed computes Fourier transforms of three-dimensional arrays that are too large,
// or too slow, for one rank. Each rank holds some planes; it transforms two axes alone, and
// the third after an exchange in which every rank sends a part to every other. That
// exchange is the cost. There are four ways to go about it, from one all-to-all between the
// computations (Exchange) to a graph of tasks that sends each piece when it is finished
// (Tasks); the results agree, so a program chooses by speed. After Bell, Bonachea,
// Nishtala and Yelick (2006).
//
//	p, err := distributed.New(c, distributed.Config{Dims: [3]int{128, 256, 256}, Form: distributed.Tasks})
//	u, err := p.NewArray()
//	v, err := p.NewArray()
//	in := p.Input() // which elements this rank has, and where: fill in u
//	err = p.Forward(v, u)
//	err = p.Inverse(u, v) // u is multiplied by the number of points
//	err = p.Close()
//
// # Vocabulary
//
//	plane       a two-dimensional slice, transformed while it is in a cache
//	piece       the part of a plane that belongs to one rank after the exchange
//	group       some rows of every piece of an exchange
//	exchange    the transposition among the ranks of a group of the process grid
//	part        what the pass after an exchange waits for: a group, or a plane
//	pass        one reading and one writing of the array
//	stage       finished planes whose pieces have not left yet
//	form        how all this is scheduled
//
// # The algorithm
//
// In slabs (P x 1) a rank has some planes. It transforms the rows and columns of
// each, sends every peer its rows of it, and when these rows of all planes have come,
// transforms the third axis: pencils across the slabs. The inverse transform does the
// same from the other side, with the two distributed axes exchanged. So both
// directions cost one exchange, and data stay transposed between them, as with
// TRANSPOSED_OUT of FFTW.
//
// The layouts (Plan.Input, Plan.Output) are such that every piece is contiguous where it
// is cut from the plane and where it lands. Nothing is packed or unpacked, except by
// Exchange, which needs one send buffer. A process grid P1 x P2 has an exchange more,
// among the ranks of a row of the grid, whose pieces are columns of planes, and are
// put together plane by plane on the way into the next pass.
//
// On one rank nothing is copied: planes are transformed from the source to the
// destination, then the columns in place, so a transform reads and writes memory twice.
// A hook (Config.BeforeForward, BeforeInverse) multiplies or makes the input on
// its way into the first pass.
//
// # Forms
//
// Bell, Bonachea, Nishtala and Yelick (Optimizing bandwidth limited problems using
// one-sided communication and overlap, section 5.2 and table 1) compare the first three:
//
//	Exchange   all planes, then one all-to-all, then the pencils; nothing is hidden
//	Slabs      the pieces of a plane leave as soon as it is done
//	Pencils    likewise in groups of rows, to each peer in turn; the last pencils of
//	           a group start when the group has come
//	Tasks      a graph of tasks and a communication thread (package commthread)
//
// The first three are scheduled by hand on the goroutine of the rank: all receives are
// posted before the first transform, and between planes it looks at the
// messages, which otherwise stand still. Other workers help with planes and columns.
// In all three the last bytes leave after the last plane, in the order of planes, so
// that no pencil is complete before the end of communication. Tasks sends the first
// two thirds of the groups with their planes, and keeps back the rest until all planes
// are done; then it sends group after group, of all planes at once. While one group is
// on its way the pencils of those before it are transformed. The price is that all
// planes are staged.
// Several planes travel in one message, since each wakes the communication thread a few
// times on both sides; only the first ones leave alone. A range of columns needs a part
// of every plane and message, and waits for tasks that gather these (landing.go): with
// the memory itself as dependences, there were five times as many of them.
//
// With Config.DDS the groups that Tasks keeps back travel as blocks, in which the
// points of a range of columns lie together, and are read while they arrive: the pencils
// of a range are transformed when its pieces of all blocks are there, and wait for no
// others (package commthread/dds, and arrive.go). A worker that waits in a fault gives
// its core to a spare one, if the communication thread is the plan's.
//
// One-sided transport puts the pieces into windows of the peers. The transform opens
// with a fence, because a put must not come before its place is free; each part has
// a notification counter (mpi.Win.PutNotify), and Exchange ends with a second fence.
//
// # Who owns what
//
// From Forward or Inverse to its return both arrays belong to the plan. A slot of the
// stage belongs to the worker that computes a plane into it, then to the requests that
// send it, and is free when they have completed; the one freed last is used first. An
// item of a pass (plane, range of columns) belongs to the worker that took it. All MPI
// calls are made by the goroutine of the rank, or with Tasks by the communication
// thread. Hooks are called by all workers.
//
//	items of a pass    waiting -> open (its part has come) -> taken -> done -> sent
//
// Locks: loop.mu, then stage.mu; both innermost otherwise, held for some ns. No hook, no
// MPI and no task runs under one.
//
// # Order of messages
//
// Every piece has a tag of its own within its transform, and those of successive
// transforms are posted in order on both sides, so a piece that comes early waits for
// the receive of its own transform. Puts wait for the fence.
//
// # Errors
//
// An error on one rank revokes the communicators of the plan: all ranks return from the
// transform with an error, all requests have ended then, and the plan cannot be used
// any more. A panic in a hook is such an error.
//
// # Same bytes
//
// All forms, transports, paddings and numbers of workers give the same bytes, because
// they make the same calls of the same kernels for every pencil. Forward transforms
// give those of fft.Grid. Inverse transforms take the axes in an order that depends
// on the decomposition (2, 1, 0 on one rank, 2, 0, 1 in slabs, 0, 1, 2 otherwise), and
// differ by rounding.
//
// # Memory
//
// Beside source and destination: two planes for each worker; on several ranks the
// stage, of one array with Exchange and Tasks, and otherwise of as many planes as wait
// (Config.Stage bounds it); with Config.DDS two thirds of an array for blocks; with a
// two-dimensional process grid one more array.
//
// # Not guaranteed
//
// That anything is hidden if messages do not move while the program computes and
// the form is one scheduled by hand: they are looked at between planes. Ranks beyond
// the number of planes have nothing to do in a pass. The hook sees rows in any order.
package distributed
