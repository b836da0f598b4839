// Package engine has what lies below package mpi: the contract between the communicators of a
// program, the engines that move their bytes (mpi/local, mpi/system), and the tools in between
// (the communication thread, lazy messages, advice). Programs do not see it.
//
//	Engine   moves the bytes of one rank; tools wrap it
//	Call     one operation, from the program to the engine and back
//	Port     connects the communicators of a rank to its engine
//	Comm     a communicator: number, members, checks of arguments
//	Buffer   the memory of a message
//	Op       the operation of a reduction
//	Win      a window
//
// The types Buffer, Comm, Op and Win of package mpi are the types of this package with the
// methods for programs. A conversion leads from one to the other and costs nothing:
//
//	(*engine.Comm)(c).Engine()        c is an *mpi.Comm
//	engine.Buffer(b).Pointer()        b is an mpi.Buffer
//
// Errors are made by [NewError], because their type belongs to package mpi.
package engine
