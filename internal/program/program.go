package program

import (
	"fmt"
	"strings"
)

// ArenaWords is the size of the arena, which is also a matrix of Side columns.
const (
	ArenaWords = 64
	Side       = 8
	bufferLen  = 3
)

// Region is a set of words: of the arena, or all of a buffer.
type Region struct {
	Buffer int // number of the buffer, plus 1; 0 for the arena
	Offset int
	Rows   int
	Cols   int
	LD     int
}

// words calls f for every word of r in order.
func (r Region) words(f func(i int)) {
	for c := range r.Cols {
		for i := range r.Rows {
			f(r.Offset + c*r.LD + i)
		}
	}
}

// mask has a bit for every word of a region of the arena.
func (r Region) mask() (m uint64) {
	r.words(func(i int) { m |= 1 << i })
	return m
}

// Overlaps reports whether r and s have a word in common.
func (r Region) Overlaps(s Region) bool {
	return r.Buffer == s.Buffer && r.mask()&s.mask() != 0
}

func (r Region) String() string {
	switch {
	case r.Buffer > 0:
		return fmt.Sprintf("buffer %d", r.Buffer-1)
	case r.Cols == 1:
		return fmt.Sprintf("[%d:%d]", r.Offset, r.Offset+r.Rows)
	}
	return fmt.Sprintf("[%d + %dx%d]", r.Offset, r.Rows, r.Cols)
}

// Mode is how a task touches a region.
type Mode uint8

// The modes. SumA and SumB are reductions with different operations.
const (
	Input Mode = iota
	Output
	Inout
	Concurrent
	Commutative
	SumA
	SumB
	modes
)

func (m Mode) String() string {
	return [...]string{"in", "out", "inout", "concurrent", "commutative", "sum a", "sum b"}[m]
}

func (m Mode) reduces() bool { return m >= SumA }

// Access is one access of a task.
type Access struct {
	Mode   Mode
	Region Region
	Weak   bool
	Lazy   bool
	Each   bool // declared as an element of an Each parameter
}

func (a Access) String() string {
	s := fmt.Sprintf("%v %v", a.Mode, a.Region)
	for _, f := range [...]struct {
		on   bool
		name string
	}{{a.Weak, "weak "}, {a.Lazy, "lazy "}, {a.Each, "each "}} {
		if f.on {
			s = f.name + s
		}
	}
	return s
}

// Failure is how the body of a task fails.
type Failure uint8

// A task may fail by its error, by a panic, or because an event that it holds fails.
const (
	None Failure = iota
	Error
	Panic
	EventFails
)

// Task is one task, and the steps of its body.
type Task struct {
	ID       int
	Accesses []Access
	Steps    []Step // after the first work

	InPlace  bool // If(false)
	Final    bool
	Hold     bool // the work is done after the body, before an event
	Block    bool
	Priority int
	Worker   int // it is bound to, plus 1
	Yields   int
	Failure  Failure
}

// StepKind is the kind of a step.
type StepKind uint8

// The steps of a body.
const (
	Spawn StepKind = iota
	Wait
	WaitOn
	Work // once more; only after Wait
)

// Step is one step of the main program or of a body.
type Step struct {
	Kind   StepKind
	Task   *Task  // of Spawn
	Region Region // of WaitOn
	ID     int    // of WaitOn: place in Outcome.Seen
}

// Program is a program of tasks.
type Program struct {
	Seed    uint64
	Steps   []Step
	Tasks   int // numbers given out
	Seen    int
	Buffers int
	Fails   bool // some tasks may fail
}

// String lists the program.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program %d: %d tasks, %d buffers\n", p.Seed, p.Tasks, p.Buffers)
	list(&b, p.Steps, "  ")
	return b.String()
}

func list(b *strings.Builder, steps []Step, indent string) {
	for _, s := range steps {
		switch s.Kind {
		case Spawn:
			fmt.Fprintf(b, "%sspawn %v\n", indent, s.Task)
			list(b, s.Task.Steps, indent+"  ")
		case Wait:
			fmt.Fprintf(b, "%swait\n", indent)
		case WaitOn:
			fmt.Fprintf(b, "%swait on %v\n", indent, s.Region)
		case Work:
			fmt.Fprintf(b, "%swork\n", indent)
		}
	}
}

func (t *Task) String() string {
	s := fmt.Sprintf("%d (", t.ID)
	for i, a := range t.Accesses {
		if i > 0 {
			s += ", "
		}
		s += a.String()
	}
	s += ")"
	for _, f := range [...]struct {
		on   bool
		name string
	}{{t.InPlace, "in place"}, {t.Final, "final"}, {t.Hold, "hold"}, {t.Block, "block"}, {t.Failure != None, "fails"}} {
		if f.on {
			s += " " + f.name
		}
	}
	if t.Priority != 0 {
		s += fmt.Sprintf(" priority %d", t.Priority)
	}
	if t.Worker != 0 {
		s += fmt.Sprintf(" worker %d", t.Worker-1)
	}
	return s
}
