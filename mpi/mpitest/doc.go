// Package mpitest is the conformance suite of package mpi: cases written against
// its contract alone, which every engine passes.
//
// A case is a body that all ranks run on a communicator made for it. It checks what
// arrived, byte by byte: the values are derived from rank, place and index, so that
// whatever is lost, moved or mixed up shows. [Run] runs all cases in the same order on
// all ranks, inside one program: this is how an engine is tested whose ranks are
// processes. [Test] runs each case in a launch of its own, as a subtest: this is for
// engines whose ranks are goroutines.
//
// # When something fails
//
// The rank that finds a fault revokes the communicator of the case, so that the
// others come back from what they wait for; then all agree on the verdict on
// another communicator, and the next case begins. A case that does not come back is
// reported by the hang guard: on every rank a goroutine that knows in which case and
// at which stage the rank is; it ends the program.
//
// # What is not tested
//
// Speed. Order of arrival between different senders, which nobody promises. The death
// of a rank, which no call of the contract can bring about. Kinds that differ between
// sender and receiver, whose result the contract leaves open.
package mpitest
