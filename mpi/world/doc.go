// Package world runs the body of a program once per rank. It chooses the engine: the
// machine's MPI under mpirun or mpiexec, ranks inside this process otherwise. Only programs
// import it.
//
//	func main() {
//		w := world.Flags(flag.CommandLine) // -ranks, -net, -eager
//		flag.Parse()
//		world.Exit(w.Run(func(c *mpi.Comm) error { ... }))
//	}
//
// # Ranks inside one process
//
// They are goroutines and share package variables, so keep the data of a rank in variables
// of its body. They also share the cores of the process ([Workers]). A network can be
// simulated between them. This needs no MPI.
//
// # Ranks under a launcher
//
// Each rank is a process and runs the body once. The program must be built with the tag mpi
// for the MPI of the launcher. Otherwise [Config.Run] returns an error that says what to do;
// without this check MPI would start several programs of one rank each. Ranks on one machine
// with the same cores (mpirun --bind-to none) split them.
//
// # Analysis
//
// WEFT_ADVISE=FILE in the environment measures the messages of the program and writes the
// result to FILE for bench/advise (package commthread/advise).
//
// # Early returns
//
// WEFT_HUNT=auto in the environment, or -hunt auto, puts package commthread/dds between an
// unchanged program and the engine ([dds.Wrap]): blocking operations of the communicator of
// the body, on memory of mpi.Alloc, return while the rest of a message is in flight, and a
// reader of missing bytes waits. Auto leaves the mode off if messages of this network are too
// fast, weighs what each kind of message hides against its cost, and stops those that lose;
// force has every message in flight return early. Not all costs are seen: the memory has small
// pages only. With auto the programs of bench/npb take 0.92 to 1.07 of their time, which is
// noise where the mode stays off, and IS 0.56 between hosts under MPICH at 1 Gbit/s
// (bench/FIGURES.md). Measure before you use it. The results of a program do not change. A
// line on standard error says what was done.
//
// # Shutdown
//
// If a body fails, by an error or a panic, its rank revokes the world communicator.
// Operations of other ranks on it fail, so their bodies end, and all processes exit with the
// same code. Rank 0 prints each error once, without the errors that only follow from it.
// A rank that still computes or waits on another communicator two seconds after the failure
// is aborted. If all bodies succeed, every call not waited for, every message not received
// and every window not freed is an error ([mpi.ErrPending]).
//
// If a body exits its process (os.Exit), the launcher has to end the other ranks.
package world
