package advise

import (
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
)

// Limits of a recording.
const (
	mostEvents = 32_768  // of a rank
	allEvents  = 1 << 22 // of all ranks, which may share a process
	mostGroups = 8       // communicators with collective calls
)

// recording is what a rank did, call by call, from the start of the program on: the computation
// before each call, and the call. It is replayed after the run, with the changes and without.
type recording struct {
	rank   int
	most   int
	events []event
	calls  []twoMessages // distinct ones
	known  map[twoMessages]int32
	latest []int32 // by site: the last one, plus 1

	collectives []collective
	lastOf      map[int]int32 // by site: the last collective
	groups      []group
}

// event is a call of a recording.
type event struct {
	gap  uint32 // nanoseconds of computation before it, at most longestGap
	call int32  // in calls; ^call: in collectives; notReplayed
	site int32  // of this rank; -1: not of a blocking message
}

const longestGap = 4e9

// notReplayed stands for what a replay cannot do: non-blocking calls and one-sided ones, new
// communicators.
const notReplayed = int32(-1 << 31)

// twoMessages is a blocking call: one message or two. Ranks and tags are those of the messages
// that came. Call is 0 in both.
type twoMessages struct {
	n        int
	messages [2]Message
	bytes    [2]int // that came
}

// collective is a collective call. Its buffers have a layout only.
type collective struct {
	kind           engine.CallKind
	root           int
	op             *engine.Op
	group          int // in groups
	send, recv     engine.Buffer
	counts, displs [2][]int // sent and received
}

// group is the ranks of a communicator.
type group struct {
	id      uint32
	members []int
}

func newRecording(rank, ranks int) *recording {
	most := min(mostEvents, allEvents/ranks)
	return &recording{rank: rank, most: most, events: make([]event, 0, most), known: map[twoMessages]int32{}, lastOf: map[int]int32{}}
}

func gapOf(ns int64) uint32 { return uint32(min(max(ns, 0), longestGap)) }

// full reports whether there is no room for another event.
func (r *recording) full() bool { return len(r.events) >= r.most }

// add notes a blocking call.
func (r *recording) add(c *noted) {
	if r.full() {
		return
	}
	x := twoMessages{n: c.n, bytes: c.came}
	for i := range c.n {
		x.messages[i] = c.requests[i].Message
		x.messages[i].Call = 0
		if x.messages[i].Recv {
			x.messages[i].Peer, x.messages[i].Tag = c.source[i], c.tag[i]
		}
	}
	for len(r.latest) <= c.site {
		r.latest = append(r.latest, 0)
	}
	i := r.latest[c.site] - 1
	if i < 0 || r.calls[i] != x {
		i = r.number(x)
		r.latest[c.site] = i + 1
	}
	r.events = append(r.events, event{gapOf(c.gap), i, int32(c.site)})
}

func (r *recording) number(x twoMessages) int32 {
	i, known := r.known[x]
	if !known {
		i = int32(len(r.calls))
		r.calls = append(r.calls, x)
		r.known[x] = i
	}
	return i
}

// collective notes a collective call at a site.
func (r *recording) collective(c *engine.Call, site int, gap int64) {
	if r.full() {
		return
	}
	x := collective{kind: c.Kind, root: c.Peer, op: c.Op, group: r.groupOf(c.Comm), send: layoutOf(c.Send), recv: layoutOf(c.Recv)}
	if x.group < 0 || c.Kind == engine.CallFence || c.Op != nil && !c.Op.Predefined() {
		r.other()
		return
	}
	if i, seen := r.lastOf[site]; seen && r.collectives[i].same(&x, c) {
		r.events = append(r.events, event{gapOf(gap), ^i, -1})
		return
	}
	x.counts = [2][]int{slices.Clone(c.SendCounts), slices.Clone(c.RecvCounts)}
	x.displs = [2][]int{slices.Clone(c.SendDispls), slices.Clone(c.RecvDispls)}
	i := int32(len(r.collectives))
	r.lastOf[site] = i
	r.collectives = append(r.collectives, x)
	r.events = append(r.events, event{gapOf(gap), ^i, -1})
}

// same reports whether c is x again; y is c without its counts.
func (x *collective) same(y *collective, c *engine.Call) bool {
	return x.kind == y.kind && x.root == y.root && x.op == y.op && x.group == y.group && x.send == y.send && x.recv == y.recv &&
		slices.Equal(x.counts[0], c.SendCounts) && slices.Equal(x.counts[1], c.RecvCounts) &&
		slices.Equal(x.displs[0], c.SendDispls) && slices.Equal(x.displs[1], c.RecvDispls)
}

// layoutOf returns a buffer without its memory.
func layoutOf(b engine.Buffer) engine.Buffer { return b.At(nil) }

// groupOf returns the number of a communicator's ranks; -1 if there are too many groups.
func (r *recording) groupOf(c *engine.Comm) int {
	i := slices.IndexFunc(r.groups, func(g group) bool { return g.id == c.ID() })
	if i < 0 {
		if len(r.groups) == mostGroups {
			return -1
		}
		i = len(r.groups)
		g := group{id: c.ID()}
		for k := range c.Size() {
			g.members = append(g.members, c.World(k))
		}
		r.groups = append(r.groups, g)
	}
	return i
}

// other notes something that a replay cannot do.
func (r *recording) other() {
	if n := len(r.events); !r.full() && (n == 0 || r.events[n-1].call != notReplayed) {
		r.events = append(r.events, event{0, notReplayed, -1})
	}
}

// starts returns where the calls at some sites, one after another, begin.
func (r *recording) starts(sites []int) (all []int) {
	for i := 0; i+len(sites) <= len(r.events); {
		if !r.at(i, sites) {
			i++
			continue
		}
		all = append(all, i)
		i += len(sites)
	}
	return all
}

// at reports whether the events from i on are calls at these sites.
func (r *recording) at(i int, sites []int) bool {
	for k, s := range sites {
		if int(r.events[i+k].site) != s {
			return false
		}
	}
	return true
}

// window is a piece of a recording, the same on all ranks in what it exchanges: from the start of
// one occurrence of a chain to that of a later one.
type window struct{ from, to int }

// books are the messages of a window, for a comparison with those of other ranks: those to a rank
// with those that it received. Equal sums mean equal messages, in the same order, with the
// same ones before them.
type books struct {
	sent, received []uint64 // by rank
	collectives    uint64
	whole          bool // a replay can do all of it
}

// lane is one direction of messages between two ranks with a tag.
type lane struct {
	receives        bool
	peer, tag, comm int
}

// audit adds up a window.
func (r *recording) audit(w window, ranks int) *books {
	b := &books{sent: make([]uint64, ranks), received: make([]uint64, ranks), whole: true}
	number := map[lane]uint64{}
	order := make([]uint64, len(r.groups))
	for i, e := range r.events[:w.to] {
		inside := i >= w.from
		switch {
		case e.call == notReplayed:
			b.whole = b.whole && !inside
		case e.call < 0:
			c := &r.collectives[^e.call]
			order[c.group]++
			if inside && len(r.groups[c.group].members) == ranks {
				b.collectives = mixed(b.collectives, uint64(r.groups[c.group].id), order[c.group], uint64(c.kind), uint64(c.root))
			}
		default:
			x := &r.calls[e.call]
			for k := range x.n {
				m := &x.messages[k]
				l := lane{m.Recv, m.Peer, m.Tag, m.Comm}
				number[l]++
				if !inside {
					continue
				}
				one := mixed(number[l], uint64(l.tag), uint64(l.comm))
				if m.Recv {
					b.received[m.Peer] += mixed(one, uint64(x.bytes[k]))
				} else {
					b.sent[m.Peer] += mixed(one, uint64(m.Bytes()))
				}
			}
		}
	}
	return b
}

// mixed is a hash of numbers: one round of splitmix64 (Steele, Lea, Flood, 2014) for each.
func mixed(xs ...uint64) (h uint64) {
	for _, x := range xs {
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
