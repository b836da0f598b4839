// Package dds lets a program start to work on a message before all of it has arrived. A
// receive returns when the first part is in memory; a loop over the buffer runs on, and
// where it touches a page that has not come yet it sleeps until that page is there: the
// page fault is the wait, so the loop needs no change. Sending is the mirror image: the
// buffer is the program's again at once, and only a write to a page that has not left
// waits. It pays when a message takes as long as the work on it. It needs Linux with cgo;
// elsewhere a receive waits for everything. The method is demand-driven synchronization
// (HUNT; Iancu, Husbands, Hargrove 2005).
//
//	a, err := dds.NewArena(64 << 20)
//	e, err := dds.Open(comm)                    // collective; calibrates
//	x, err := dds.Make[float64](a, n)
//	t, err := e.Recv(mpi.Of(x), 0, tag)         // the status is exact
//	for i := range x { sum += x[i] }            // waits strip by strip
//	err = t.Wait()                              // all is there, every page is open
//
// # Vocabulary
//
//	arena      memory with two views of the same bytes; what Make returns lies in it
//	app view   what the program sees; its pages can be armed
//	comm view  what messages go through; it is never protected, because a library that
//	           copies into a protected page crashes, on every transport
//	strip      a part of a message, sent as a message of its own
//	cut        how a message is divided into strips; it travels in the header
//	header     the message that announces a transfer, with its first and last bytes
//	armed      said of pages whose reader (of what is sent: whose writer) would wait
//	land       the bytes of a strip are there
//	retire     a strip is opened, and its readers are woken
//	fly        nothing written in Go is needed any more for what has not landed
//	keeper     the thread in C, one per arena, that moves bytes, retires and answers faults
//	transfer   a message under way, at either end (Transfer)
//	endpoint   one rank's end of lazy messages (Endpoint)
//
// # Back ends
//
//	explicit   nobody is made to wait: a receive returns when all is there. The fallback
//	           of every system; also with the race detector, whose memory is the heap's.
//	uffd       Linux and cgo. The app view is registered with userfaultfd for MINOR
//	           faults and write protection. Arming drops page-table entries
//	           (MADV_DONTNEED_LOCKED: the bytes stay in the memfd); retiring is one
//	           UFFDIO_CONTINUE per strip, which maps its pages and wakes its readers.
//
// Auto takes uffd if a probe succeeds, which provokes a fault on a page that was dropped,
// resolves it, and does the same with a protected one: by the system call with faults
// of the kernel (CAP_SYS_PTRACE, or vm.unprivileged_userfaultfd), by /dev/userfaultfd, or
// for user code only. In the last case a system call on armed memory fails with EFAULT
// instead of waiting. [Arena.Backend] says what was chosen and why.
//
// # States of a strip
//
//	            Move, or started in C          bytes in place, due
//	posted ---------------------> promised ------------------------> landed
//	                                 |  Arm                            |  retire
//	                                 v                                 v
//	                               armed ------------------------->  open
//
// The bits promised, landed, armed, failed and stalled of a strip lie in memory of C and
// are changed by atomic operations; the order of landing and retiring is that of the
// keeper's mutex. A strip may be promised, landed and even opened before Recv has
// returned: only what has not landed then is armed. So a strip that arrived in time costs
// no fault; one that arrives shortly before its reader may cost one (see below).
//
// Pages: only those wholly inside the message are armed. Its first and last bytes (a page
// each, of the largest page among the ranks) travel with the header, whatever the
// alignment at either end, so neighbours on a shared page are never kept waiting. A page
// on the border of two strips opens with the later one.
//
// With [Order] one page per strip is armed: the first of it that the reader meets (HUNT,
// section 5.2), and only that of the next strip that has not landed: before a strip is
// opened, or while a reader waits for it, the page after it is armed. A reader in order
// cannot pass, and strips that land before anybody reads cost nothing. Without the hint
// every page is armed.
//
// # When strips are opened
//
// A strip that a reader waits for is opened when it is due, to the microsecond. Others may
// be opened later: who does it costs a core more than the fault that it saves (setting a
// timer 9 us on a virtual machine, two turns of the thread 5 us; a fault on what has
// landed 8 us). So the keeper is not woken by moves whose bytes are in place, nor by
// landings that nobody waits for. These are seen to, many at once, by whoever comes first:
//
//   - [Touch], a wait, or any call of the keeper: it opens what is due, without the thread;
//   - a reader's fault, which opens all that is due;
//   - the keeper, some ms later: nobody finds a strip armed that has long been there;
//   - the keeper at once, if a reader of the transfer had to wait before and the keeper does
//     not run on that reader's core ([Cores] with one core says that it does).
//
// # Who owns what
//
//   - The comm view of a message belongs to the engine from the start of its calls to
//     their end, or to the keeper from Move until it has changed the word.
//   - Strips, due times and the queue of copies belong to whoever holds the keeper's
//     mutex. It is taken in C and free again when the call returns: a stopped world
//     cannot hold it. Go reads single words of strips without it.
//   - The fields of a Transfer are written before it is given to anybody, or under its
//     mutex. Calls belong to the engine.
//   - Memory of ended transfers is used again, and freed with the arena only, so that
//     whoever looks late at a strip looks at some strip.
//
// Locks, outer before inner: Endpoint.mu, Transfer.mu or Arena.mu, of which none is taken
// while another is held; then those of back ends, and of the list of arenas; then that of a
// keeper, of which none is taken while another is held, either; then that of the words of
// moves. No lock is held where a page may be armed.
//
// # The protocol between Go and the keeper
//
//	Go:      begin     strips, cut, in memory of C
//	         post      the receives of all strips, at once; sends in line
//	engine:  Move      "so many bytes, from there, due then": any rank's goroutine; or
//	         started   the receive has been posted by C, which progresses from now on
//	Go:      fly       waits until every strip is promised and the first has landed
//	         arm       what has not landed, in one call
//	keeper:  copies    at once, in pieces; changes the word: source and target are free
//	or Go:   lands     when it is due, or later: next page armed if need be, CONTINUE, wake
//	Go:      OnDone    of each call: lands once more, without effect
//	         end       when all calls have completed: opens what is open to be opened
//
// Ranks of this process: the engine hands the keeper copy descriptors with due times
// (Mover), once per segment, and only then a message is lazy; without a shaped network
// nothing is on its way long enough. In progress mode host the handshake is done by
// Go as always, before Recv returns. Ranks that are processes: the engine of package
// mpi/system takes all strips in one call, and a thread in C polls MPI as long as one of
// them is under way, at both ends; it completes strips by a function of the keeper. The
// receives are posted at once; the sends leave one after the other, so that the strips
// arrive so, too: one is under way if its way takes long compared with a round trip and a
// poll (0.5 ms, by the calibrated G), else two.
//
// So a reader in a fault waits for the network and for C, never for Go. A collection
// that is stopping the world may wait for the reader: compiled Go is interrupted in its
// sleep (2 ms measured), copy and assembly are not, and the collection then takes as long
// as the strip does. Whoever can calls [Touch] first, which waits by compiled loads.
// There is no handler of SIGSEGV in C: it would stall every collection.
//
// # Faults
//
// A signal, such as the runtime's, ends the sleep, and the instruction faults again: one
// wait can bring dozens of messages. They are answered by counting. A fault on a page
// that is not armed (it was opened meanwhile) is resolved at once: EEXIST means that
// it is mapped already, and its readers are woken. EAGAIN is tried again; ESRCH and ENOENT
// mean that nobody is left. Events of fork, remap and remove are not asked for. The
// keeper blocks all signals, and has a CPU mask of its own. It sleeps until a fault, a copy
// or its alarm, which whoever makes it necessary sets; if a reader waits, it is awake
// 60 us before the due time, and looks for faults until then. An alarm is never put off: a
// wake-up that has become needless is cheaper.
//
// # Cuts and trains
//
// [Cut] is a function of the size, of the [Constants] of the endpoint, measured on rank 0
// and given to all, and of hints; it is decided by the sender and read from the header.
// What a rank believes locally changes what it arms, never what was cut. A message that
// starts while others are under way is not decomposed: they hide each other (HUNT,
// section 5.3). [PiggybackAfter] leaves the tail of a train unarmed. A message of one
// strip is lazy if its way takes much longer than a fault. [Endpoint.RetireAll] comes
// before barriers, fences, files and exits.
//
// # Trouble
//
// A call that fails dooms the strips that have not landed: they are filled with ones (NaN
// to floating-point readers, -1 to others), opened, and the error of the transfer is
// that of the call. If a communicator is revoked and Go is kept from saying so for a
// quarter of a second, the polling thread does the same for every strip it waits for.
// Readers look at the error of the transfer before they use what they made.
//
// # Children
//
// A child that C forks would have an arena without its registration: it would read bytes that
// have not come, and what it writes would be in the parent's messages, because the memory is
// shared. So with uffd it does not get the arena at all (MADV_DONTFORK), nor the
// state of the keeper, whose thread and mutex are the parent's: who touches either view there, or
// calls the keeper, dies of a segmentation fault (exit code 2 where Go's runtime answers it). A
// child that needs what is in an arena is forked after a copy has been made. With explicit
// nothing is missing, and parent and child share the arena: each sees what the other writes.
// With the race detector the child has a copy, as of all of the heap.
//
// The parent need not know of its children: no event of fork is asked for, and nothing here
// waits until a descriptor is closed that a child holds, too. Programs that Go starts (os/exec)
// begin with other memory and without the descriptors.
//
// # What is not guaranteed
//
//   - Messages through mpi.Comm must be given [CommView] of arena memory: the app view
//     may be armed.
//   - "c <- x[i]" loads x[i] in the runtime, when somebody receives: load it first.
//   - Kernel threads, debuggers and /proc/self/mem do not wait.
//   - Children that C forks have no arena, or with back end explicit share it. A library that
//     takes the advice back (MADV_DOFORK) when it gives a buffer up, as some of InfiniBand do,
//     lets later ones see the comm view.
//   - A strip lands a little late if the keeper has no core; the copies of ranks in this
//     process are made by it, as a network would not.
//   - What was sent counts as left when it has been copied, which may be before the
//     network would have taken it.
//   - Blocking collective operations of package mpi/system keep the polling thread out
//     until they return: RetireAll first.
package dds
