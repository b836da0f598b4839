// Package distributed computes Fourier transforms of three-dimensional arrays that are too
// large, or too slow, for one rank. Each rank holds some planes. It transforms two axes
// alone, and the third after an exchange in which every rank sends a part to every other.
// The exchange is the cost. There are four ways to schedule it (type Form), from one
// all-to-all between the computations (Exchange) to a graph of tasks that sends each piece
// when it is finished (Tasks). The results agree, so a program chooses by speed.
//
//	p, err := distributed.New(c, distributed.Config{Dims: [3]int{128, 256, 256}, Form: distributed.Tasks})
//	u, err := p.NewArray()
//	v, err := p.NewArray()
//	in := p.Input() // which elements this rank has, and where: fill in u
//	err = p.Forward(v, u)
//	err = p.Inverse(u, v) // u is multiplied by the number of points
//	err = p.Close()
//
// # Forms
//
// Bell, Bonachea, Nishtala and Yelick (Optimizing bandwidth limited problems using
// one-sided communication and overlap, 2006, section 5.2 and table 1) compare the first
// three:
//
//	Exchange   all planes, then one all-to-all, then the pencils; nothing is hidden
//	Slabs      the pieces of a plane leave as soon as it is done
//	Pencils    as Slabs, in groups of rows, to each peer in turn; the last pencils of
//	           a group start when the group has arrived
//	Tasks      a graph of tasks and a communication thread (package commthread)
//
// A plane is transformed while it is in a cache. A piece is the part of a plane that one
// rank gets; a group is some rows of every piece. Tasks sends pieces with their planes. Where a
// transform, the 1st, 4th, 16th and so on, shows that workers wait for the link, it tries in the next eight whether it
// is faster to defer a third of the groups until all planes are done, and from then on does so if it is: while one
// deferred group is on its way, the pencils of the groups before it are transformed. The price is memory for the deferred groups of all planes. Reading the groups while they arrive (lazy
// messages of package commthread/dds) did not pay: class W of NAS FT over TCP at 1 Gbit/s
// took 1.2 to 1.6 times as long, class A in process 1.1 times. It needs a copy on both sides,
// and hides no more.
//
// One-sided transport (Config.OneSided) puts the pieces into windows of the peers: a fence
// opens the transform, notifications (mpi.Win.PutNotify, PutTileNotify) announce the pieces. Tasks puts what it would
// send in one message with one put.
//
// # Layouts
//
// In slabs (a process grid P x 1) a rank has some planes. It transforms the rows and
// columns of each, sends every peer its rows, and when these rows of all planes have
// arrived, transforms the third axis: pencils across the slabs. The inverse transform
// exchanges the two distributed axes. So each direction costs one exchange, and data stay
// transposed between them, as with TRANSPOSED_OUT of FFTW. Every piece is contiguous on both
// sides: only Exchange packs, into one send buffer.
//
// A process grid P1 x P2 has a second exchange, among the ranks of a row of the grid. Its
// pieces are columns of planes, and are assembled plane by plane on the way into the next
// pass. On one rank nothing is copied: planes are transformed from the source to the
// destination, then the columns in place.
//
// # Guarantees
//
// All forms, transports, paddings and numbers of workers give the same bytes, because they
// make the same calls of the same kernels for every pencil. Forward transforms give the
// bytes of fft.Grid. Inverse transforms differ from it by rounding, because the order of
// their axes depends on the decomposition: 2, 1, 0 on one rank, 2, 0, 1 in slabs, 0, 1, 2
// otherwise.
//
// From Forward or Inverse to its return both arrays belong to the plan. An error on one rank
// revokes the communicators of the plan: all ranks return from the transform with an error,
// and no request is left. The plan cannot be used any more. A panic in a hook is such an
// error.
//
// Memory besides source and destination: two planes for each worker, and with a
// two-dimensional process grid one more array. On several ranks the staging buffer takes one
// array with Exchange, with Tasks what is sent last (a third of the pieces for other ranks) and
// some planes, otherwise the planes not yet sent (Config.Stage bounds it).
//
// # Not guaranteed
//
// Exchange, Slabs and Pencils hide nothing if messages do not move while the program
// computes: they test messages only between planes. Ranks beyond the number of planes have
// nothing to do in a pass. Hooks see rows in any order.
package distributed
