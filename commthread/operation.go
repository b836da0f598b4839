package commthread

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// operation is a comm task that is one MPI call: a descriptor without a body.
type operation struct {
	task.Record
	entry   entry
	call    engine.Call
	source  Source      // gives the call its buffer when it is posted; may be nil
	status  *mpi.Status // gets the status of the call; may be nil
	thread  *Thread
	site    uintptr // of the spawn
	posting posting // for the trace
	refused bool    // the call was never posted, because its arguments are invalid
}

// decls holds the declarations of the operations, by kind. Immutable after init.
var (
	decls     [engine.CallFlush + 1]*task.Decl
	firstDecl int
)

func init() {
	for k := range decls {
		d := &task.Decl{ID: task.NextDeclID(), Name: engine.CallKind(k).String(), New: task.SlabOf[operation]}
		d.Run = func(*task.Record) error { return errNotRun }
		d.Clear = func(r *task.Record) { operationOf(r).clear() }
		d.Where = func(r *task.Record) (string, string, int) {
			f, _ := runtime.CallersFrames([]uintptr{operationOf(r).site}).Next()
			return d.Name, f.File, f.Line
		}
		decls[k] = d
	}
	firstDecl = decls[0].ID
}

var errNotRun = errors.New("a comm task was run by a worker")

func operationOf(r *task.Record) *operation { return (*operation)(unsafe.Pointer(r)) }

// isOperation reports whether r is an operation and not a body.
func isOperation(r *task.Record) bool { return uint(r.Decl.ID-firstDecl) < uint(len(decls)) }

func (o *operation) clear() {
	o.call.Reset()
	o.call.OnDone, o.call.User = nil, nil
	o.thread, o.source, o.status, o.refused = nil, nil, nil, false
	o.entry = entry{}
}

// spawn begins an operation of kind k on c; nil if the spawn is void. skip is the number of
// callers between this function and the caller that reports name.
func (t *Thread) spawn(in tasks.Scope, c *mpi.Comm, k engine.CallKind, skip int) *operation {
	r := task.DomainOf(in).Begin(decls[k])
	if r == nil {
		return nil
	}
	o := operationOf(r)
	o.thread = t
	o.entry.rec, o.entry.op = r, o
	o.call.Kind, o.call.Comm = k, (*engine.Comm)(c)
	o.site = task.Caller(skip + 1)
	if c == nil {
		r.Fail(errors.New("the communicator is nil"))
	}
	return o
}

// submit hands the operation to the runtime.
func (o *operation) submit(cl []tasks.Clause) {
	o.Flags |= task.Comm
	submit(&o.Record, cl)
}

// submit hands r to the runtime with the clauses of its spawn. It copies them, so that the
// caller's need not be on the heap.
func submit(r *task.Record, cl []tasks.Clause) {
	if len(cl) == 0 {
		task.Submit(r, nil)
		return
	}
	copied := clauses.Get().(*[]tasks.Clause)
	*copied = append((*copied)[:0], cl...)
	task.Submit(r, copied)
	clear(*copied)
	clauses.Put(copied)
}

var clauses = sync.Pool{New: func() any { return new([]tasks.Clause) }}

// access declares the operation's access to a buffer.
func (o *operation) access(b mpi.Buffer, m deps.Mode) {
	if b.IsInPlace() || b.Err() != nil { // an invalid buffer is reported when the call is posted
		return
	}
	region, err := regionOf(engine.Buffer(b))
	if err != nil {
		o.Fail(err)
		return
	}
	o.Domain.Access(&o.Record, region, m, false, -1, nil)
}

// regionOf returns the bytes of a buffer.
func regionOf(b engine.Buffer) (deps.Region, error) {
	blocks, block, stride := b.Layout()
	if b.Contiguous() {
		return deps.Bytes(b.Pointer(), uintptr(b.Bytes())), nil
	}
	region, err := deps.Tile(b.Pointer(), block, blocks, stride, uintptr(b.ElemSize()))
	if err != nil {
		return region, fmt.Errorf("commthread: %w", err)
	}
	return region, nil
}

// prepare prepares the call for the engine, and reports whether the engine must make it.
func (o *operation) prepare(t *Thread) bool {
	k := &o.call
	if o.source != nil {
		k.Send = engine.Buffer(bufferOf(o.source))
	}
	k.Task = o.Seq()
	k.User = o
	k.OnDone = t.onDone
	if t.traced {
		t.number(k, &o.posting)
	}
	t.sent(k)
	if k.Comm.Prepare(k) {
		return true
	}
	o.refused = k.Err != nil
	return false
}

// completed is called by the engine when a call has ended.
func (t *Thread) completed(k *engine.Call) {
	t.finished = append(t.finished, k.User.(*operation))
}
