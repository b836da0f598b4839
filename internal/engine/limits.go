package engine

// Handle is an engine's number for a communicator or a window of one rank. The world
// communicator is 0.
type Handle int32

// Limits of an engine.
type Limits struct {
	MaxTag int // largest tag
	Eager  int // bytes up to which a standard send completes without its receive
	// ToldOfArrivals reports that Sleep ends when something arrives. Otherwise other ranks
	// may need this rank to Poll from time to time for their own progress.
	ToldOfArrivals bool
}
