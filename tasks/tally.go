package tasks

import (
	"math"
	"math/bits"
)

// tally counts the marks of one output that are left, read or gone.
//
// The marks are noise, so an integer of w bits that the body writes equals the mark with
// probability 2^-w, and lies within d of it with probability (2d+1) 2^-w. So each mark
// left, or nearly missed, adds bits of evidence; a search of n places subtracts log2(n). A
// sum of sure bits counts as proof.
type tally struct {
	all, left, read int
	near            int // integers close to their mark
	sure            bool
	log             float64 // log2 of the integers
	run             float64 // bits in the current run of marks left
	leftBits        evidence
	readBits        evidence
}

// sure is the number of bits of evidence that count as proof: one mistake in 10^9 right
// tasks.
const sure = 30

type evidence struct {
	sum float64
	n   int
}

// add counts one finding with its bits of evidence; every further one costs some, for the
// choice.
func (e *evidence) add(bits, log float64) {
	const choice = 3
	if bits -= log; e.n > 0 {
		bits -= choice
	}
	if bits > 0 {
		e.sum += bits
		e.n++
	}
}

// count counts the part with value x and mark mark.
func (t *tally) count(f *leaf, left, derived bool, x, mark uint64) {
	t.all++
	if left {
		t.left++
	}
	if f.kind != leafInt {
		t.sure = t.sure || left
		if derived {
			t.read++
		}
		return
	}
	if left {
		t.run += float64(8 * f.size)
		return
	}
	t.endRun()
	if b := closeness(x, mark, 8*int(f.size)); b > t.log {
		t.near++
		t.readBits.add(b, t.log)
	}
}

func (t *tally) endRun() {
	if t.run > 0 {
		t.leftBits.add(t.run, t.log)
		t.run = 0
	}
}

// closeness returns the bits of evidence that x was computed from mark, by an addition, a
// subtraction, or a doubling.
func closeness(x, mark uint64, w int) float64 {
	const forms = 2 // bits for the choice of the form
	return max(nearness(x-mark, w), nearness(x+mark, w)-forms, nearness(x-2*mark, w)-forms)
}

func nearness(d uint64, w int) float64 {
	s := int64(d<<(64-w)) >> (64 - w)
	if s < 0 {
		s = -s
	}
	if bits.Len64(uint64(s)) > w/2 {
		return 0
	}
	return float64(w) - math.Log2(2*float64(s)+1)
}

// verdict reports whether marks are surely left, and whether some were surely read.
func (t *tally) verdict() (left, read bool) {
	t.endRun()
	if t.readBits.sum >= sure {
		t.read += t.near
	}
	return t.sure || t.leftBits.sum >= sure, t.read > 0
}
