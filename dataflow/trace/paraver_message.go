package trace

import (
	"cmp"
	"slices"
)

// laneRecords cuts the time of the lane of messages of a rank into states, and
// notes where the number of messages under way changes.
func (p *paraver) laneRecords(rank int) (states, events []record) {
	x := &p.r.ranks[rank]
	r := recorder{rank: int32(rank), track: int32(len(x.tracks)), event: recordCount}
	r.turn(0, prvNotCreated, 0)
	var under, collective int32
	for _, c := range changes(x.messages) {
		under += c.by
		if c.way == wayNone {
			collective += c.by
		}
		state := int32(prvNotCreated)
		switch {
		case collective > 0:
			state = prvCollective
		case under > 0:
			state = prvMessage
		}
		r.turn(x.shift+c.at, state, under)
	}
	r.finish(p.r.end)
	return r.states, r.events
}

// change is a moment at which a message goes under way (by 1) or is done (-1).
type change struct {
	at  int64
	by  int32
	way way
}

// changes are those of the messages of a rank, in order of time. At one moment,
// what is done comes first. Messages of no length change nothing.
func changes(messages []message) []change {
	all := make([]change, 0, 2*len(messages))
	for i := range messages {
		if s := &messages[i]; s.posted < s.done {
			all = append(all, change{s.posted, 1, s.way}, change{s.done, -1, s.way})
		}
	}
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by), cmp.Compare(a.way, b.way))
	})
	return all
}

// letters are the records of the messages that two ranks agree on, in order of
// their logical sends.
func (p *paraver) letters() []record {
	var letters []record
	for i, pair := range p.r.pairs {
		t := p.r.trip(pair)
		if t.backward() > 0 {
			continue
		}
		from := pair.from.process
		letters = append(letters, record{at: t.ready, kind: recordPair, rank: from, track: int32(len(p.r.ranks[from].tracks)), task: int32(i)})
	}
	slices.SortStableFunc(letters, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	return letters
}

// letter is the record of a message after the sender and its logical send:
// physical send, receiver, logical and physical receive, size and tag.
func (p *paraver) letter(b []byte, x pair) []byte {
	t, from, to := p.r.trip(x), p.r.message(x.from), x.to.process
	b = appendField(b, t.sent)
	b = append(b, ':')
	b = p.object(b, to, int32(len(p.r.ranks[to].tracks)))
	b = appendField(b, t.posted)
	b = appendField(b, t.received)
	b = appendField(b, from.bytes)
	return appendTag(b, uint64(from.tag))
}
