package distributed

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/freelist"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Plan transforms arrays that are distributed over the ranks of a communicator. Its
// methods belong to the goroutine that called New. Forward, Inverse, NewArray and
// Close are collective: all ranks call them in the same order.
type Plan struct {
	cfg              Config
	forward, inverse *steps
	input, output    Layout
	workers          int

	groups     [2]*mpi.Comm // a column and a row of the process grid, for exchanges; nil if of one rank
	all        *mpi.Comm    // a duplicate of the program's communicator
	arrays     [][]complex128
	work       []complex128 // nil in slabs
	windows    map[*mpi.Comm]map[*complex128]*mpi.Win
	stage      *stage                 // a plane in each slot
	messages   *stage                 // of Tasks, in a distributed exchange: a batch of planes in each slot
	late       []complex128           // of Tasks: deferred groups
	spare      freelist.List[scratch] // one for each worker that needed it
	newScratch func() *scratch

	rt           *dataflow.Runtime
	ct           *commthread.Thread // only with Tasks
	ownRT, ownCT bool
	deferral     deferral
	stats        Stats
	failure      error // the first error of messages; the plan cannot be used after it
	closed       bool
}

// New plans transforms over the ranks of c. Collective. It duplicates c. It makes a runtime
// (package dataflow) with cfg.Workers workers unless one is given, and for Tasks on several
// ranks a communication thread. The calling goroutine is then worker 0, locked to its thread
// and pinned until Close.
//
// Any number of ranks works with any dimensions: where they do not divide, the parts of
// ranks differ by one index, and may be empty. Errors: a dimension below 1; a process grid
// whose product is not the number of ranks; negative padding, groups, stage or workers; too
// many groups; a stage with Exchange.
func New(c *mpi.Comm, cfg Config) (*Plan, error) {
	if err := cfg.complete(c.Size()); err != nil {
		return nil, err
	}
	p := &Plan{cfg: cfg, windows: map[*mpi.Comm]map[*complex128]*mpi.Win{}}
	err := p.communicators(c)
	if err == nil {
		err = p.makeSteps()
	}
	if err == nil {
		err = p.start()
	}
	if err == nil && p.work != nil {
		err = p.makeWindow(p.groups[1], p.work)
	}
	if err != nil {
		p.failure = err
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// communicators makes the communicators of the plan.
func (p *Plan) communicators(c *mpi.Comm) (err error) {
	if p.all, err = c.Dup(); err != nil || c.Size() == 1 {
		return err
	}
	p.all.SetName(c.Name() + ".fft")
	p1, p2 := p.cfg.Grid[0], p.cfg.Grid[1]
	row, column := c.Rank()/p2, c.Rank()%p2
	if p1 > 1 {
		if p.groups[0], err = p.all.Split(column, row); err != nil {
			return err
		}
	}
	if p2 > 1 {
		p.groups[1], err = p.all.Split(row, column)
	}
	return err
}

// makeSteps makes the steps, and the memory that they need.
func (p *Plan) makeSteps() (err error) {
	g := newGeometry(&p.cfg, p.all.Rank(), p.groups)
	if p.forward, err = g.forward(); err != nil {
		return err
	}
	if p.inverse, err = g.inverse(); err != nil {
		return err
	}
	for _, passes := range [][]pass{p.forward.passes, p.inverse.passes} {
		for i := range passes {
			passes[i].model = g.set.Model()
		}
	}
	p.input, p.output = g.inputLayout(), g.outputLayout()
	most := (max(p.cfg.Dims[0], p.cfg.Dims[1]) + 1) * p.cfg.Groups
	if limit := (*engine.Comm)(p.all).Engine().Limits().MaxTag; p.all.Size() > 1 && most > limit {
		return fmt.Errorf("distributed: up to %d messages from one rank to another: there are only %d tags; use fewer groups", most, limit)
	}
	if p.cfg.Grid[1] > 1 {
		if p.work, err = p.cfg.alloc(max(1, g.workLen())); err != nil {
			return err
		}
	}
	return p.memory()
}

// scratch returns scratch memory, which goes back to p.spare.
func (p *Plan) scratch() *scratch {
	if s := p.spare.Get(); s != nil {
		return s
	}
	return p.newScratch()
}

// memory makes the stages, the memory of deferred groups and what makes scratch, large enough for
// every pass.
func (p *Plan) memory() (err error) {
	var stage, messages stageSize
	plane, batch, late := 0, 0, 0
	for _, st := range []*steps{p.forward, p.inverse} {
		for i := range st.passes {
			f, x := st.passes[i].planes, st.passes[i].after
			if f == nil {
				continue
			}
			plane, batch = max(plane, f.rows*f.cols), max(batch, f.batch*f.cols)
			switch {
			case x == nil:
			case p.cfg.Form == Exchange:
				stage.packed = max(stage.packed, x.packedLen())
			case p.cfg.Form == Tasks && x.distributed:
				for _, defers := range []bool{false, true} {
					early, perMessage := p.cfg.cut(x, defers)
					o := newOutbox(x, early, perMessage, p.cfg.Stage)
					messages.atLeast(o.batches(), perMessage*o.plane())
					late = max(late, o.planes()*o.lateSlot)
				}
			default:
				stage.atLeast(st.passes[i].items, f.rows*f.cols)
			}
		}
	}
	if p.cfg.Stage > 0 {
		stage.slots = min(stage.slots, p.cfg.Stage)
	}
	if p.stage, err = newStage(stage, p.cfg.alloc); err != nil {
		return err
	}
	if p.messages, err = newStage(messages, p.cfg.alloc); err != nil {
		return err
	}
	if late > 0 {
		if p.late, err = p.cfg.alloc(late); err != nil {
			return err
		}
	}
	out := 0 // Exchange computes planes in scratch memory, and packs them
	if p.cfg.Form == Exchange {
		out = plane
	}
	p.newScratch, err = p.cfg.newScratch(plane, out, batch)
	return err
}

// start makes the runtime, and the communication thread.
func (p *Plan) start() (err error) {
	p.rt, p.ct = p.cfg.Runtime, p.cfg.Thread
	if p.rt == nil {
		options := append([]dataflow.Option{dataflow.Workers(max(1, p.cfg.Workers))}, p.cfg.RuntimeOptions...)
		if p.rt, err = dataflow.New(options...); err != nil {
			return err
		}
		p.ownRT = true
	}
	p.workers = p.rt.Workers()
	if p.ct == nil && p.cfg.Form == Tasks && p.all.Size() > 1 {
		options := append([]commthread.Option{commthread.Window(p.calls())}, p.cfg.ThreadOptions...)
		if p.ct, err = commthread.Start(p.all, p.rt, options...); err != nil {
			return err
		}
		p.ownCT = true
	}
	return nil
}

// calls is about the largest number of calls pending at one time with Tasks. The window of
// the communication thread must hold all of them, or receives would keep sends out of it.
func (p *Plan) calls() int {
	n := 256
	for _, st := range []*steps{p.forward, p.inverse} {
		for i := range st.passes {
			if x := st.passes[i].after; x != nil {
				n += 2 * (x.units.n + x.groups) * x.size
			}
		}
	}
	return n
}

// Input returns the layout of the array that Forward reads and Inverse writes: dimension 0
// over the ranks (of a P1 x P2 grid: dimension 0 over P1 and dimension 1 over P2). On
// several ranks in slabs the order in memory is (1, 0, 2), as in FFTW's transposed
// arrays, because in this order every received piece is contiguous.
func (p *Plan) Input() Layout { return p.input }

// Output returns the layout of the array that Forward writes and Inverse reads: dimension 1
// over the ranks (of a P1 x P2 grid: dimension 1 over P1 and dimension 2 over P2), in the
// order (0, 1, 2).
func (p *Plan) Output() Layout { return p.output }

// NewArray returns a zero array that is long enough for both layouts, in (huge) pages of
// its own. Collective. With OneSided it is a window, and only such arrays can be the
// destination of a transform. It lives until Close.
func (p *Plan) NewArray() ([]complex128, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	x, err := p.cfg.alloc(max(1, p.input.Len, p.output.Len))
	if err != nil {
		return nil, err
	}
	p.arrays = append(p.arrays, x)
	return x, p.makeWindow(p.groups[0], x)
}

// makeWindow makes a window of x for the ranks of a group, with OneSided.
func (p *Plan) makeWindow(c *mpi.Comm, x []complex128) error {
	if !p.cfg.OneSided || c == nil {
		return nil
	}
	w, err := c.NewWin(mpi.Of(x))
	if err != nil {
		return err
	}
	if p.windows[c] == nil {
		p.windows[c] = map[*complex128]*mpi.Win{}
	}
	p.windows[c][unsafe.SliceData(x)] = w
	return nil
}

// window returns the window of an array, nil if it has none.
func (p *Plan) window(c *mpi.Comm, x []complex128) *mpi.Win {
	return p.windows[c][unsafe.SliceData(x)]
}

// Forward transforms the distributed array src into dst, with the signs of package fft and
// without scaling. src has the layout Input, dst the layout Output. Collective. It blocks
// until this rank's part of dst is complete and src may be written again.
//
// Only cfg.BeforeForward changes src, which may be nil if cfg.BeforeForward fills in all of
// the input. On one rank dst may be src; otherwise they must not overlap.
//
// Besides the two arrays it uses one or two planes of scratch memory for each worker. On
// several ranks it uses the stage, too: up to cfg.Stage planes that wait until they are sent.
// Errors: a slice too short or overlapping; errors of the messages, after which no rank can use
// the plan.
func (p *Plan) Forward(dst, src []complex128) error {
	return p.run(p.forward, p.output, dst, src, p.cfg.BeforeForward)
}

// Inverse computes the inverse transform, without scaling: src has the layout Output, dst
// the layout Input, and cfg.BeforeInverse is the hook. All else is as with Forward.
func (p *Plan) Inverse(dst, src []complex128) error {
	return p.run(p.inverse, p.input, dst, src, p.cfg.BeforeInverse)
}

func (p *Plan) run(st *steps, out Layout, dst, src []complex128, before Rows) error {
	if err := p.check(st.input, out, dst, src, before); err != nil {
		return err
	}
	since := osthread.Nanotime()
	a := &arrays{data: [3][]complex128{source: src, destination: dst[:out.Len], work: p.work}, prepare: before}
	var err error
	if p.cfg.Form == Tasks {
		err = p.runGraph(st, a)
	} else {
		err = p.runLoop(st, a)
	}
	p.stats.Transforms++
	p.stats.Elapsed += nanoseconds(osthread.Nanotime() - since)
	return err
}

// check returns an error for arrays that cannot be used.
func (p *Plan) check(in, out Layout, dst, src []complex128, before Rows) error {
	if err := p.usable(); err != nil {
		return err
	}
	if src == nil && before == nil && in.Points() > 0 {
		return errors.New("distributed: no input, and no hook that makes it: give an array or set Config.BeforeForward or BeforeInverse")
	}
	if src != nil && len(src) < in.Len {
		return fmt.Errorf("distributed: the input has %d numbers: this rank's part of %v needs %d", len(src), p.cfg.Dims, in.Len)
	}
	if len(dst) < out.Len {
		return fmt.Errorf("distributed: the output has %d numbers: this rank's part of %v needs %d", len(dst), p.cfg.Dims, out.Len)
	}
	if src != nil && in.Len > 0 && out.Len > 0 {
		shared, same := overlap(dst[:out.Len], src[:in.Len])
		if shared && (!same || p.all.Size() > 1) {
			return errors.New("distributed: input and output share memory: that works on one rank only, where they must start together")
		}
	}
	if p.cfg.OneSided && p.groups[0] != nil && p.window(p.groups[0], dst) == nil {
		return errors.New("distributed: the output is no window: with OneSided it must be an array of Plan.NewArray")
	}
	return nil
}

// overlap reports whether two slices share memory, and whether they start together.
func overlap(a, b []complex128) (shared, same bool) {
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+element*uintptr(len(b)) && y < x+element*uintptr(len(a)), x == y
}

// usable returns an error if the plan is closed or has failed.
func (p *Plan) usable() error {
	if p.closed {
		return errors.New("distributed: the plan is closed")
	}
	if p.failure != nil {
		return fmt.Errorf("distributed: the plan failed before: %w", p.failure)
	}
	return nil
}

// revoke tells all ranks of an error, by revoking the communicators.
func (p *Plan) revoke(err error) {
	p.failure = err
	for _, c := range []*mpi.Comm{p.all, p.groups[0], p.groups[1]} {
		if c != nil {
			c.Revoke(err)
		}
	}
}

// Workers returns the number of cores that this rank computes on.
func (p *Plan) Workers() int { return p.workers }

// Stats returns the cost of the transforms since the last ResetStats on this rank.
func (p *Plan) Stats() Stats {
	s := p.stats
	s.Stage = (len(p.stage.mem) + len(p.messages.mem) + len(p.late)) * element
	return s
}

// ResetStats sets Stats to zero.
func (p *Plan) ResetStats() { p.stats = Stats{} }

// Log returns the event log of the runtime, with its messages if it has a
// communication thread; nil without dataflow.Trace.
func (p *Plan) Log() *dataflow.Log {
	if p.ct != nil {
		return p.ct.Log()
	}
	return p.rt.Log()
}

// Close frees the plan and its arrays, and ends the runtime and thread that New made.
// Collective. A second call does nothing. After an error, windows stay in memory: ranks
// that do not yet know of the error may still write to them.
func (p *Plan) Close() (err error) {
	if p.closed {
		return nil
	}
	p.closed = true
	if p.failure == nil {
		err = p.closeWindows()
	}
	if p.ownCT {
		err = errors.Join(err, p.ct.Stop())
	}
	if p.ownRT {
		err = errors.Join(err, p.rt.Close())
	}
	if p.failure == nil {
		err = errors.Join(err, p.free())
	}
	if p.failure == nil || !p.cfg.OneSided { // else a peer may be putting into them still
		for _, x := range append(p.arrays, p.work) {
			err = errors.Join(err, p.cfg.free(x))
		}
	}
	for _, s := range []*stage{p.stage, p.messages, {mem: p.late}} {
		if s != nil && s.mem != nil {
			err = errors.Join(err, p.cfg.free(s.mem))
		}
	}
	return err
}

// closeWindows closes all windows, in the same order on all ranks.
func (p *Plan) closeWindows() (err error) {
	for _, x := range append([][]complex128{p.work}, p.arrays...) {
		for _, c := range p.groups {
			if w := p.window(c, x); w != nil {
				err = errors.Join(err, w.Free())
			}
		}
	}
	return err
}

// free frees the communicators, in the same order on all ranks.
func (p *Plan) free() (err error) {
	for _, c := range []*mpi.Comm{p.groups[1], p.groups[0], p.all} {
		if c != nil {
			err = errors.Join(err, c.Free())
		}
	}
	return err
}
