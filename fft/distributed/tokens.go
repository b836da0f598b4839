package distributed

import (
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// tokens are one-byte dependency tokens: tasks write and read them in place of the memory
// that a pass of columns reads. A range of columns reads part of every plane, so real
// regions would give it an edge from every plane and message. With tokens, one task gathers
// all planes and one all early messages: a range has an edge from the first, and from the
// second or from the messages of its deferred group.
type tokens struct {
	planes   []byte   // own planes, by number
	early    [][]byte // early messages, by source, then by first plane
	deferred [][]byte // by deferred group, then by source
	gathered [2]byte  // all of planes, all of early
}

var gatherTask = tasks.Declare2("gather", func(_ [][]byte, all *byte) { *all = 1 }, tasks.Each(tasks.Input), tasks.Output, tasks.HighPriority)

// newTokens prepares for the pass of columns after a pass with this number of planes. t is
// nil if nothing comes from other ranks.
func newTokens(planes int, t *pipeline) *tokens {
	if t == nil {
		return &tokens{planes: make([]byte, planes)}
	}
	k := &tokens{planes: t.done}
	for s := range t.size {
		_, planes := t.planes(s)
		k.early = append(k.early, make([]byte, planes))
	}
	for range t.groups - t.early {
		k.deferred = append(k.deferred, make([]byte, t.size))
	}
	return k
}

// of returns the tokens of own planes; nil from nil tokens.
func (k *tokens) of(it item) []byte {
	if k == nil {
		return nil
	}
	return k.planes[it.i : it.i+it.n]
}

// message returns the access of a task that receives a deferred group from a source, or if
// group is below 0 the early message that begins with plane first; none from nil tokens.
func (k *tokens) message(source, first, group int) (cl []tasks.Clause) {
	switch {
	case k == nil:
		return nil
	case group < 0:
		return append(cl, tasks.Writes(&k.early[source][first]))
	}
	return append(cl, tasks.Writes(&k.deferred[group][source]))
}

// notification returns the access of a task that waits for all puts of a deferred group, or
// below 0 of all early groups. Nil tokens return an access to the memory.
func (k *tokens) notification(group int, memory []any) tasks.Clause {
	switch {
	case k == nil:
		return tasks.Writes(memory...)
	case group < 0:
		return tasks.Writes(&k.gathered[1])
	}
	return tasks.Writes(k.deferred[group])
}

// gather spawns the tasks that wait for all own planes, and for all early messages: they
// turn many edges into one.
func (k *tokens) gather(rt *dataflow.Runtime) {
	gatherTask.Spawn(rt, [][]byte{k.planes}, &k.gathered[0])
	if k.early != nil {
		gatherTask.Spawn(rt, k.early, &k.gathered[1])
	}
}
