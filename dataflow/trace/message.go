package trace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// maxBytes bounds the size of one message, so that no sum overflows.
const maxBytes = 1 << 40

// direction is the direction of a message.
type direction uint8

const (
	dirNone direction = iota // a collective or one-sided operation: it has no counterpart in a log
	dirOut                   // a send
	dirIn                    // a receive
)

// directionOf reads the direction off the kind: "send", "ssend", "isend"; "recv",
// "irecv", "mrecv".
func directionOf(kind string) direction {
	switch {
	case strings.HasSuffix(kind, "send"):
		return dirOut
	case strings.HasSuffix(kind, "recv"):
		return dirIn
	}
	return dirNone
}

// message is a dataflow.Message made sound: its times lie in the log, in this
// order. Times are ns since the start of the log of its rank.
type message struct {
	ready     int64
	posted    int64
	moves     int64 // when its bytes could begin to move: a receive may lie posted before it is sent
	done      int64
	bytes     int64
	number    uint64 // of its task, 0 if none
	seq       uint64
	kind      string
	peer      int
	tag       int
	comm      uint32
	task      int32 // dense index of its task, or none
	mate      messageRef
	direction direction
	failed    bool
	open      bool // its completion is not in the log: done is the end of the log
}

// messageRef is a message of a run: the indices of its process and in the messages
// of this process.
type messageRef struct{ process, message int32 }

// noMate is the mate of a message that has none.
var noMate = messageRef{none, none}

// pair is a message as its two ranks saw it.
type pair struct{ from, to messageRef }

// readMessages makes the messages of a log sound, and sorts them by the time
// at which they were posted.
func readMessages(m *model, raw []dataflow.Message) []message {
	messages := make([]message, 0, len(raw))
	for i := range raw {
		if raw[i].Kind != dataflow.NoMessage {
			messages = append(messages, m.message(&raw[i]))
		}
	}
	slices.SortStableFunc(messages, func(a, b message) int { return cmp.Compare(a.posted, b.posted) })
	return messages
}

// message makes one message sound. A completion before the post means that there was none
// yet when the log was taken.
func (m *model) message(raw *dataflow.Message) message {
	s := message{
		number: raw.Task, task: m.ids.index(raw.Task), mate: noMate,
		kind: strings.TrimSpace(plain(raw.Kind)),
		comm: raw.Comm, peer: raw.Peer, tag: raw.Tag, seq: raw.Seq,
		bytes:  min(max(int64(raw.Bytes), 0), maxBytes),
		posted: m.moment(raw.Posted), done: m.moment(raw.Done),
		failed: raw.Failed, open: raw.Done < raw.Posted,
	}
	s.direction = directionOf(s.kind)
	if s.kind == "" {
		s.kind = "?"
	}
	if s.open {
		s.done = m.elapsed
	}
	s.ready = min(m.moment(raw.Ready), s.posted)
	s.moves = s.posted
	return s
}

// lastMessage is the latest time that a message names.
func lastMessage(messages []dataflow.Message) (last time.Duration) {
	for i := range messages {
		last = max(last, messages[i].Posted, messages[i].Done)
	}
	return last
}

// key holds the properties that the two sides of a message have in common.
type key struct {
	comm     uint32
	from, to int // ranks
	tag      int
	seq      uint64
}

func keyOf(rank int, s *message) key {
	k := key{comm: s.comm, from: rank, to: s.peer, tag: s.tag, seq: s.seq}
	if s.direction == dirIn {
		k.from, k.to = k.to, k.from
	}
	return k
}

// meetings are the collectives that end on no rank before all take part: until then a rank waits for
// the last one, and not for the wire.
var meetings = map[string]bool{"barrier": true, "allreduce": true, "allgather": true, "alltoall": true, "reduce-scatter": true, "fence": true}

// alignCollectives lets these collectives move from the post of the last rank on.
func (r *run) alignCollectives() {
	type meeting struct {
		comm uint32
		seq  uint64
		kind string
	}
	last := map[meeting]int64{}
	each := func(visit func(shift int64, m *message, k meeting)) {
		for i := range r.ranks {
			p := &r.ranks[i]
			for j := range p.messages {
				if m := &p.messages[j]; meetings[m.kind] && m.seq > 0 {
					visit(p.shift, m, meeting{m.comm, m.seq, m.kind})
				}
			}
		}
	}
	each(func(shift int64, m *message, k meeting) { last[k] = max(last[k], shift+m.posted) })
	each(func(shift int64, m *message, k meeting) { m.moves = min(max(m.posted, last[k]-shift), m.done) })
}

// match finds the pairs of sends and receives. Of several with the same key the first one
// counts; the others stay without a mate.
func (r *run) match() {
	sent := map[key]messageRef{}
	r.eachMessage(dirOut, func(at messageRef, k key) {
		if _, twice := sent[k]; !twice {
			sent[k] = at
		}
	})
	r.eachMessage(dirIn, func(at messageRef, k key) {
		from, ok := sent[k]
		if !ok {
			return
		}
		delete(sent, k)
		in, out := r.message(at), r.message(from)
		in.mate, out.mate = from, at
		sent := out.posted + r.ranks[from.process].shift - r.ranks[at.process].shift
		in.moves = min(max(in.posted, sent), in.done)
	})
	r.eachMessage(dirOut, func(at messageRef, _ key) {
		if to := r.message(at).mate; to != noMate {
			r.pairs = append(r.pairs, pair{at, to})
		}
	})
}

// eachMessage visits all messages of one direction.
func (r *run) eachMessage(w direction, visit func(at messageRef, k key)) {
	for i := range r.ranks {
		p := &r.ranks[i]
		for k := range p.messages {
			if s := &p.messages[k]; s.direction == w {
				visit(messageRef{int32(i), int32(k)}, keyOf(p.rank, s))
			}
		}
	}
}

func (r *run) message(at messageRef) *message { return &r.ranks[at.process].messages[at.message] }

// trip is a pair on the time axis of the run.
type trip struct {
	ready, sent      int64 // of the send: Ready and Posted
	posted, received int64 // of the receive: Posted and Done
}

func (r *run) trip(p pair) trip {
	from, to := r.message(p.from), r.message(p.to)
	out, in := r.ranks[p.from.process].shift, r.ranks[p.to.process].shift
	return trip{ready: out + from.ready, sent: out + from.posted, posted: in + to.posted, received: in + to.done}
}

// backward returns the time by which a message arrived before it left, because the clocks
// disagree; 0 if it did not.
func (t trip) backward() int64 { return max(t.sent-t.received, 0) }

// present tells whether the log of a rank was given.
func (r *run) present(rank int) bool {
	_, ok := slices.BinarySearchFunc(r.ranks, rank, func(p process, rank int) int { return cmp.Compare(p.rank, rank) })
	return ok
}
