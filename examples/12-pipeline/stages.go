package main

// fill computes frame i: a saw-tooth that moves.
func fill(i int, x []float64) {
	now := underWay.Add(1)
	for {
		if m := most.Load(); now <= m || most.CompareAndSwap(m, now) {
			break
		}
	}
	for k := range x {
		x[k] = float64((k + 7*i) % 64)
	}
}

// smooth replaces each number by the mean of itself and its neighbours, several times.
func smooth(x []float64) {
	for range 16 {
		left := x[0]
		for k := 1; k < len(x)-1; k++ {
			left, x[k] = x[k], (left+x[k]+x[k+1])/3
		}
	}
}

// sum adds up the squares of a frame.
func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v * v
	}
	underWay.Add(-1)
	return s
}
