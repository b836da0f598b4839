package program

import "slices"

// Outcome is the result of a run.
type Outcome struct {
	Arena   []uint64
	Buffers [][]uint64
	Seen    []uint64 // by WaitOn: a digest of the awaited region
	Ran     []bool   // by task: its body ran
	Failed  bool     // a wait returned an error
}

func (p *Program) fresh() *Outcome {
	o := &Outcome{Arena: make([]uint64, ArenaWords), Seen: make([]uint64, p.Seen), Ran: make([]bool, p.Tasks)}
	for i := range o.Arena {
		o.Arena[i] = uint64(i)
	}
	for k := range p.Buffers {
		o.Buffers = append(o.Buffers, []uint64{uint64(k), 1, 2})
	}
	return o
}

// words returns the storage of a region.
func (o *Outcome) words(r Region) []uint64 {
	if r.Buffer > 0 {
		return o.Buffers[r.Buffer-1]
	}
	return o.Arena
}

// digest makes one word of a region.
func digest(r Region, words []uint64) (h uint64) {
	r.words(func(i int) { h = mix(h, words[i]) })
	return h
}

// Interpret returns the outcome of p as its text says.
func Interpret(p *Program) *Outcome {
	o := p.fresh()
	d := domain{out: o}
	d.run(nil, p.Steps)
	d.wait()
	return o
}

// domain is the interpreter's state of the main program, or of the children of one task.
type domain struct {
	out    *Outcome
	nested bool
	failed []Access // of tasks that failed or were skipped, since the last wait
	shut   []Region // weak accesses of the parent whose data are lost
	bad    bool     // a task failed or was skipped since the last wait
}

// wait ends a domain's failures: what follows does not depend on them.
func (d *domain) wait() {
	if d.bad && !d.nested {
		d.out.Failed = true
	}
	d.failed, d.bad = nil, false
}

func (d *domain) run(t *Task, steps []Step) {
	round := 0
	for _, s := range steps {
		switch s.Kind {
		case Spawn:
			d.task(s.Task)
		case Wait:
			d.wait()
		case WaitOn:
			if !d.lost(Access{Mode: Input, Region: s.Region}) {
				d.out.Seen[s.ID] = digest(s.Region, d.out.words(s.Region))
			}
		case Work:
			round++
			t.interpret(d.out, round)
		}
	}
}

// task runs t, or notes that it is lost.
func (d *domain) task(t *Task) {
	skipped := false
	var shut []Region
	for _, a := range t.Accesses {
		switch lost := d.lost(a); {
		case lost && a.Weak:
			shut = append(shut, a.Region)
		case lost:
			skipped = true
		}
	}
	if len(shut) > 0 && slices.ContainsFunc(t.Accesses, func(a Access) bool { return a.Mode == Commutative && !a.Weak }) {
		skipped = true // it takes its locks when the data of its weak accesses are there
	}
	d.renew(t)
	failed := skipped || !d.body(t, shut)
	for _, a := range t.Accesses {
		if failed || a.Weak && slices.Contains(shut, a.Region) {
			d.failed = append(d.failed, a)
		}
	}
	d.bad = d.bad || failed
}

// body runs the body of t and reports whether t has succeeded.
func (d *domain) body(t *Task, shut []Region) bool {
	d.out.Ran[t.ID] = true
	if t.Failure != None {
		return false
	}
	t.interpret(d.out, 0)
	children := domain{out: d.out, nested: true, shut: shut}
	children.run(t, t.Steps)
	return !children.bad
}

// interpret does the work of t in place; a reduction is combined at once.
func (t *Task) interpret(o *Outcome, round int) {
	t.work(round, func(k int) ([]uint64, int) {
		a := t.Accesses[k]
		if !a.Mode.reduces() {
			return o.words(a.Region), 0
		}
		return make([]uint64, a.Region.Rows), a.Region.Offset
	})
	for _, a := range t.Accesses {
		if a.Weak || !a.Mode.reduces() {
			continue
		}
		combine := combineA
		if a.Mode == SumB {
			combine = combineB
		}
		a.Region.words(func(i int) { o.Arena[i] = combine(o.Arena[i], gain(t.ID, i)) })
	}
}

// lost reports whether the input of an access is missing because an earlier task failed.
func (d *domain) lost(a Access) bool {
	if !d.nested && a.Region.Buffer > 0 && a.Mode == Output {
		return false // it gets its own copy
	}
	return slices.ContainsFunc(d.failed, a.follows) || slices.ContainsFunc(d.shut, a.Region.Overlaps)
}

// renew forgets the failures of buffers that t overwrites.
func (d *domain) renew(t *Task) {
	for _, a := range t.Accesses {
		if !d.nested && a.Region.Buffer > 0 && a.Mode == Output {
			d.failed = slices.DeleteFunc(d.failed, func(f Access) bool { return f.Region.Buffer == a.Region.Buffer })
		}
	}
}

// follows reports whether a task with access a waits for one with access b before it.
func (a Access) follows(b Access) bool {
	if !a.Region.Overlaps(b.Region) {
		return false
	}
	switch {
	case a.Mode != b.Mode:
		return true
	case a.Mode == Input || a.Mode == Concurrent:
		return false
	case a.Mode == Commutative || a.Mode.reduces():
		return a.Weak || b.Weak || a.Region != b.Region
	}
	return true
}
