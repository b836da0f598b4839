package commthread

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// check is the remainder of a body that has returned.
type check struct {
	rec  *task.Record
	done func() (bool, error)
	end  *tasks.Event
}

// Watch keeps the task of ctx, whose body has the clause OnComm and calls Watch, from
// ending until done reports true; it then ends with the error of done. So a body can start
// messages and return, and no goroutine waits for them. The holder of the lease calls done
// when some call of this rank has ended, so nothing else ends the task, and ranks that wait
// for each other in such tasks are a deadlock. done must not block; it may start further
// operations, and test its own (mpi.Testsome and the like, which do not poll here). An
// error except mpi.ErrRevoked revokes communicators like the failure of a body.
func (t *Thread) Watch(ctx *tasks.Context, done func() (bool, error)) {
	r := t.port.Current()
	if t.holder != 0 {
		r = t.inLease.rec
	}
	k := &check{rec: r, done: done, end: ctx.Hold()}
	if over, err := t.ask(k); over {
		t.finish(k, err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checks = append(t.checks, k)
}

// ask reports whether the task of k may end, and its error.
func (t *Thread) ask(k *check) (over bool, err error) {
	t.checking = true
	defer func() { t.checking = false }()
	return k.done()
}

// finish ends the task of k.
func (t *Thread) finish(k *check, err error) {
	if err != nil && !errors.Is(err, mpi.ErrRevoked) {
		t.revoke(nil, k.rec, fmt.Errorf("it failed: %w", err))
	}
	k.end.Fail(err)
}

// check tests the tasks that Watch keeps, and reports whether one of them has ended.
func (t *Thread) check() (moved bool) {
	t.changed = false
	for i := 0; i < len(t.checks); { // the end of a task may add another
		k := t.checks[i]
		over, err := t.ask(k)
		if !over {
			i++
			continue
		}
		t.mu.Lock()
		t.checks = slices.Delete(t.checks, i, i+1)
		t.mu.Unlock()
		t.finish(k, err)
		moved = true
	}
	return moved
}
