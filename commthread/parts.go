package commthread

import (
	"cmp"
	"slices"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// Gatherv spawns a task that puts s of all ranks into r of rank root: counts[i] elements of
// rank i to displs[i], one after another if displs is nil. The root gives both; they must
// not change until the task has ended. Elements between the parts are not accessed.
func (t *Thread) Gatherv(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, counts, displs []int, root int, cl ...tasks.Clause) {
	t.gather(in, c, engine.CallGather, s, r, counts, displs, root, cl)
}

// Allgatherv is Gatherv to all ranks, which all give the same counts and displs.
func (t *Thread) Allgatherv(in tasks.Scope, c *mpi.Comm, s, r mpi.Buffer, counts, displs []int, cl ...tasks.Clause) {
	t.gather(in, c, engine.CallAllgather, s, r, counts, displs, 0, cl)
}

func (t *Thread) gather(in tasks.Scope, c *mpi.Comm, k engine.CallKind, s, r mpi.Buffer, counts, displs []int, root int, cl []tasks.Clause) {
	o := t.spawn(in, c, k, 2)
	if o == nil {
		return
	}
	displs = oneAfterAnother(counts, displs)
	o.call.Send, o.call.Recv, o.call.Peer, o.call.RecvCounts, o.call.RecvDispls = engine.Buffer(s), engine.Buffer(r), root, counts, displs
	o.access(s, deps.In)
	if c != nil && (k == engine.CallAllgather || c.Rank() == root) {
		mode := deps.Out
		if s.IsInPlace() {
			mode = deps.Inout
		}
		o.accessParts(c, r, counts, displs, mode)
	}
	o.submit(cl)
}

// Scatterv spawns a task that puts counts[i] elements from displs[i] on of s of rank root
// into r of rank i; displs may be nil, as in Gatherv. The root gives both.
func (t *Thread) Scatterv(in tasks.Scope, c *mpi.Comm, s mpi.Buffer, counts, displs []int, r mpi.Buffer, root int, cl ...tasks.Clause) {
	o := t.spawn(in, c, engine.CallScatter, 1)
	if o == nil {
		return
	}
	displs = oneAfterAnother(counts, displs)
	o.call.Send, o.call.Recv, o.call.Peer, o.call.SendCounts, o.call.SendDispls = engine.Buffer(s), engine.Buffer(r), root, counts, displs
	if c != nil && c.Rank() == root {
		o.accessParts(c, s, counts, displs, deps.In)
	}
	o.access(r, deps.Out)
	o.submit(cl)
}

// oneAfterAnother returns displs, or the beginnings of adjacent parts of these lengths.
func oneAfterAnother(counts, displs []int) []int {
	if counts == nil || displs != nil {
		return displs
	}
	displs = make([]int, len(counts))
	for i := 1; i < len(counts); i++ {
		displs[i] = displs[i-1] + counts[i-1]
	}
	return displs
}

// accessParts declares the operation's accesses to the parts of a buffer; adjacent parts
// are one access. Invalid parts are reported when the call is posted.
func (o *operation) accessParts(c *mpi.Comm, b mpi.Buffer, counts, displs []int, m deps.Mode) {
	if counts == nil {
		o.access(b, m)
		return
	}
	if checkParts(c, b, counts, displs) != nil {
		return
	}
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(displs[i], displs[j]) })
	from, to := 0, 0
	for _, i := range order {
		if counts[i] == 0 {
			continue
		}
		if displs[i] > to {
			o.access(b.Part(from, to-from), m)
			from = displs[i]
		}
		to = max(to, displs[i]+counts[i])
	}
	o.access(b.Part(from, to-from), m)
}
