// Package engine has what the engines that move messages (mpi/local, mpi/system) and the tools
// between a program and its engine (package commthread) share with package mpi, and programs
// do not see.
package engine
