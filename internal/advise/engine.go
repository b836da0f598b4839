package advise

import (
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// engine stands between the program and the engine of a rank, and notes the calls.
type rankEngine struct {
	engine.Engine
	t *tracker
}

// messages reports whether calls of this kind form chains.
func messages(k engine.CallKind) bool {
	return k == engine.CallSend || k == engine.CallSsend || k == engine.CallRecv
}

// ofThread reports whether a communication thread has made the call.
func ofThread(c *engine.Call) bool { return c.Task != 0 || c.OnDone != nil }

// Do implements engine.Engine: a call that the program waits for at once.
func (e *rankEngine) Do(c *engine.Call) {
	start := osthread.Nanotime()
	if !messages(c.Kind) || ofThread(c) {
		e.t.interrupted(c, start)
		e.t.show(c)
		before := osthread.Nanotime()
		e.Engine.Do(c)
		e.t.resumed(c, before)
		return
	}
	e.t.enter(e.t.places.here(1), c, start)
	e.t.cur.open = false
	before := osthread.Nanotime()
	e.Engine.Do(c)
	e.t.left(start, before, osthread.Nanotime())
}

// Post implements engine.Engine. Calls of the communication thread pass.
func (e *rankEngine) Post(calls []*engine.Call) {
	start := osthread.Nanotime()
	if len(calls) != 1 || !messages(calls[0].Kind) || ofThread(calls[0]) {
		e.pass(calls, start)
		return
	}
	c := calls[0]
	if e.t.goesOn(c) {
		e.t.enter(e.t.cur.site, c, start)
		before := osthread.Nanotime()
		e.Engine.Post(calls)
		e.t.left(start, before, osthread.Nanotime())
		return
	}
	site := e.t.places.here(1)
	switch {
	case e.t.places.tasks[site]:
		e.pass(calls, start)
	case e.t.places.waits(site):
		e.t.enter(site, c, start)
		before := osthread.Nanotime()
		e.Engine.Post(calls)
		e.t.left(start, before, osthread.Nanotime())
	default:
		e.t.interrupted(c, start)
		s := e.t.verify.start(c, site)
		before := osthread.Nanotime()
		e.Engine.Post(s.self[:])
		e.t.resumed(c, before)
	}
}

// pass posts calls that are not for chains.
func (e *rankEngine) pass(calls []*engine.Call, start int64) {
	if len(calls) == 0 {
		return
	}
	e.t.record.other()
	for _, c := range calls[1:] {
		e.t.show(c)
	}
	if ofThread(calls[0]) || messages(calls[0].Kind) {
		e.t.show(calls[0])
		e.t.threadCalls += len(calls)
		e.Engine.Post(calls)
		return
	}
	e.t.interrupted(calls[0], start)
	e.t.show(calls[0])
	before := osthread.Nanotime()
	e.Engine.Post(calls)
	e.t.resumed(calls[0], before)
}

// Poll implements engine.Engine: the program learns of completed requests here.
func (e *rankEngine) Poll() int {
	n := e.Engine.Poll()
	if len(e.t.verify.open) > 0 {
		n += e.t.verify.settleAll()
	}
	return n
}

// Await implements engine.Engine.
func (e *rankEngine) Await(any bool, calls []*engine.Call) {
	start := osthread.Nanotime()
	if e.t.owns(calls) {
		e.Engine.Await(any, calls)
		e.t.left(start, start, osthread.Nanotime())
		e.t.cur.open = false
		return
	}
	inner := e.t.verify.inner(calls)
	before := osthread.Nanotime()
	e.Engine.Await(any, inner)
	after := osthread.Nanotime()
	e.t.waits += after - before
	e.t.inside += after - before
	e.t.verify.settle(calls)
	e.t.record.other()
	e.t.lastEnd = osthread.Nanotime()
	e.t.idle = e.t.lastEnd
	e.t.tool += before - start + e.t.lastEnd - after
}

// Create implements engine.Engine.
func (e *rankEngine) Create(h engine.Handle, members []int, seq uint32) (engine.Handle, error) {
	e.t.record.other()
	return e.Engine.Create(h, members, seq)
}

// NewWindow implements engine.Engine.
func (e *rankEngine) NewWindow(h engine.Handle, b engine.Buffer) (engine.Handle, error) {
	e.t.record.other()
	return e.Engine.NewWindow(h, e.t.view(b))
}

// Cancel implements engine.Engine.
func (e *rankEngine) Cancel(c *engine.Call) { e.Engine.Cancel(e.t.verify.innerOf(c)) }

// Outstanding implements engine.Engine: the program sees its own calls.
func (e *rankEngine) Outstanding(f func(*engine.Call)) {
	e.Engine.Outstanding(func(c *engine.Call) {
		if s, ours := c.User.(*shadow); ours {
			c = s.outer
		}
		f(c)
	})
}
