// Package mpi is message passing between ranks, as in MPI: communicators, messages,
// collective operations and one-sided windows, with errors as values. Package mpi/world
// starts the ranks and chooses the engine that moves the bytes:
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
//	buffer         the memory of a message (Buffer): Of, One, Strided, Tile
//	request        an operation under way (Request)
//	batch          blocking calls whose messages are under way together (Batch)
//	window         memory that other ranks read and write (Win)
//	eager          a short message, which is sent without waiting for its receive
//	rendezvous     a longer message, whose bytes move after the receive has been posted
//	engine         moves the bytes of one rank: in-process (mpi/local) or the machine's MPI
//	               library (mpi/system)
//
// # What is promised
//
//   - Order. Messages of one sender to one receiver on one communicator match receives in
//     the order of the sends, if both tags fit.
//   - Errors. Every error is an [*Error] of one class (errors.Is with the Err variables). It
//     names operation, communicator, peer, tag and sizes. After an error other operations
//     still work.
//   - Revocation. A rank that cannot go on calls [Comm.Revoke]. All pending and later
//     operations of all ranks on the communicator then fail in bounded time.
//
// # What is not promised
//
//   - Any order between messages of different senders.
//   - Progress outside of calls. MPI libraries move bytes only while the program is inside
//     a call; so does the in-process engine, by default. A transfer left alone does not
//     advance: 2 MiB at 1 Gbit/s beside 30 ms of work took 46 ms instead of 30. Package
//     commthread makes progress in the background.
//
// # What the program must do
//
//   - Call from one goroutine of a rank at a time (MPI_THREAD_SERIALIZED). With a
//     communication thread (package commthread) any goroutine may call. Under MPI a second
//     goroutine that calls while another is inside panics.
//   - Make the collective calls of a communicator in the same order on all its ranks.
//   - Keep pointers out of elements. Until an operation has completed, do not write to its
//     send buffer and do not touch its receive buffer. Buffers may lie anywhere; [Alloc]
//     returns pages outside the Go heap.
//
// # What a call costs
//
// A blocking send or receive allocates nothing; a non-blocking one allocates its [Request].
// A blocked rank spins for a short time and then sleeps in the kernel. MPI libraries do not
// notify of arrivals: there it stays awake while it has a core to itself. A message of 8
// bytes takes 0.22 to 0.29 us one way in-process. Over Open MPI and MPICH it takes 0.2
// to 0.3 us more from Go than from C. (Two cores of an AMD EPYC, family 26, with bench/osu.)
package mpi
