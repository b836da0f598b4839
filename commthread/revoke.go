package commthread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// Errors across ranks. A comm task that is skipped, cancelled or refused revokes its
// communicator and the duplicate: pending and later operations on them fail on all ranks
// with mpi.ErrRevoked and the reason, which names the rank and the first failed task. A body
// that is skipped or fails (except with ErrRevoked itself) may have been expected on any
// communicator: it revokes all that the thread knows, or has calls on, and those of its endpoint
// if it is one end of a lazy message; so does the cancellation of the runtime. Operations that fail in the engine are errors of their
// tasks, and poison their successors.

// revoke makes every operation on c and its duplicate fail, on all ranks, because r does not
// communicate as its peers expect; c is nil for a body, which may use any communicator.
func (t *Thread) revoke(c *mpi.Comm, r *task.Record, err error) {
	if err == nil {
		err = t.cause(r)
	}
	of := t.world
	if c != nil {
		of = t.public(c)
	}
	file, line := r.Source()
	reason := fmt.Sprintf("rank %d of %s does not run %s (task %d, %s:%d)", of.Rank(), of.Name(), r.Label(), r.Seq(), file, line)
	if err != nil {
		reason += ", because of: " + firstLine(err)
	}
	if c == nil {
		t.revokeAll(reason)
		if e := endpointOf(r); e != nil {
			e.Revoke(errors.New(reason))
		}
	} else if !c.Freed() {
		t.revokePair((*engine.Comm)(c).Handle(), reason)
	}
}

// public returns the program's communicator of which c is the duplicate; otherwise c.
func (t *Thread) public(c *mpi.Comm) *mpi.Comm {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.family[c]; k != nil {
		return k.public
	}
	return c
}

// cause returns the reason why r does not run: the first known failure.
func (t *Thread) cause(r *task.Record) error {
	if r.Err != nil {
		return r.Err
	}
	if err := r.Domain.Failures(); err != nil {
		return err
	}
	return t.port.Reason()
}

// firstLine returns the text of err without stacks of panics and later failures.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// revokePair revokes a communicator and, if it has one, its duplicate.
func (t *Thread) revokePair(h engine.Handle, reason string) {
	t.engine.Revoke(h, reason)
	t.mu.Lock()
	var k *commPair
	for c, of := range t.family {
		if (*engine.Comm)(c).Handle() == h && !c.Freed() { // a freed communicator's number may have been reused
			k = of
		}
	}
	t.mu.Unlock()
	if k != nil {
		t.revokeUnfreed(k.public, reason)
		t.revokeUnfreed(k.private, reason)
	}
}

// revokeUnfreed revokes c, if the engine still knows it.
func (t *Thread) revokeUnfreed(c *mpi.Comm, reason string) {
	if !c.Freed() {
		t.engine.Revoke((*engine.Comm)(c).Handle(), reason)
	}
}

// revokeAll revokes every communicator that the thread knows, or has a call on, in the order of
// their numbers.
func (t *Thread) revokeAll(reason string) {
	t.mu.Lock()
	all := slices.Collect(maps.Keys(t.family))
	t.mu.Unlock()
	t.engine.Outstanding(func(k *engine.Call) { all = append(all, (*mpi.Comm)(k.Comm)) })
	slices.SortFunc(all, func(a, b *mpi.Comm) int {
		return cmp.Compare((*engine.Comm)(a).Handle(), (*engine.Comm)(b).Handle())
	})
	for _, c := range slices.Compact(all) {
		t.revokeUnfreed(c, reason)
	}
}

// cancelled tells the peers that this rank starts no more tasks.
func (t *Thread) cancelled() {
	reason := fmt.Sprintf("the runtime of rank %d of %s was cancelled", t.world.Rank(), t.world.Name())
	if err := t.port.Reason(); err != nil && err != context.Canceled {
		reason += ", because of: " + firstLine(err)
	}
	t.revokeAll(reason)
}
