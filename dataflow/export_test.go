package dataflow

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// RenamedBytes returns how much of the byte budget of renaming is taken.
func (rt *Runtime) RenamedBytes() int64 { return rt.domain.Budget.Used() }

// LiveRegions returns how many regions the tracker of the main program remembers.
func (rt *Runtime) LiveRegions() int { return rt.domain.Tracker.Live() }

// RestingSpares returns the number of spare workers that rest.
func (rt *Runtime) RestingSpares() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.spares)
}

// SpareWorkers returns how many workers have been made beyond those asked for.
func (rt *Runtime) SpareWorkers() int {
	return len(*rt.workers.Load()) - rt.opt.goroutines()
}

// SetMaxSpares limits the spare workers of the process to n more than there are now, until
// restore is called.
func SetMaxSpares(n int64) (restore func()) {
	before := maxSpares
	maxSpares = spares.Load() + n
	return func() { maxSpares = before }
}

// Outsiders returns the lines of the stall report about bodies inside Block and held events.
func (rt *Runtime) Outsiders() string { return strings.Join(rt.externalWaits(), "\n") }

// Audit returns an error for everything that a closed runtime still holds: tasks, places in a
// queue, bytes of the budget, records that are not on their free lists.
func (rt *Runtime) Audit() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !rt.closed {
		wrong("the runtime is not closed")
	}
	if !rt.submitted.empty() || len(rt.prio.heap) > 0 || rt.inject.n.Load() != 0 {
		wrong("a common queue is not empty")
	}
	if p, s := rt.parked.Load(), rt.spinning.Load(); p != 0 || s != 0 {
		wrong("%d workers count as parked and %d as spinning", p, s)
	}
	if n := rt.RenamedBytes(); n != 0 {
		wrong("%d bytes of renamed buffers are not given back", n)
	}
	if o := rt.blocked.list(); len(o) > 0 {
		wrong("still blocked: %v", o)
	}
	if done := rt.finished(); done != rt.domain.Spawned {
		wrong("%d of %d tasks ended", done, rt.domain.Spawned)
	}
	home := map[*task.Record]bool{} // records on a free list or on their way to one
	all := rt.everyone()
	for _, w := range all {
		errs = append(errs, w.audit())
		collect(home, w.retFirst)
		collectFree(home, w.alloc)
	}
	for _, w := range all {
		errs = append(errs, auditRecords(w, home))
	}
	return errors.Join(errs...)
}

func (w *worker) audit() error {
	switch {
	case w.cur != nil:
		return fmt.Errorf("%s is inside task %d %q", w.name(), w.cur.Seq(), w.cur.Label())
	case w.next != nil || len(w.readySet) > 0 || !w.dq.empty() || w.mail.n.Load() != 0:
		return fmt.Errorf("a queue of %s is not empty", w.name())
	}
	return nil
}

func collect(home map[*task.Record]bool, n *deps.Node) {
	for ; n != nil; n = n.Next() {
		home[task.FromNode(n)] = true
	}
}

// collectFree looks at the free lists of an allocator. They are its own business,
// so only the audit knows where they are.
func collectFree(home map[*task.Record]bool, a *task.Allocator) {
	v := reflect.ValueOf(a).Elem()
	inbox := (*atomic.Pointer[deps.Node])(unsafe.Pointer(v.FieldByName("inbox").UnsafeAddr()))
	collect(home, inbox.Load())
	pools := v.FieldByName("pools")
	for i := range pools.Len() {
		if p := pools.Index(i); !p.IsNil() {
			collect(home, (*deps.Node)(p.Elem().FieldByName("free").UnsafePointer()))
		}
	}
}

// auditRecords finds records of w that did not come home.
func auditRecords(w *worker, home map[*task.Record]bool) error {
	away := 0
	var first *task.Record
	w.alloc.Each(func(r *task.Record) {
		if home[r] && r.Children == nil && (r.Seq() == 0 || r.Ended()) {
			return
		}
		if away++; first == nil {
			first = r
		}
	})
	if away == 0 {
		return nil
	}
	return fmt.Errorf("%d records of %s are not free, such as that of task %d %q: ended %t, home %t, flags %b, references %d",
		away, w.name(), first.Seq(), first.Label(), first.Ended(), home[first], first.Flags, first.Refs())
}

// AskForReport asks the submitter for a stall report, as the watchdog does.
func (rt *Runtime) AskForReport() {
	rt.stalls.asked.Store(rt.moves() + 1)
	rt.w0.parker.Unpark()
}

// HoldBack makes the workers leave most tasks to the submitter, as after many short bodies.
func (rt *Runtime) HoldBack() { rt.tiny.Store(rt.opt.goroutines() > 1) }

// TakeAllBodiesForShort makes workers believe that every body is short, until the call of
// restore.
func TakeAllBodiesForShort() (restore func()) {
	short, long := shortBody, longBody
	shortBody, longBody = math.MaxInt64, math.MaxInt64
	return func() { shortBody, longBody = short, long }
}
