// Package mpitest is the conformance suite of package mpi: cases that test its contract, and
// that every engine passes.
//
// A case is a body that all ranks run on a communicator of their own. It checks all received
// bytes. The values depend on rank, place and index, so a lost, moved or exchanged element
// shows. [Run] runs all cases on all ranks inside one program, for engines whose ranks are
// processes. [Test] runs each case as a subtest with a launch of its own, for engines whose
// ranks are goroutines.
//
// # Failures
//
// A rank that finds a fault revokes the communicator of the case, which ends the calls of
// the other ranks. Then all ranks exchange their failures on another communicator, and the
// next case begins. A case that hangs is reported by a guard, a goroutine on every rank: it
// prints the case and stage of its rank and ends the program.
//
// # Not tested
//
// Speed. The order of arrival between different senders, which MPI does not promise. The
// death of a rank, because no call of the contract causes it. Different kinds at sender and
// receiver, because the contract leaves the result open.
package mpitest
