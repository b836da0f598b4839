// Package dds lets a program work on a message while it arrives (demand-driven
// synchronization: HUNT; Iancu, Husbands, Hargrove 2005). A receive returns when the first
// part is in memory; a loop over the buffer runs on, and sleeps where it touches a missing
// page until that page arrives. The page fault is the wait, so the loop needs no change.
// Sending is the mirror image: the program may use the buffer at once, and only a write to
// an unsent page waits. It pays if a message takes as long as the work on it. It needs
// Linux with cgo; elsewhere a receive waits for the whole message.
//
//	a, err := dds.NewArena(64 << 20)
//	e, err := dds.Open(comm)                    // collective; calibrates
//	x, err := dds.Make[float64](a, n)
//	t, err := e.Recv(mpi.Of(x), 0, tag)         // the status is exact
//	for i := range x { sum += x[i] }            // waits strip by strip
//	err = t.Wait()                              // all bytes have arrived, every page is open
//
// [Wrap] does the same for a program with blocking calls of mpi.Comm. Tasks with
// tasks.Lazy accesses use it through package commthread. The environment variable WEFT_DDS
// ([Variable]) forces a back end.
//
// # Terms
//
//	arena      memory with two views of the same bytes; Make allocates from it
//	app view   the program's view; its pages can be armed
//	comm view  the view of messages; never protected, because a library that copies into a
//	           protected page crashes, on every transport
//	strip      a part of a message, sent as a separate message (pipelining: segment, chunk)
//	cut        the division of a message into strips; it travels in the header
//	header     the message that announces a transfer, with its first and last bytes
//	armed      a page whose reader (for a send: whose writer) would wait
//	land       the bytes of a strip arrive in memory
//	retire     open a strip and wake its readers
//	in flight  C or the network will deliver the rest; no Go code has to run
//	transfer   a message in progress, at either end (Transfer)
//	endpoint   one rank's end of lazy messages (Endpoint)
//	fault      the thread in C, one per arena, that copies bytes, retires strips and
//	thread     answers faults
//
// # Back ends
//
//	explicit   no page is armed: a receive returns when the whole message has arrived.
//	           The fallback of every system, and used with the race detector.
//	uffd       Linux with cgo: userfaultfd, with MINOR faults and write protection.
//
// Auto takes uffd if a probe succeeds (uffd.c, probe.c): with faults of the kernel
// (CAP_SYS_PTRACE, vm.unprivileged_userfaultfd or /dev/userfaultfd), or for user code only.
// In the last case a system call on armed memory fails with EFAULT instead of waiting.
// [Arena.Backend] tells the choice and its reason.
//
// # Errors
//
// If a call of a transfer fails, its missing strips are filled with ones (NaN to
// floating-point readers, -1 to others) and opened, and the transfer has the error of the
// call. A reader must check the error of the transfer before it uses its results. If Go
// cannot report a revoked communicator for a quarter of a second, the polling thread does
// the same for every strip that it waits for.
//
// # Cost
//
// A strip costs an arming and a retiring, some microseconds, and if its reader waits, a
// fault: 8 us from landing to the reader running on the same core, 24 to 42 us from another
// core (two virtual cores). [Constants.First] is the shortest strip that is worth this; [Touch]
// of memory without transfers costs a few ns.
//
// # Not guaranteed
//
//   - Messages through mpi.Comm need [CommView] of arena memory: the app view may be armed.
//   - "c <- x[i]" loads x[i] inside the runtime, when another goroutine receives: load it
//     into a variable first.
//   - Compiled Go is interrupted while it waits in a fault (2 ms measured). Assembly, copy
//     and system calls are not, and a garbage collection then waits for the strip: call
//     [Touch] before them.
//   - Kernel threads, debuggers and /proc/self/mem do not wait.
//   - Children forked by C code have no arena, or with the back end explicit share it
//     (views_linux.go). A library that reverts the advice (MADV_DOFORK) when it releases a
//     buffer, as some for InfiniBand do, exposes the comm view to later children.
//   - A strip lands late if the fault thread has no core; it also makes the copies between
//     ranks of this process, which a network would make itself.
//   - Sent bytes count as sent when they have been copied, perhaps before the network would
//     have taken them.
//   - Blocking collective operations of package mpi/system block the polling thread until
//     they return: call RetireAll first.
package dds
