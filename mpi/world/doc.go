// Package world runs the body of a program once per rank, on the engine that the way
// of its start asks for: the machine's MPI under mpirun or mpiexec, ranks inside this
// process otherwise. Only programs import it.
//
//	func main() {
//		w := world.Flags(flag.CommandLine) // -ranks, -net, -eager
//		flag.Parse()
//		world.Exit(w.Run(func(c *mpi.Comm) error { ... }))
//	}
//
// # Ranks inside one process
//
// They are goroutines, and share package variables: what belongs to a rank is local
// to its body. They share the cores of the process, too ([Workers]), and may be put on
// a simulated network. This needs no MPI.
//
// # Ranks under a launcher
//
// Each is a process, and runs the body once. The program has been built with the tag
// mpi for the MPI of the launcher; if it has not, [Config.Run] finds out from the
// environment, before MPI can start as many programs of one rank, and says what to do.
// Ranks on one machine with the same cores (mpirun --bind-to none) split them.
//
// # Analysis
//
// With WEFT_ADVISE=FILE in the environment the messages of the program are measured,
// and what it learns is written to FILE for bench/advise (package commthread/advise).
//
// # The end
//
// If the body of a rank fails, by an error or a panic, the world communicator is
// revoked: operations of other ranks on it fail, their bodies end, and all processes
// end with the same code. Rank 0 collects the errors, and prints each once; ranks that
// only saw the consequences are not mentioned. Whoever has not ended two seconds after
// the failure, because it computes or waits on another communicator, is ended by an
// abort. If all bodies succeed, calls that were never waited for and messages that were
// never received are errors ([mpi.ErrPending]), which name them.
//
// A body that ends its process by itself (os.Exit) leaves the others to the launcher.
package world
