package commthread

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// A receive ends when every byte has arrived. A receive spawned with LazyRecv, of a message
// sent with LazySend, into memory of an arena (package commthread/dds), lets tasks that read
// it as tasks.Lazy(tasks.Input) start at its first strip: they wait where they touch missing
// bytes. With Attend, a spare worker has their core meanwhile.

// lazyOperation is one end of a message of an endpoint: a body on the comm thread that
// allocates only its arrival.
type lazyOperation struct {
	task.Record
	thread    *Thread
	end       *dds.Endpoint
	buf       mpi.Buffer
	peer, tag int
	hints     []dds.Hint
	arrival   *deps.Arrival // for a receive
	arrived   bool
	site      uintptr
}

var (
	lazySendDecl = lazyDecl("lazy send", (*lazyOperation).send, func(*lazyOperation) {})
	lazyRecvDecl = lazyDecl("lazy receive", (*lazyOperation).receive, (*lazyOperation).lose)
)

func lazyDecl(name string, run func(*lazyOperation) error, skip func(*lazyOperation)) *task.Decl {
	d := &task.Decl{ID: task.NextDeclID(), Name: name, New: task.SlabOf[lazyOperation]}
	d.Run = func(r *task.Record) error { return run(lazyOf(r)) }
	d.Skip = func(r *task.Record) { skip(lazyOf(r)) }
	d.Clear = func(r *task.Record) {
		o := lazyOf(r)
		o.thread, o.end, o.buf, o.hints, o.arrival = nil, nil, mpi.Buffer{}, nil, nil
	}
	d.Where = func(r *task.Record) (string, string, int) {
		f, _ := runtime.CallersFrames([]uintptr{lazyOf(r).site}).Next()
		return name, f.File, f.Line
	}
	return d
}

// endpointOf returns the endpoint of a lazy operation, and nil for other tasks.
func endpointOf(r *task.Record) *dds.Endpoint {
	if r.Decl == lazySendDecl || r.Decl == lazyRecvDecl {
		return lazyOf(r).end
	}
	return nil
}

func lazyOf(r *task.Record) *lazyOperation { return (*lazyOperation)(unsafe.Pointer(r)) }

// LazySend spawns the sending of b to rank dst over an endpoint, whose other end receives
// with LazyRecv, or with Recv of the endpoint. The task reads b, and ends when b may be
// written again. Spawn it like Send of a Thread; hs override the hints of the endpoint.
func (t *Thread) LazySend(in tasks.Scope, e *dds.Endpoint, b mpi.Buffer, dst, tag int, hs []dds.Hint, cl ...tasks.Clause) {
	t.lazy(in, lazySendDecl, e, b, deps.In, dst, tag, hs, cl)
}

// LazyRecv spawns the receiving into b of a message that another rank's endpoint has sent.
// Tasks that read b as Lazy(Input) may start when its first strip has landed and the rest
// is in flight; they wait where they touch missing bytes, or call dds.Touch before a kernel
// does. All others wait for the end of the task: every byte has arrived. If b lies in no
// arena, or its arena cannot make readers wait, both are the same.
//
// Messages of one endpoint in flight between two ranks at the same time need different
// tags: lazy tasks are independent (tasks.Independent). A message that fails also fails its
// lazy readers, however far they have come.
func (t *Thread) LazyRecv(in tasks.Scope, e *dds.Endpoint, b mpi.Buffer, src, tag int, hs []dds.Hint, cl ...tasks.Clause) {
	t.lazy(in, lazyRecvDecl, e, b, deps.Out, src, tag, hs, cl)
}

func (t *Thread) lazy(in tasks.Scope, d *task.Decl, e *dds.Endpoint, b mpi.Buffer, m deps.Mode, peer, tag int, hs []dds.Hint, cl []tasks.Clause) {
	r := task.DomainOf(in).Begin(d)
	if r == nil {
		return
	}
	o := lazyOf(r)
	o.thread, o.end, o.buf, o.peer, o.tag, o.hints = t, e, b, peer, tag, hs
	o.arrived = false
	o.site = task.Caller(2)
	region, err := regionOf(engine.Buffer(b))
	switch {
	case e == nil:
		err = errors.New("the endpoint is nil")
	case b.Err() != nil:
		err = b.Err()
	}
	if err != nil {
		r.Fail(fmt.Errorf("commthread: %w", err))
	} else {
		r.Domain.Access(r, region, m, false, -1, nil)
	}
	if m == deps.Out {
		o.arrival = new(deps.Arrival)
		r.Domain.Arriving(r, o.arrival)
	}
	r.Flags |= task.Comm | task.Independent
	submit(r, cl)
}

func (o *lazyOperation) send() error {
	x, err := o.end.Isend(o.buf, o.peer, o.tag, o.hints...)
	if err != nil {
		return err
	}
	return x.Wait()
}

func (o *lazyOperation) receive() error {
	defer o.lose() // in any case, unless it has arrived
	x, err := o.end.Recv(o.buf, o.peer, o.tag, o.hints...)
	if err != nil {
		return err
	}
	o.arrived = true
	o.arrival.Watch(x.Lost)
	o.Exec.Schedule(o.arrival.Release(false))
	return x.Wait()
}

// lose releases the lazy readers of a lost message, which are skipped.
func (o *lazyOperation) lose() {
	if o.arrived {
		return
	}
	o.arrived = true
	o.Exec.Schedule(o.arrival.Release(true))
}

// Attend makes a spare worker take the core of a worker that waits in a fault on memory of
// the arena, until its strip lands. It lasts until Stop, which must come before the close
// of the arena. Any goroutine. Errors: lazypages.ErrNoFaults if the arena has no faults, which is
// harmless; errors of lazypages.Arena.Watch.
func (t *Thread) Attend(a *dds.Arena) error {
	sleepers := sleepers{port: t.port, by: map[int]map[int]func(){}}
	stop, err := lazypages.Of(a).Watch(sleepers.handle)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches = append(t.watches, func() {
		stop()
		sleepers.wake()
	})
	return nil
}

// sleepers lists the threads of workers that wait in faults, and the spares on their cores.
// Owned by the watching goroutine, then by the goroutine that stops it.
type sleepers struct {
	port executor.Port
	by   map[int]map[int]func() // by strip, by thread: gives the core back
}

// handle processes a fault, perhaps repeated, or the landing of a strip, which ends all waits
// for it.
func (s *sleepers) handle(e lazypages.Sleep) {
	on := s.by[e.Strip]
	switch {
	case e.Ended:
		for _, awake := range on {
			awake()
		}
		delete(s.by, e.Strip)
	case on[e.Thread] == nil:
		awake := s.port.Asleep(e.Thread)
		if awake == nil {
			return
		}
		if on == nil {
			on = map[int]func(){}
			s.by[e.Strip] = on
		}
		on[e.Thread] = awake
	}
}

// wake gives all cores back: without a watch no landing would.
func (s *sleepers) wake() {
	for _, on := range s.by {
		for _, awake := range on {
			awake()
		}
	}
}

// unattend ends the watches of Attend.
func (t *Thread) unattend() {
	t.mu.Lock()
	stops := t.watches
	t.watches = nil
	t.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}
