package dataflow

import (
	"encoding/binary"
	"time"
)

// packed holds recorded events: as bytes, with differences of numbers, because touching new
// memory costs more than all the rest of a log. An [Event] takes 40 bytes, here about 5,
// and a dependence 2.
//
//	head                 kind, and Arg of EventEnd in the upper half
//	time                 since the previous event
//	task                 minus the task of the previous event
//	label, parent        EventSpawn
//	cost                 EventCost
//	count, pred, ...     EventEdge, several of one task; pred is task minus Arg, Arg2 in bit 0
//
// A byte for head, then numbers in the format of encoding/binary: signed except label,
// parent, cost and count. Tasks have numbers below 1<<62. No entry is split between two chunks.
type packed struct {
	chunks [][]byte
	count  int // events
	time   time.Duration
	task   uint64
}

const (
	chunkBytes = 32 << 10
	mostBytes  = 1 + 4*binary.MaxVarintLen64
	maxRun     = 256 // dependences in one entry
)

// begin starts an entry for the given number of events, at the end of the chunk returned;
// there is room for mostBytes.
func (p *packed) begin(events int, kind EventKind, how uint64, t time.Duration, task uint64) *[]byte {
	n := len(p.chunks) - 1
	if n < 0 || len(p.chunks[n])+mostBytes+events*binary.MaxVarintLen64 > chunkBytes {
		p.chunks = append(p.chunks, make([]byte, 0, chunkBytes))
		n++
	}
	c := &p.chunks[n]
	b := append(*c, byte(kind)|byte(how)<<4)
	b = binary.AppendVarint(b, int64(t-p.time))
	*c = binary.AppendVarint(b, int64(task-p.task))
	p.count += events
	p.time, p.task = t, task
	return c
}

// plain adds an event without label and dependences.
func (p *packed) plain(kind EventKind, how uint64, t time.Duration, task uint64) {
	p.begin(1, kind, how, t, task)
}

func (p *packed) spawn(t time.Duration, task, label, parent uint64) {
	c := p.begin(1, EventSpawn, 0, t, task)
	*c = binary.AppendUvarint(binary.AppendUvarint(*c, label), parent)
}

func (p *packed) cost(t time.Duration, task, cost uint64) {
	c := p.begin(1, EventCost, 0, t, task)
	*c = binary.AppendUvarint(*c, cost)
}

// edge is a dependence kept until its task is spawned.
type edge struct {
	pred, succ uint64
	waits      bool
}

// edges adds the dependences of one task, at most maxRun.
func (p *packed) edges(t time.Duration, of []edge) {
	c := p.begin(len(of), EventEdge, 0, t, of[0].succ)
	b := binary.AppendUvarint(*c, uint64(len(of)))
	for _, e := range of {
		d := int64(e.succ-e.pred) << 1
		if e.waits {
			d |= 1
		}
		b = binary.AppendVarint(b, d)
	}
	*c = b
}

// events returns the recorded events.
func (p *packed) events() []Event {
	u := unpacker{all: make([]Event, 0, p.count)}
	for _, c := range p.chunks {
		for u.rest = c; len(u.rest) > 0; {
			u.entry()
		}
	}
	return u.all
}

type unpacker struct {
	all  []Event
	rest []byte
	last Event
}

func (u *unpacker) entry() {
	h := u.rest[0]
	u.rest = u.rest[1:]
	e := Event{Kind: EventKind(h & 15), Arg: uint64(h >> 4)}
	e.Time = u.last.Time + time.Duration(u.signed())
	e.Task = u.last.Task + uint64(u.signed())
	u.last = e
	switch e.Kind {
	case EventSpawn:
		e.Arg, e.Arg2 = u.unsigned(), u.unsigned()
	case EventCost:
		e.Arg = u.unsigned()
	case EventEdge:
		for n := u.unsigned(); n > 0; n-- {
			d := u.signed()
			e.Arg, e.Arg2 = e.Task-uint64(d>>1), uint64(d&1)
			u.all = append(u.all, e)
		}
		return
	}
	u.all = append(u.all, e)
}

func (u *unpacker) signed() int64 {
	x, n := binary.Varint(u.rest)
	u.rest = u.rest[n:]
	return x
}

func (u *unpacker) unsigned() uint64 {
	x, n := binary.Uvarint(u.rest)
	u.rest = u.rest[n:]
	return x
}
