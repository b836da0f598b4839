// Package peak measures the peak of a core: a loop of independent multiply-adds in
// registers, with the instructions of a set of kernels.
package peak

import "github.com/weft-hpc/weft/internal/osthread"

// Loop is a loop of independent multiply-adds in registers.
type Loop struct {
	turn  float64         // floating-point operations of one turn
	loop  func(turns int) // microseconds per thousand turns
	turns int
}

// Measure returns the best GFLOP/s of a few runs of a fraction of a millisecond: the first
// may find the processor's wide units asleep. The caller is locked to its thread.
func (p *Loop) Measure() (best float64) {
	for range 3 {
		start := Clock()
		p.loop(p.turns)
		best = max(best, float64(p.turns)*p.turn/float64(max(1, Clock()-start)))
	}
	return best
}

// Clock returns the nanoseconds that the calling thread has spent on a core, so that what
// else runs there does not count; where the system does not tell, all that passed.
func Clock() int64 {
	if t := osthread.ThreadCPUTime(); t > 0 {
		return int64(t)
	}
	return osthread.Nanotime()
}
