package main

import "math"

// half is one half of the square: rows 1 to rows, and one more row on either
// side. At the cut that is a copy of the other half's; elsewhere it stays as it
// is. The old and the new state take turns.
type half struct {
	state      [2][]float64
	rows, cols int
	blocks     []block
}

// block is the rows of one task.
type block struct {
	from, to int // from ≤ row < to
	cut      bool
}

// newHalf returns the rows of the square that begin at first: hot in the upper
// left corner, cold elsewhere. Its blocks have o.block rows, but the row at the
// cut is a separate block.
func newHalf(o options, first, rows int) *half {
	h := &half{rows: rows, cols: o.cols}
	for i := range h.state {
		h.state[i] = make([]float64, (rows+2)*o.cols)
		for j := range h.state[i] {
			if row, col := first+j/o.cols, j%o.cols; row < o.rows && col < o.cols/2 {
				h.state[i][j] = 10
			}
		}
	}
	from, to := 1, rows
	if first > 0 {
		h.blocks = append(h.blocks, block{1, 2, true})
		from, to = 2, rows+1
	}
	for i := from; i < to; i += o.block {
		h.blocks = append(h.blocks, block{i, min(i+o.block, to), false})
	}
	if first == 0 {
		h.blocks = append(h.blocks, block{rows, rows + 1, true})
	}
	return h
}

// at returns the rows from ≤ row < to of the state after a number of steps.
func (h *half) at(steps, from, to int) []float64 {
	return h.state[steps%2][from*h.cols : to*h.cols]
}

// relaxRows is the kernel of relax: one step on whole rows of something that conducts
// heat, and burns when it is hot.
func relaxRows(cols int, old, next []float64) {
	for len(next) > 0 {
		above, here, below := old[:cols], old[cols:2*cols], old[2*cols:3*cols]
		row := next[:cols]
		row[0], row[cols-1] = here[0], here[cols-1]
		for j := 1; j < cols-1; j++ {
			flow := above[j] + here[j-1] + here[j+1] + below[j] - 4*here[j]
			row[j] = here[j] + 0.2*flow + math.Exp(-10/(0.1+here[j]))
		}
		old, next = old[cols:], next[cols:]
	}
}
