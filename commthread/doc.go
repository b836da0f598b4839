// Package commthread moves messages while the cores compute: it gives a runtime one
// thread that makes all MPI calls of a rank, and runs communication as tasks.
//
//	err := commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
//		for k := range steps {
//			ct.Recv(rt, c, mpi.Of(halo), left, k)            // a task that writes halo
//			ct.Send(rt, c, mpi.Of(edge), right, k)           // a task that reads edge
//			inner.Spawn(rt, u)                               // runs meanwhile
//			border.Spawn(rt, u, halo, edge)                  // runs when halo has arrived
//		}
//		return rt.Wait()
//	}, nil)
//
// Why a thread: an MPI library moves bytes only inside its calls. Irecv, 32 ms of work and
// Wait of 2 MiB over 1 Gbit/s took 47 ms with Open MPI 4.1, as long as a blocking receive;
// with a thread that polls, 33 ms (bench/overlap -real). And a blocking call in a task costs a worker its core,
// or deadlocks when all workers sit in one (Marjanovic et al., Hybrid MPI/SMPSs, section 3).
//
// Options: [Place], [Window], [Poll], [Lease]. Where each worker has its own core, a worker
// without tasks makes the calls in place of the thread, and so do a worker that runs a
// body with many calls (tasks.Leased), and the submitting goroutine with its own calls: a message then costs neither a wake-up nor a share of
// a computing core.
//
// # Guaranteed
//
//   - Operations with the same communicator, peer and tag, and the collectives of one
//     communicator, are posted in the order of their spawns (order.go).
//   - A task that is skipped, cancelled or refused revokes its communicator: pending and
//     later operations on it fail on all ranks with mpi.ErrRevoked and the reason (revoke.go).
//   - A blocking call in a body on the thread delays neither other bodies nor messages.
//
// # Not guaranteed
//
//   - An order between operations of different keys, or of different domains.
//   - Progress while a body on the thread, or one with the lease, computes, or while the
//     thread helps with a compute task (placement Help); the end of a transfer whose rank
//     never polls, if its engine needs polls.
//   - If another rank has already failed, Start or Use of this rank may return its
//     revocation (mpi.ErrRevoked). The duplicate communicator that they make exists until
//     the end of the program.
//   - A body on a worker that waits for its children runs other tasks meanwhile, on top of
//     itself. If one of those blocks in a message that some rank sends only after the first
//     body has gone on, both wait forever. Bodies on the thread do not lie on top of each
//     other: put bodies that block in messages there (tasks.OnComm).
//
// # Cost
//
// A switch between bodies costs 0.1 us. A sleeping thread takes a wake-up, 12 to 50 us, to
// notice work; workers that end short tasks make the calls in its place, for 1 to 2 us. On an
// engine that must be polled, each wake-up of the thread costs the core that it shares 25 to 45 us:
// 0.5 % of it with one in 10 ms, 2 % with one in 2 ms, where bodies last longer than 10 ms.
//
// From the first thread on the monitor thread of the Go runtime has the policy SCHED_IDLE, for the life of the
// process: otherwise it interrupts workers every 0.7 ms. Where all cores compute, the
// runtime notices every 6 ms or so, and not after 20 us to 10 ms, that a goroutine is blocked in a system call.
//
// File thread.go begins with the terms, ownership and the designs that were rejected, and
// names the other files.
package commthread
