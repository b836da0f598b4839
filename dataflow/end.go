package dataflow

import (
	"errors"

	"github.com/weft-hpc/weft/internal/task"
)

// The end of a task: children and held events, release of successors, failures, return of
// the record.

// finish ends the body of r, and r itself unless children or held events keep it.
func (w *worker) finish(r *task.Record) {
	if d := r.Children; d != nil {
		d.Owner = noOwner
		r.Extend()
		r.Ref() // held by the children
		n := int64(d.Spawned)
		if d.Live.Add(n+closedBias) == closedBias {
			r.Unref()
		}
	}
	if r.Flags&task.Extended == 0 || r.Unref() {
		w.complete(r)
	}
	if w.brought || w.overdue() { // by this end, or by the body itself if that was a gate
		w.serve()
	}
	if len(w.hooks) > 0 {
		w.callHooks()
	}
}

// complete ends r, and each ancestor whose last unfinished child it was.
func (w *worker) complete(r *task.Record) {
	for r != nil {
		r = w.end(r)
	}
}

// end releases the successors of r, returns its record to the allocator, and returns the
// parent if the parent has nothing left to wait for.
func (w *worker) end(r *task.Record) (parent *task.Record) {
	d := r.Domain
	const rare = task.Extended | task.Commutes | task.Skipped
	if r.Flags&rare != 0 || r.Err != nil || r.Children != nil || r.PeekCold() != nil {
		w.endRare(r)
	}
	failed := r.Err != nil || r.Flags&task.Skipped != 0
	w.schedule(r.Release(failed))
	if r.Flags&task.Extended != 0 {
		w.log.done(r)
	}
	r.Decl.Clear(r)
	if failed {
		d.KeepFailed(r)
	} else {
		w.recycle(r)
	}
	if d.Root {
		w.count()
		return nil
	}
	w.countChild()
	p, exec := d.Parent, d.Exec.(*worker) // d may be gone after the next line
	switch d.Live.Add(-1) {
	case closedBias:
		if p.Unref() {
			return p
		}
	case 0:
		exec.rouse()
	}
	return nil
}

// endRare handles the parts of an end that most tasks do not need.
func (w *worker) endRare(r *task.Record) {
	r.Late()
	if r.Err == nil && r.Flags&task.Skipped == 0 {
		r.Err = r.Overtaken()
	}
	if d := r.Children; d != nil {
		d.Trim()
		r.Err = errors.Join(r.Err, d.TakeFailures())
		if r.Err == nil && d.Skips() > 0 { // they depend on a failed task outside
			r.Mark(task.Skipped)
		}
		d.Forgive()
		d.Alloc.FreeDomain(d)
		r.Children = nil
	}
	if v := verifierOf(r); v != nil {
		r.PeekCold().Check = nil
		r.Err = errors.Join(r.Err, v.After(r.Err != nil || r.Flags&task.Skipped != 0))
	}
	if r.Err != nil {
		r.Domain.AddFailure(taskError(r))
		if w.rt.opt.stop {
			w.rt.skip.Store(true)
		}
	}
	if r.Flags&task.Commutes != 0 {
		r.Unlock(w.again)
	}
	if r.Doomed() {
		r.Mark(task.Skipped)
	}
	failed := r.Err != nil || r.Flags&task.Skipped != 0
	if failed && r.Decl.Undo != nil {
		r.Decl.Undo(r)
	}
	r.Ungate(failed, w.complete)
}

// recycle returns the record of an ended task to its allocator.
func (w *worker) recycle(r *task.Record) {
	home := r.Home()
	switch {
	case home == w.alloc:
		home.Put(r)
		return
	case w.external:
		home.Return(&r.Node, &r.Node)
		return
	case w.retHome != home:
		w.flushReturns()
		w.retHome = home
	}
	r.SetNext(w.retFirst)
	if w.retFirst == nil {
		w.retLast = &r.Node
	}
	w.retFirst = &r.Node
	if w.retN++; w.retN >= returnBatch {
		w.flushReturns()
	}
}

func (w *worker) flushReturns() {
	if w.retFirst != nil {
		w.retHome.Return(w.retFirst, w.retLast)
		w.retFirst, w.retLast, w.retHome, w.retN = nil, nil, nil, 0
	}
}

// count counts the end of a task of the main program.
func (w *worker) count() {
	if w.external {
		w.published.Add(1)
		w.rt.progress()
		return
	}
	if w.done++; w.done&w.rt.batch == 0 {
		w.publish()
	}
}

// countChild counts the end of another task, for the watchdog only.
func (w *worker) countChild() {
	if w.external {
		w.inner.Add(1)
	} else {
		w.children++
	}
}

// publish makes the counts of ended tasks visible to the submitter.
func (w *worker) publish() {
	if w.inner.Load() != w.children {
		w.inner.Store(w.children)
	}
	if w.published.Load() != w.done {
		w.published.Store(w.done)
		w.rt.progress()
	}
}
