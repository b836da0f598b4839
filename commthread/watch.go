package commthread

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// check is what is left of a body that has returned.
type check struct {
	rec  *task.Record
	done func() (bool, error)
	end  *tasks.Event
}

// Watch keeps the task of ctx, whose body has the clause OnComm and calls Watch, from
// ending until done reports true; it ends then with the error of done. So a body starts
// messages and returns, and nobody waits for them: done is called when some call of this
// rank has ended, by who has the engine then. It does not block; it may start further
// operations, and ask for the state of those it has started (mpi.Testsome and the like,
// which do not poll here). An error but mpi.ErrRevoked revokes what the failure of a body
// does.
func (t *Thread) Watch(ctx *tasks.Context, done func() (bool, error)) {
	r := t.lane.Current()
	if t.holder != 0 {
		r = t.inLease.rec
	}
	k := &check{rec: r, done: done, end: ctx.Hold()}
	if t.checked(k) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checks = append(t.checks, k)
}

// checked ends what k has kept, if that may be.
func (t *Thread) checked(k *check) bool {
	t.checking = true
	over, err := k.done()
	t.checking = false
	if !over {
		return false
	}
	if err != nil && !errors.Is(err, mpi.ErrRevoked) {
		t.revoke(nil, k.rec, fmt.Errorf("it failed: %w", err))
	}
	k.end.Fail(err)
	return true
}

// check looks after the tasks that Watch keeps, and reports whether one of them has ended.
func (t *Thread) check() (moved bool) {
	if t.changed = false; len(t.checks) == 0 {
		return false
	}
	for _, k := range slices.Clone(t.checks) { // the end of a task may bring another
		if !t.checked(k) {
			continue
		}
		moved = true
		t.mu.Lock()
		t.checks = slices.DeleteFunc(t.checks, func(c *check) bool { return c == k })
		t.mu.Unlock()
	}
	return moved
}
