package distributed

import "time"

// Stats is the cost of transforms on one rank.
type Stats struct {
	Transforms int
	Elapsed    time.Duration // inside Forward and Inverse
	// Communication is the time that the rank's goroutine spends in MPI calls. With Tasks
	// it is the time in which workers have nothing to do (Elapsed minus the mean time in
	// bodies): the communication that is not hidden.
	Communication time.Duration
	Messages      int   // sent to other ranks
	Bytes         int64 // in these messages
	Smallest      int   // message, in bytes
	Largest       int
	Stage         int // bytes of the stage
}

// message counts a message to another rank.
func (s *Stats) message(bytes int) {
	if s.Messages == 0 || bytes < s.Smallest {
		s.Smallest = bytes
	}
	s.Messages++
	s.Bytes += int64(bytes)
	s.Largest = max(s.Largest, bytes)
}

func nanoseconds(n int64) time.Duration { return time.Duration(n) }
