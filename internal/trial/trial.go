// Package trial chooses between two forms of what a program does again and again, by time.
package trial

import "time"

// A trial has turns of each form, one after the other, and in each turn a few runs: programs often alternate between
// two kinds of runs, as forward and inverse transforms.
const (
	turn  = 2 // runs
	turns = 4 // two of each form

	Runs = turn * turns // of a trial
)

// Trial measures both forms. The zero Trial has measured nothing. One goroutine uses it.
type Trial struct {
	done  int // runs
	spent time.Duration
	best  [2]time.Duration
}

// Second reports whether the next run is one of the second form.
func (t *Trial) Second() bool { return t.done/turn%2 == 1 }

// Record adds the time of a run, and reports whether it was the last one.
func (t *Trial) Record(elapsed time.Duration) (over bool) {
	form := &t.best[t.done/turn%2]
	t.spent += elapsed
	if t.done++; t.done%turn == 0 {
		if *form == 0 || t.spent < *form {
			*form = t.spent
		}
		t.spent = 0
	}
	return t.done >= Runs
}

// Best returns the time of the fastest turn of each form: what delays a single turn, as the first touch of new memory, does not
// count. Ranks combine them, to choose alike.
func (t *Trial) Best() [2]time.Duration { return t.best }
