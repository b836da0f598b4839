package distributed

import (
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// pipeline is an exchange as tasks. A message with the early groups of rows of a few planes
// leaves as soon as these planes are done. The other groups are deferred: they leave when
// all planes are done, in messages with one group of all planes. The link has been busy
// until then, and now the pencils of one group can be transformed while the next groups are
// on their way. In plane order everything would arrive at the very end.
type pipeline struct {
	*exchange
	array      []complex128 // of the receiver
	win        *mpi.Win     // nil with two-sided messages
	mayPut     byte         // token: written by the fence after which all ranks may put
	early      int          // groups; the others are deferred
	perMessage int          // planes whose early groups share a message
	out        *outbox      // pieces for other ranks; nil if the exchange is not distributed
	order      [][deferredWindow]byte
	tokens     *tokens // nil: the pass after it depends on the array itself
}

// deferredWindow is how many deferred messages to a peer are under way at a time: they
// arrive one after another, but without a gap. pipeline.order has a token for each.
const deferredWindow = 2

// coalesceBytes is the least size of an early message if there are many planes: each
// message wakes the communication thread a few times on both sides. For the sake of
// overlap, planes are divided into minMessages nevertheless.
const (
	coalesceBytes = 512 << 10
	minMessages   = 16
)

// pipeline prepares an exchange. All groups are early unless the plan defers some.
// The choice is the same on all ranks.
func (g *graph) pipeline(x *exchange) *pipeline {
	t := &pipeline{exchange: x, array: g.a.data[x.to], early: x.groups, perMessage: 1, order: make([][deferredWindow]byte, x.size)}
	if g.p.cfg.OneSided {
		t.win = g.p.window(x.comm, t.array)
	}
	if x.distributed {
		t.early, t.perMessage = g.p.cfg.cut(x, g.p.deferral.on)
		t.out = newOutbox(x, t.early, t.perMessage, g.p.cfg.Stage)
		t.out.use(g.p.early, g.p.late)
	}
	return t
}

// cut returns how many groups of a distributed exchange are early, and how many planes share an
// early message.
func (c *Config) cut(x *exchange, defers bool) (early, perMessage int) {
	early, perMessage = x.groups, 1
	if defers && c.Stage == 0 {
		early = c.earlyGroups()
	}
	if !c.OneSided {
		perMessage = coalesce(x, c.Stage)
	}
	return early, perMessage
}

// coalesce returns the planes per early message: enough bytes, not too few messages, and
// adjacent slots of the outbox.
func coalesce(x *exchange, stage int) int {
	piece := max(1, x.bytes(0, 0, x.rows.size(0)))
	n := max(1, min(coalesceBytes/piece, x.units.size(0)/minMessages))
	if stage > 0 {
		for n = min(n, max(1, stage/4)); stage%n != 0; n-- {
		}
	}
	return n
}

// messageOf returns the first plane of the message that carries plane u, and their number.
// The first messages are small (1, 1, 2, 4 planes), because the link is idle until the
// first one leaves.
func (t *pipeline) messageOf(u, planes int) (first, count int) {
	if first = u / t.perMessage * t.perMessage; first > 0 {
		return first, min(t.perMessage, planes-first)
	}
	end := 1
	for ; end <= u; end *= 2 {
		first = end
	}
	return first, min(end, t.perMessage, planes) - first
}

// earlyGroups returns how many groups travel with their planes if others are deferred.
func (c *Config) earlyGroups() int { return (2*c.Groups + 1) / 3 }

// peers yields the other ranks of the group, beginning with the next one.
func (t *pipeline) peers(yield func(rank int) bool) {
	for i := 1; i < t.size && yield((t.me+i)%t.size); i++ {
	}
}

// receive spawns the receives of all pieces, before anything else.
func (t *pipeline) receive(g *graph) {
	if t.win != nil {
		g.p.ct.Fence(g.p.rt, t.win, tasks.Writes(&t.mayPut))
		t.awaitPuts(g)
		return
	}
	for s := range t.peers {
		t.receiveEarly(g, s)
		for k := t.early; k < t.groups; k++ {
			if to := t.deferredTile(s, k); to.Rows*to.Cols > 0 {
				_, planes := t.planes(s)
				g.p.ct.Recv(g.p.rt, t.comm, mpi.Tile(to.Data, to.Rows, to.Cols, to.LD), s, planes+k, t.tokens.message(s, 0, k-t.early)...)
			}
		}
	}
}

// receiveEarly spawns the receives of the early messages from s.
func (t *pipeline) receiveEarly(g *graph, s int) {
	n := t.earlyRows(s, t.me, t.early)
	if t.bytes(s, t.me, n) == 0 {
		return
	}
	_, planes := t.planes(s)
	_, step := t.base(s, t.me)
	for u, count := 0, 0; u < planes; u += count {
		_, count = t.messageOf(u, planes)
		at, length := t.target(s, t.me, u, 0, n)
		g.p.ct.Recv(g.p.rt, t.comm, mpi.Tile(t.array[at:], length, count, step), s, u, t.tokens.message(s, u, -1)...)
	}
}

// deferredTile returns the memory that receives group k of all planes of a source.
func (t *pipeline) deferredTile(s, k int) tile {
	_, planes := t.planes(s)
	first, count := t.group(s, t.me, k)
	_, step := t.base(s, t.me)
	if planes*count == 0 {
		return tile{}
	}
	at, length := t.target(s, t.me, 0, first, count)
	return tile{Data: t.array[at:], Rows: length, Cols: planes, LD: step}
}

// awaitPuts spawns a task per part that waits until all pieces of the part have been put.
// The early groups of a distributed exchange count as one part, number 0.
func (t *pipeline) awaitPuts(g *graph) {
	counts := make([]int, max(t.parts.parts, 1))
	written := make([][]any, len(counts))
	for s := range t.peers {
		_, planes := t.planes(s)
		if n := t.earlyRows(s, t.me, t.early); t.bytes(s, t.me, n) > 0 {
			for u := range planes {
				at, length := t.target(s, t.me, u, 0, n)
				k := t.counter(u, 0)
				counts[k]++
				written[k] = append(written[k], t.array[at:at+length])
			}
		}
		for k := t.early; k < t.groups; k++ {
			if to := t.deferredTile(s, k); to.Rows*to.Cols > 0 {
				counts[k] += planes
				written[k] = append(written[k], to)
			}
		}
	}
	for k, n := range counts {
		if n > 0 {
			g.p.ct.AwaitNotify(g.p.rt, t.win, mpi.Buffer{}, k, n, t.tokens.notification(k-t.early, written[k]))
		}
	}
}

// counter returns the notification counter for group k of plane u.
func (t *pipeline) counter(u, k int) int {
	if t.distributed && k < t.early {
		return 0
	}
	return t.part(u, k)
}
