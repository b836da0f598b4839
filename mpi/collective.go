package mpi

import (
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
)

// args holds the arguments of a collective call.
type args struct {
	kind                   engine.CallKind
	send, recv             Buffer
	op                     *Op
	root                   int
	sendCounts, sendDispls []int
	recvCounts, recvDispls []int
}

func (a *args) fill(k *engine.Call) {
	k.Kind, k.Send, k.Recv, k.Op, k.Peer = a.kind, engine.Buffer(a.send), engine.Buffer(a.recv), (*engine.Op)(a.op), a.root
	k.SendCounts, k.SendDispls = a.sendCounts, packed(a.sendCounts, a.sendDispls)
	k.RecvCounts, k.RecvDispls = a.recvCounts, packed(a.recvCounts, a.recvDispls)
}

// packed returns displs, or if that is nil the displacements of parts without gaps.
func packed(counts, displs []int) []int {
	if counts == nil || displs != nil {
		return displs
	}
	displs = make([]int, len(counts))
	for i := 1; i < len(counts); i++ {
		displs[i] = displs[i-1] + counts[i-1]
	}
	return displs
}

// now makes a collective call and waits for it.
func (c *Comm) now(a args) error {
	k := c.scratch()
	defer c.release(k)
	a.fill(k)
	_, err := c.do(k)
	return err
}

// later starts a collective call.
func (c *Comm) later(a args) *Request {
	r := c.request()
	a.fill(&r.call)
	return r.post()
}

// Barrier returns when all ranks have called it.
//
// For all collective methods: the method with an I before the name starts the operation and
// returns a request. All ranks of a communicator make their collective calls, blocking and
// non-blocking ones together, in the same order; the in-process engine returns [ErrOrder]
// if they differ. A buffer with parts of several ranks is contiguous; others may be strided.
// Lengths count elements.
func (c *Comm) Barrier() error { return c.now(args{kind: engine.CallBarrier}) }

// Ibarrier starts Barrier.
func (c *Comm) Ibarrier() *Request { return c.later(args{kind: engine.CallBarrier}) }

// Bcast copies b of rank root to b of all other ranks.
func (c *Comm) Bcast(b Buffer, root int) error {
	return c.now(args{kind: engine.CallBcast, recv: b, root: root})
}

// Ibcast starts Bcast.
func (c *Comm) Ibcast(b Buffer, root int) *Request {
	return c.later(args{kind: engine.CallBcast, recv: b, root: root})
}

// Reduce combines s of all ranks, element by element, into r of rank root. r of other ranks
// is not used. At the root s may be InPlace.
func (c *Comm) Reduce(s, r Buffer, op *Op, root int) error {
	return c.now(args{kind: engine.CallReduce, send: s, recv: r, op: op, root: root})
}

// Ireduce starts Reduce.
func (c *Comm) Ireduce(s, r Buffer, op *Op, root int) *Request {
	return c.later(args{kind: engine.CallReduce, send: s, recv: r, op: op, root: root})
}

// Allreduce combines s of all ranks into r of all. s may be InPlace.
func (c *Comm) Allreduce(s, r Buffer, op *Op) error {
	return c.now(args{kind: engine.CallAllreduce, send: s, recv: r, op: op})
}

// Iallreduce starts Allreduce.
func (c *Comm) Iallreduce(s, r Buffer, op *Op) *Request {
	return c.later(args{kind: engine.CallAllreduce, send: s, recv: r, op: op})
}

// Scan combines s of this rank and all lower ranks into r. s may be InPlace.
func (c *Comm) Scan(s, r Buffer, op *Op) error {
	return c.now(args{kind: engine.CallScan, send: s, recv: r, op: op})
}

// Iscan starts Scan.
func (c *Comm) Iscan(s, r Buffer, op *Op) *Request {
	return c.later(args{kind: engine.CallScan, send: s, recv: r, op: op})
}

// Exscan combines s of all lower ranks into r; r of rank 0 is not written. s may be InPlace.
func (c *Comm) Exscan(s, r Buffer, op *Op) error {
	return c.now(args{kind: engine.CallExscan, send: s, recv: r, op: op})
}

// Iexscan starts Exscan.
func (c *Comm) Iexscan(s, r Buffer, op *Op) *Request {
	return c.later(args{kind: engine.CallExscan, send: s, recv: r, op: op})
}

// Gather concatenates s of all ranks, which have equal lengths, in r of rank root. r of other
// ranks is not used. At the root s may be InPlace.
func (c *Comm) Gather(s, r Buffer, root int) error {
	return c.now(args{kind: engine.CallGather, send: s, recv: r, root: root})
}

// Igather starts Gather.
func (c *Comm) Igather(s, r Buffer, root int) *Request {
	return c.later(args{kind: engine.CallGather, send: s, recv: r, root: root})
}

// Gatherv is Gather of counts[i] elements of rank i to element displs[i] of r; nil displs
// mean no gaps. Only the root passes them. Do not change them until completion.
func (c *Comm) Gatherv(s, r Buffer, counts, displs []int, root int) error {
	return c.now(args{kind: engine.CallGather, send: s, recv: r, recvCounts: counts, recvDispls: displs, root: root})
}

// Igatherv starts Gatherv.
func (c *Comm) Igatherv(s, r Buffer, counts, displs []int, root int) *Request {
	return c.later(args{kind: engine.CallGather, send: s, recv: r, recvCounts: counts, recvDispls: displs, root: root})
}

// Scatter copies part i of s of rank root to r of rank i, for all i. The parts have equal
// lengths. s of other ranks is not used. At the root r may be InPlace: its part stays in s.
func (c *Comm) Scatter(s, r Buffer, root int) error {
	return c.now(args{kind: engine.CallScatter, send: s, recv: r, root: root})
}

// Iscatter starts Scatter.
func (c *Comm) Iscatter(s, r Buffer, root int) *Request {
	return c.later(args{kind: engine.CallScatter, send: s, recv: r, root: root})
}

// Scatterv is Scatter of counts[i] elements from element displs[i] of s to rank i. Only the
// root passes them.
func (c *Comm) Scatterv(s Buffer, counts, displs []int, r Buffer, root int) error {
	return c.now(args{kind: engine.CallScatter, send: s, recv: r, sendCounts: counts, sendDispls: displs, root: root})
}

// Iscatterv starts Scatterv.
func (c *Comm) Iscatterv(s Buffer, counts, displs []int, r Buffer, root int) *Request {
	return c.later(args{kind: engine.CallScatter, send: s, recv: r, sendCounts: counts, sendDispls: displs, root: root})
}

// Allgather is Gather to all ranks. s may be InPlace.
func (c *Comm) Allgather(s, r Buffer) error {
	return c.now(args{kind: engine.CallAllgather, send: s, recv: r})
}

// Iallgather starts Allgather.
func (c *Comm) Iallgather(s, r Buffer) *Request {
	return c.later(args{kind: engine.CallAllgather, send: s, recv: r})
}

// Allgatherv is Gatherv to all ranks. All ranks pass the same counts and displs.
func (c *Comm) Allgatherv(s, r Buffer, counts, displs []int) error {
	return c.now(args{kind: engine.CallAllgather, send: s, recv: r, recvCounts: counts, recvDispls: displs})
}

// Iallgatherv starts Allgatherv.
func (c *Comm) Iallgatherv(s, r Buffer, counts, displs []int) *Request {
	return c.later(args{kind: engine.CallAllgather, send: s, recv: r, recvCounts: counts, recvDispls: displs})
}

// Alltoall copies part i of s of rank j to part j of r of rank i, for all i and j. The parts
// have equal lengths.
func (c *Comm) Alltoall(s, r Buffer) error {
	return c.now(args{kind: engine.CallAlltoall, send: s, recv: r})
}

// Ialltoall starts Alltoall.
func (c *Comm) Ialltoall(s, r Buffer) *Request {
	return c.later(args{kind: engine.CallAlltoall, send: s, recv: r})
}

// Alltoallv is Alltoall of parts given by counts and displacements. scounts[j] on rank i
// must equal rcounts[i] on rank j.
func (c *Comm) Alltoallv(s Buffer, scounts, sdispls []int, r Buffer, rcounts, rdispls []int) error {
	return c.now(args{kind: engine.CallAlltoall, send: s, recv: r, sendCounts: scounts, sendDispls: sdispls, recvCounts: rcounts, recvDispls: rdispls})
}

// Ialltoallv starts Alltoallv.
func (c *Comm) Ialltoallv(s Buffer, scounts, sdispls []int, r Buffer, rcounts, rdispls []int) *Request {
	return c.later(args{kind: engine.CallAlltoall, send: s, recv: r, sendCounts: scounts, sendDispls: sdispls, recvCounts: rcounts, recvDispls: rdispls})
}

// ReduceScatter combines s of all ranks and copies the next counts[i] elements of the result
// to r of each rank i in turn. Nil counts mean equal parts. s may be InPlace: then r holds
// the whole input, and gets this rank's part at its beginning.
func (c *Comm) ReduceScatter(s, r Buffer, counts []int, op *Op) error {
	return c.now(c.reduceScatter(s, r, counts, op))
}

// IreduceScatter starts ReduceScatter.
func (c *Comm) IreduceScatter(s, r Buffer, counts []int, op *Op) *Request {
	return c.later(c.reduceScatter(s, r, counts, op))
}

func (c *Comm) reduceScatter(s, r Buffer, counts []int, op *Op) args {
	if counts == nil {
		whole := s
		if s.IsInPlace() {
			whole = r
		}
		counts = slices.Repeat([]int{whole.Len() / c.Size()}, c.Size())
	}
	return args{kind: engine.CallReduceScatter, send: s, recv: r, recvCounts: counts, op: op}
}
