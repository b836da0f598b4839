package distributed

import (
	"time"

	"github.com/weft-hpc/weft/commthread/dds"
)

// Stats is the cost of transforms on one rank.
type Stats struct {
	Transforms int
	Elapsed    time.Duration // inside Forward and Inverse
	// Communication is the time in communication calls: that in which the rank's
	// goroutine was inside MPI. With Tasks it is the time in which workers had nothing to
	// do (Elapsed minus the mean time in bodies): what is not hidden.
	Communication time.Duration
	Messages      int   // sent to other ranks
	Bytes         int64 // in them
	Smallest      int   // message, in bytes
	Largest       int
	Stage         int // bytes of the stage

	// DDS counts strips of messages that workers could have waited for (Strips), and those
	// that they did wait for (Stalls): with Config.DDS, where memory can make readers wait.
	DDS dds.Counts
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
