package distributed

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// hand is one transform in a form that is scheduled by hand: pass after pass.
type hand struct {
	p     *Plan
	st    *steps
	a     *arrays
	links []*link // by pass: of the exchange after it; nil if there is none
}

// byHand runs a transform as Exchange, Slabs or Pencils.
func (p *Plan) byHand(st *steps, a *arrays) error {
	h := &hand{p, st, a, make([]*link, len(st.passes))}
	err := h.open()
	for i := 0; err == nil && i < len(st.passes); i++ {
		err = h.pass(i)
	}
	for _, k := range h.links {
		for err == nil && k != nil && len(k.leaving) > 0 {
			err = k.reclaim(true)
		}
	}
	if err == nil {
		return nil
	}
	p.revoke(err)
	for _, k := range h.links {
		if k != nil {
			k.abandon()
		}
	}
	return err
}

// open posts the receives of all exchanges, before anything is transformed.
func (h *hand) open() error {
	for i := range h.st.passes {
		x := h.st.passes[i].after
		if x == nil {
			continue
		}
		k := &link{x: x, form: h.p.cfg.Form, array: h.a.data[x.to], stage: h.p.stage, stats: &h.p.stats}
		if h.p.cfg.OneSided {
			k.win = h.p.window(x.comm, k.array)
		}
		h.links[i] = k
		if err := k.open(); err != nil {
			return err
		}
	}
	return nil
}

// loop is one pass under way: the rank's goroutine leads, other workers help with items
// whose input is there.
type loop struct {
	p       *Plan
	ps      *pass
	a       *arrays
	in, out *link

	mu      sync.Mutex
	next    int       // guarded by mu: item to be taken
	limit   int       // guarded by mu: items whose input is there
	busy    int       // guarded by mu: items being computed
	helpers int       // guarded by mu
	done    []product // guarded by mu: planes to be sent
	broken  error     // guarded by mu: an item has panicked
}

// product is a finished plane.
type product struct {
	item, slot int
	plane      []complex128
}

func (h *hand) pass(i int) error {
	l := &loop{p: h.p, ps: &h.st.passes[i], a: h.a, out: h.links[i]}
	if i > 0 {
		l.in = h.links[i-1]
	}
	err := l.lead()
	if h.p.workers > 1 {
		err = errors.Join(err, h.p.rt.Wait())
	}
	if err == nil && l.out != nil && l.out.form == Exchange {
		err = l.out.swap()
	}
	return err
}

// lead computes, sends what is finished and receives, until all is done or an item has
// failed; then others may still be computing.
func (l *loop) lead() error {
	for {
		over, err := l.over()
		if over || err != nil {
			return err
		}
		if err := l.ship(); err != nil {
			return err
		}
		if err := l.admit(false); err != nil {
			return err
		}
		if item, slot, ok := l.take(); ok {
			l.work(item, slot)
			continue
		}
		if err := l.wait(); err != nil {
			return err
		}
	}
}

// ship sends finished planes, frees the slots of those that have left, and looks at
// what has come: messages move only while their ranks are inside MPI.
func (l *loop) ship() error {
	if l.in != nil {
		if err := l.in.reclaim(false); err != nil {
			return err
		}
	}
	if l.out == nil || l.out.form == Exchange {
		return nil
	}
	for {
		l.mu.Lock()
		if len(l.done) == 0 {
			l.mu.Unlock()
			return errors.Join(l.out.reclaim(false), l.out.admit(false))
		}
		d := l.done[0]
		l.done = l.done[1:]
		l.mu.Unlock()
		l.out.send(d.item, d.slot, d.plane)
	}
}

// admit opens the items of parts that have arrived, and calls for help.
func (l *loop) admit(wait bool) error {
	arrived := 0
	if l.in != nil {
		if err := l.in.admit(wait); err != nil {
			return err
		}
		arrived = l.in.arrived
	}
	l.mu.Lock()
	for l.limit < l.ps.items && (l.in == nil || l.ps.part(l.limit) < arrived) {
		l.limit++
	}
	missing := max(0, min(l.p.workers, l.limit-l.next)-1-l.helpers)
	l.helpers += missing
	l.mu.Unlock()
	for range missing {
		l.p.rt.Spawn("share", l.help) // may run it at once
	}
	return nil
}

// take returns an item that can be computed now, and a slot if its plane needs one.
func (l *loop) take() (item, slot int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == l.limit {
		return 0, 0, false
	}
	slot = -1
	if l.out != nil && l.out.form != Exchange {
		if slot = l.p.stage.take(); slot < 0 {
			return 0, 0, false
		}
	}
	l.next++
	l.busy++
	return l.next - 1, slot, true
}

// over reports whether the pass is over, or broken.
func (l *loop) over() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waits := l.in != nil && l.in.arrived < len(l.in.arriving)
	return l.next == l.ps.items && l.busy == 0 && len(l.done) == 0 && !waits, l.broken
}

// wait waits for something from outside: a part, or a slot. If others compute, it waits
// only a moment.
func (l *loop) wait() error {
	l.mu.Lock()
	alone, open := l.busy == 0 && len(l.done) == 0, l.next < l.limit
	l.mu.Unlock()
	switch {
	case !alone:
		osthread.Relax()
		return nil
	case !open:
		return l.admit(true)
	case l.in != nil && len(l.in.leaving) > 0:
		return l.in.reclaim(true)
	case l.out != nil:
		return l.out.reclaim(true)
	}
	return nil
}

// helpSpins is how often a helper looks for more before it leaves.
const helpSpins = 256

// help is the body of another worker.
func (l *loop) help(*tasks.Context) error {
	for spins := 0; spins < helpSpins; spins++ {
		if item, slot, ok := l.take(); ok {
			l.work(item, slot)
			spins = 0
			continue
		}
		osthread.Relax()
	}
	l.mu.Lock()
	l.helpers--
	l.mu.Unlock()
	return nil
}

// work computes an item. A panic in a hook becomes the error of the pass.
func (l *loop) work(item, slot int) {
	s := l.p.scratch.Get().(*scratch)
	var plane []complex128
	err := caught(func() {
		if l.out == nil {
			l.ps.do(item, l.a, s)
		} else {
			plane = l.cut(item, slot, s)
		}
	})
	l.p.scratch.Put(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	switch {
	case err != nil:
		if l.broken == nil {
			l.broken = fmt.Errorf("distributed: item %d of a pass: %w", item, err)
		}
		if slot >= 0 {
			l.p.stage.give(slot)
		}
	case slot >= 0:
		l.done = append(l.done, product{item, slot, plane})
	}
}

// caught calls f, and turns a panic into an error.
func caught(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	f()
	return nil
}

// cut computes a plane that is sent, and copies the piece that stays.
func (l *loop) cut(item, slot int, s *scratch) []complex128 {
	n := l.ps.planes.rows * l.ps.planes.cols
	plane := s.out
	if slot >= 0 {
		plane = l.p.stage.plane(slot, n)
	}
	plane = plane[:n]
	l.ps.plane(item, plane, l.a, s)
	l.out.x.keep(l.out.array, plane, item)
	if slot < 0 {
		l.out.pack(item, plane)
	}
	return plane
}
