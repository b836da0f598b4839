package main

// peak is a loop of independent multiply-adds in registers.
type peak struct {
	turn  float64         // floating-point operations of one turn
	loop  func(turns int) // microseconds per thousand turns
	turns int
}

// measure returns the best GFLOP/s of a few runs of a fraction of a millisecond: the
// first may find the processor's wide units asleep.
func (p *peak) measure() (best float64) {
	for range 3 {
		start := clock()
		p.loop(p.turns)
		best = max(best, float64(p.turns)*p.turn/float64(max(1, clock()-start)))
	}
	return best
}
