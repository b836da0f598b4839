package commthread

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// revoke makes every operation on c and its kin fail, on all ranks, because r does not
// communicate as its peers expect.
func (t *Thread) revoke(c *mpi.Comm, r *task.Record) {
	file, line := r.Source()
	reason := fmt.Sprintf("rank %d of %s does not run %s (task %d, %s:%d)", c.Rank(), c.Name(), r.Label(), r.Seq(), file, line)
	switch {
	case r.Err != nil:
		reason += fmt.Sprintf(": %v", r.Err)
	default:
		if err := t.lane.Reason(); err != nil {
			reason += fmt.Sprintf(", because of: %v", err)
		}
	}
	t.mu.Lock()
	k := t.family[c]
	t.mu.Unlock()
	if k == nil {
		t.engine.Revoke(c.Handle(), reason)
		return
	}
	t.engine.Revoke(k.public.Handle(), reason)
	t.engine.Revoke(k.private.Handle(), reason)
}
