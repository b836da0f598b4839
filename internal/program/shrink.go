package program

import "slices"

// Shrink returns a smaller program for which bad still reports true, as it must for p:
// without steps, accesses and clauses that the fault does not need. Where the fault
// depends on chance, bad tries several times.
func Shrink(p *Program, bad func(*Program) bool) *Program {
	for smaller := true; smaller; {
		smaller = false
		for n := 0; ; n++ {
			q := *p
			e := &editor{left: n}
			q.Steps = e.steps(p.Steps)
			if e.left >= 0 {
				break // there is no edit number n
			}
			if bad(&q) {
				p, smaller, n = &q, true, n-1
			}
		}
	}
	return p
}

// editor copies steps and makes one change: number left, counted from 0.
type editor struct{ left int }

// now reports whether the next possible change is the one to be made.
func (e *editor) now() bool {
	e.left--
	return e.left == -1
}

func (e *editor) steps(steps []Step) (out []Step) {
	for i, s := range steps {
		work := i+1 < len(steps) && steps[i+1].Kind == Work
		if !work && e.now() {
			continue // Work stays behind its Wait
		}
		if s.Kind == Spawn {
			s.Task = e.task(s.Task)
		}
		out = append(out, s)
	}
	return out
}

func (e *editor) task(t *Task) *Task {
	c := *t
	c.Accesses = slices.Clone(t.Accesses)
	c.Steps = e.steps(t.Steps)
	for i := range t.Accesses {
		if len(t.Steps) == 0 && len(t.Accesses) > 1 && e.now() {
			c.Accesses = slices.Delete(c.Accesses, i, i+1)
			break
		}
	}
	for _, f := range []*bool{&c.InPlace, &c.Final, &c.Hold, &c.Block} {
		if *f && e.now() {
			*f = false
		}
	}
	for _, n := range []*int{&c.Priority, &c.Worker, &c.Yields} {
		if *n != 0 && e.now() {
			*n = 0
		}
	}
	if c.Failure != None && e.now() {
		c.Failure = None
	}
	return &c
}
