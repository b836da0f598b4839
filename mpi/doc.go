// Package mpi is how bytes travel between ranks: communicators, messages, collective
// operations and one-sided windows, as in MPI, with errors as values. It holds the
// types and the contract; engines do the work: package mpi/local runs ranks inside
// one process, mpi/system uses the machine's MPI library, and package mpi/world
// picks one of them for a program:
//
//	err := world.Run(func(c *mpi.Comm) error {
//		x := make([]float64, 1000)
//		if c.Rank() == 0 {
//			return c.Send(mpi.Of(x), 1, 0)
//		}
//		_, err := c.Recv(mpi.Of(x), 0, 0)
//		return err
//	})
//
// # Vocabulary
//
//	rank           a participant, numbered from 0 in each communicator
//	communicator   an ordered group of ranks with messages of its own (Comm)
//	buffer         where the elements of a message lie (Buffer): Of, Strided, Tile
//	request        an operation under way (Request)
//	eager          a message that is sent without waiting for its receive
//	rendezvous     a longer one, whose bytes move when the receive has been posted
//	call           the descriptor of an operation, as engines see it (Call)
//	engine         what moves the bytes of one rank (Engine)
//	window         memory that other ranks read and write (Win)
//
// A program uses Comm, Buffer, Request, Status and Win, and the operations (Sum ...).
// Call, Engine, Handle, Kind, Limits and Source are for engines and for tools on them.
//
// # Who may call
//
// One goroutine of a rank at a time (MPI_THREAD_SERIALIZED), unless package
// commthread has taken the engine over: it then makes all calls itself, and takes
// those of any goroutine. A blocking method spins a little and then sleeps in the
// kernel; where nobody tells the engine of arrivals, it stays awake while it has a core to
// itself.
//
// # Order
//
// Messages of one sender to one receiver on one communicator match receives in the
// order in which they were sent, as far as both tags fit. Nothing is promised between
// different senders. Collective operations of a communicator are called in the
// same order by all its ranks.
//
// # Memory
//
// Elements contain no pointers. Buffers may lie anywhere; [Alloc] gives memory of
// its own pages outside the Go heap. From the start of an operation to its
// completion, what it sends is not written to, and what it receives into is not
// touched at all.
//
// # Errors
//
// Every error is an [*Error] of one class (errors.Is with the Err variables), which
// names operation, communicator, peer, tag and sizes. After an error the other
// operations of the communicator go on. A rank that cannot go on calls
// [Comm.Revoke], and all pending and later operations of all its ranks fail in
// bounded time.
//
// # Progress
//
// MPI libraries move bytes only while the program is inside a call of them, and so
// does the in-process engine in its default mode: a transfer that is started and
// left alone does not advance (2 MiB at 1 Gbit/s with 30 ms of work took 46 ms
// instead of 30). That is what package commthread is for.
package mpi
