// Package local runs MPI ranks as goroutines of one process. Programs run on it, through
// package mpi/world, unless a launcher such as mpirun started them.
//
//	err := local.Run(4, func(c *mpi.Comm) error { return c.Barrier() })
//
// [Run] calls the body once per rank and waits for all of them. [New] makes a [World], for
// callers that start the goroutines themselves. All ranks share the package variables.
//
// # Options
//
//	Eager(bytes)      size up to which a send completes without its receive; default 16 KiB
//	Network(net)      a simulated network between the ranks; default none
//	Timing(report)    reports how late the simulated network was
//	Inject(faults)    delays, reorders and truncates messages, kills ranks; default none
//	OnWire(wire)      moves the bytes of long messages over a simulated network
//
// # What is promised
//
//   - The contract of package mpi, all of it; the suite of package mpi/mpitest checks it.
//   - No call waits for a rank that cannot answer. If a rank returns, panics or is killed,
//     calls that need it fail with mpi.ErrPeerGone. Calls on a revoked communicator fail
//     with mpi.ErrRevoked, collectives that differ between ranks with mpi.ErrOrder.
//   - A deadlock of ranks in blocking calls ends [Run] within three seconds, with a report
//     of the calls. Another wait of ten seconds (a minute, while the process computes) is
//     reported on standard error, with who waits for whom, and again after twice as long. A
//     rank with a communication thread never blocks in a call; package dataflow reports its
//     stalls.
//   - A message is copied at most twice, and once above the eager limit. Without a
//     simulated network, messages, broadcasts and reductions allocate nothing in steady
//     state.
//
// # What is not promised
//
//   - Fairness between senders: small messages are taken in the order of the ranks.
//   - Mutual exclusion in window memory, except by locks and for accumulations.
//   - That a killed rank stops at once: it stops at its next call.
//
// # What a call costs
//
// A message of 8 bytes takes 0.22 to 0.29 us one way, if both ranks spin. Messages of 1 MiB
// reach 84 GB/s from a cache. (Two cores of an AMD EPYC, family 26, with bench/osu.) An
// exact receive costs about the same with ten and with ten thousand others in flight; a
// wildcard receive looks through all unexpected messages. A blocked rank spins for 100 us,
// or 5 us with more ranks than cores. Then it sleeps and uses no core.
//
// # Simulated network
//
// [Net] gives latency, overhead, gap and bandwidth of the LogGP model. With progress=host,
// the default, bytes move only while their ranks are inside calls, as in MPI libraries over
// TCP; with progress=nic they move by themselves. Completions are delayed to the time that
// the model gives; [World.TimingError] returns how late the ranks saw them.
//
// # Inside
//
// Each protocol is described at the top of the file that implements it. endpoint.go has the
// vocabulary, ownership and locks; deliver.go the paths of a message, transfer.go the long
// ones; progress.go sleep and wake-up; gone.go and deadlock.go failures; shaper.go the
// simulated network.
package local
