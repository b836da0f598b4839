package distributed

import "github.com/weft-hpc/weft/tasks"

// landing is what has come of the planes that a pass of columns needs, as bytes that tasks
// write and read in place of the memory: a range of columns touches all planes, so
// by memory every range would depend on every plane and message, and by these bytes
// it depends on the two tasks that gather them, and on its late group. Nobody looks at
// their values.
type landing struct {
	planes   []byte   // own ones, by number
	early    []byte   // early messages, source by source, by their first plane
	starts   []int    // where those of a source are in early
	late     [][]byte // by late group, then by source
	gathered [2]byte  // all of planes, all of early
}

// newLanding prepares for the pass of columns after one of so many planes. t is nil if
// nothing comes from other ranks.
func newLanding(planes int, t *trail) *landing {
	l := &landing{planes: make([]byte, planes)}
	if t == nil {
		return l
	}
	n := 0
	for s := range t.size {
		_, planes := t.planes(s)
		l.starts = append(l.starts, n)
		n += planes
	}
	l.early = make([]byte, n)
	for range t.groups - t.early {
		l.late = append(l.late, make([]byte, t.size))
	}
	return l
}

// message says that a task receives the early message from a source that starts with this
// plane; for a nil landing it says nothing.
func (l *landing) message(source, first int) (cl []tasks.Clause) {
	if l == nil {
		return nil
	}
	return append(cl, tasks.Writes(&l.early[l.starts[source]+first]))
}

// group says likewise which late group, counted from the first late one.
func (l *landing) group(source, k int) (cl []tasks.Clause) {
	if l == nil {
		return nil
	}
	return append(cl, tasks.Writes(&l.late[k][source]))
}

// plane says that a task puts own plane u into its place, which is named for a nil landing.
func (l *landing) plane(u int, place []complex128) tasks.Clause {
	if l == nil {
		return tasks.Writes(place)
	}
	return tasks.Writes(&l.planes[u])
}

// notice says that a task waits for the late group k, or below 0 for all early messages,
// which land in places.
func (l *landing) notice(k int, places []any) tasks.Clause {
	switch {
	case l == nil:
		return tasks.Writes(places...)
	case k < 0:
		return tasks.Writes(l.early)
	}
	return tasks.Writes(l.late[k])
}

// gather spawns the tasks that wait for all own planes, and for all early messages: they
// have nothing to do, and make many dependences few.
func (l *landing) gather(g *graph) {
	for i, parts := range [][]byte{l.planes, l.early} {
		if len(parts) > 0 {
			g.p.rt.Spawn("gather", func(*tasks.Context) error { return nil }, tasks.Reads(parts), tasks.Writes(&l.gathered[i]), tasks.HighPriority)
		}
	}
}

// columns returns what a range of columns waits for: own planes, and early messages or
// the late group k, counted from the first late one.
func (l *landing) columns(k int) []tasks.Clause {
	if k < 0 {
		return []tasks.Clause{tasks.Reads(&l.gathered[0], &l.gathered[1])}
	}
	return []tasks.Clause{tasks.Reads(&l.gathered[0], l.late[k])}
}
