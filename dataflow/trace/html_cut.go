package trace

import "slices"

// cut is the end of a page: the time at which the first task, message or state without room
// begins.
type cut struct {
	at                      int64 // ns on the axis of the run; all that begins at it or later is left out
	tasks, messages, states int   // that are left out
}

// cutAt finds the cut that leaves at most limit tasks, limit messages, and limit
// states of workers.
func (r *run) cutAt(limit int) cut {
	limit = max(limit, 0)
	tasks, messages, states := r.beginnings()
	c := cut{at: horizon * 2}
	for _, times := range [][]int64{tasks, messages, states} {
		slices.Sort(times)
		if len(times) > limit {
			c.at = min(c.at, times[limit])
		}
	}
	c.tasks, c.messages, c.states = c.of(tasks), c.of(messages), c.of(states)
	return c
}

// of counts the sorted times that are cut off.
func (c *cut) of(times []int64) int {
	kept, _ := slices.BinarySearch(times, c.at)
	return len(times) - kept
}

// beginnings is when each task, message and state of the run began.
func (r *run) beginnings() (tasks, messages, states []int64) {
	for i := range r.ranks {
		p := &r.ranks[i]
		for k := range p.tasks {
			tasks = append(tasks, p.shift+p.tasks[k].begins())
		}
		for k := range p.messages {
			messages = append(messages, p.shift+p.messages[k].posted)
		}
		for k := range p.tracks {
			for o := range p.tracks[k].ops {
				if op := &p.tracks[k].ops[o]; op.kind.span() && op.kind != opTask {
					states = append(states, p.shift+op.at)
				}
			}
		}
	}
	return tasks, messages, states
}

// begins returns the first time of a task on a timeline: the start of its body, or without a
// body the first known time.
func (t *task) begins() int64 {
	for _, at := range []int64{t.start, t.spawned, t.end, t.done} {
		if at != none {
			return at
		}
	}
	return 0
}
