package dataflow

import (
	"fmt"
	"strings"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

var emptyRegion deps.Region

// TaskError is the failure of one task: an error or a panic of its body, a bad
// spawn, or the failure of a child or an event that it held.
type TaskError struct {
	Task    uint64   // its number, in spawn order
	Label   string   // its name
	File    string   // line of the declaration; for a dynamic task, of the spawn
	Line    int      //
	Spawned string   // file:line of the spawn, if recorded (Debug)
	Regions []string // regions that it accesses
	Err     error    // for a panic, a *panics.ErrRecovered with the stack
}

func (e *TaskError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "task %d %q (%s:%d", e.Task, e.Label, e.File, e.Line)
	if e.Spawned != "" {
		fmt.Fprintf(&b, ", spawned at %s", e.Spawned)
	}
	b.WriteString(")")
	if len(e.Regions) > 0 {
		fmt.Fprintf(&b, " [%s]", strings.Join(e.Regions, ", "))
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

func (e *TaskError) Unwrap() error { return e.Err }

// taskError describes the failure of r, which has not been released.
func taskError(r *task.Record) *TaskError {
	e := &TaskError{Task: r.Seq(), Label: r.Label(), Spawned: r.SpawnSite(), Err: r.Err}
	e.File, e.Line = r.Source()
	r.Accesses(func(a task.Access) {
		e.Regions = append(e.Regions, accessText(a))
	})
	return e
}

func accessText(a task.Access) string {
	weak := ""
	if a.Weak {
		weak = "weak "
	}
	return fmt.Sprintf("%s%v %v", weak, a.Mode, a.Entry.Region())
}
