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
	out        *outbox      // planes that wait until they have been sent
	done       []byte       // dependency tokens, own planes of a distributed exchange: what is deferred waits for all
	order      [][deferredWindow]byte
	tokens     *tokens // nil: the pass after it depends on the array itself
}

// deferredWindow is how many deferred messages to a peer are under way at a time: they
// arrive one after another, but without a gap. pipeline.order has a token for each.
const deferredWindow = 2

// coalesceBytes is the least size of an early message if there are many planes: each
// message wakes the communication thread a few times on both sides. For the sake of
// overlap, planes are divided into minMessages nevertheless. Larger
// messages of large planes are slower: with four planes of 1 MiB NAS FT, class A, took 1.02 to 1.04 times as long
// as with one, on a Xeon with 2 MiB of second-level cache.
const (
	coalesceBytes = 256 << 10
	minMessages   = 16
)

// pipeline prepares an exchange. All groups are early unless the plan defers some.
// The choice is the same on all ranks.
func (g *graph) pipeline(x *exchange) *pipeline {
	t := &pipeline{exchange: x, array: g.a.data[x.to], early: x.groups, perMessage: 1, order: make([][deferredWindow]byte, x.size)}
	if g.p.cfg.OneSided {
		t.win = g.p.window(x.comm, t.array)
	}
	stage := g.p.stage
	if x.distributed {
		t.early, t.perMessage = g.p.cfg.cut(x, g.p.deferral.on)
		stage = g.p.messages
	}
	t.out = newOutbox(x, t.early, t.perMessage, g.p.cfg.Stage)
	t.out.use(stage, g.p.late)
	t.done = make([]byte, t.out.planes())
	return t
}

// cut returns how many groups of a distributed exchange are early, and how many planes share an
// early message.
func (c *Config) cut(x *exchange, defers bool) (early, perMessage int) {
	early = x.groups
	if defers && c.Stage == 0 {
		early = c.earlyGroups()
	}
	return early, coalesce(x, c.Stage)
}

// coalesce returns the planes per early message: enough bytes, not too few messages, and
// a divisor of the stage.
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
func messageOf(u, planes, perMessage int) (first, count int) {
	if first = u / perMessage * perMessage; first > 0 {
		return first, min(perMessage, planes-first)
	}
	end := 1
	for ; end <= u; end *= 2 {
		first = end
	}
	return first, min(end, perMessage, planes) - first
}

// earlyGroups returns how many groups travel with their planes if others are deferred.
func (c *Config) earlyGroups() int { return (2*c.Groups + 1) / 3 }

// peers yields the other ranks of the group, beginning with the next one.
func (t *pipeline) peers(yield func(rank int) bool) {
	for i := 1; i < t.size && yield((t.me+i)%t.size); i++ {
	}
}

// receive spawns the receives of all messages, before anything else, or the waits for their puts.
func (t *pipeline) receive(g *graph) {
	if t.win != nil {
		g.p.ct.Fence(g.p.rt, t.win, tasks.Writes(&t.mayPut))
		t.awaitPuts(g)
		return
	}
	t.messages(func(s int, m message, to tile) {
		g.p.ct.Recv(g.p.rt, t.comm, mpi.Tile(to.Data, to.Rows, to.Cols, to.LD), s, t.tag(m), t.tokens.message(s, m.plane, m.group-t.early)...)
	})
}

// messages calls f for each message that comes from another rank, and the memory that receives it.
func (t *pipeline) messages(f func(source int, m message, to tile)) {
	for s := range t.peers {
		_, planes := t.planes(s)
		for m := (message{rows: t.earlyRows(s, t.me, t.early)}); m.plane < planes; m.plane += m.planes {
			_, m.planes = messageOf(m.plane, planes, t.perMessage)
			t.visit(s, m, f)
		}
		for k := t.early; k < t.groups; k++ {
			first, count := t.group(s, t.me, k)
			t.visit(s, message{planes: planes, group: k, row: first, rows: count}, f)
		}
	}
}

// visit calls f for a message from s, unless it is empty.
func (t *pipeline) visit(s int, m message, f func(source int, m message, to tile)) {
	if m.planes > 0 && t.bytes(s, t.me, m.rows) > 0 {
		at, length := t.target(s, t.me, m.plane, m.row, m.rows)
		_, step := t.base(s, t.me)
		f(s, m, tile{Data: t.array[at:], Rows: length, Cols: m.planes, LD: step})
	}
}

// awaitPuts spawns a task per part that waits until all messages of the part have been put.
// The early groups of a distributed exchange count as one part, number 0.
func (t *pipeline) awaitPuts(g *graph) {
	counts := make([]int, max(t.parts.parts, 1))
	written := make([][]any, len(counts))
	t.messages(func(_ int, m message, to tile) {
		k := t.counter(m)
		counts[k]++
		written[k] = append(written[k], to)
	})
	for k, n := range counts {
		if n > 0 {
			g.p.ct.AwaitNotify(g.p.rt, t.win, mpi.Buffer{}, k, n, t.tokens.notification(k-t.early, written[k]))
		}
	}
}

// counter returns the notification counter of a message.
func (t *pipeline) counter(m message) int {
	if t.distributed && m.group < t.early {
		return 0
	}
	return t.part(m.plane, m.group)
}

// tag returns the tag of a message: its first plane, or for a deferred group a number behind all planes of its source.
func (t *pipeline) tag(m message) int {
	if m.group < t.early {
		return m.plane
	}
	return m.planes + m.group
}
