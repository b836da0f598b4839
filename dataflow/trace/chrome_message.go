package trace

import "strconv"

// messageLane is the name of the lane of the messages of a rank.
const messageLane = "messages"

// messages writes the slices of the messages of a rank. They overlap, so they
// are asynchronous: a beginning and an end with one number.
func (c *chrome) messages() {
	lane := len(c.p.tracks)
	for i := range c.p.messages {
		s := &c.p.messages[i]
		id := c.message + int64(i)
		b := c.asynchronous("b", lane, s.moves, id, s)
		if s.failed {
			b = append(b, `,"cname":"terrible"`...)
		} else {
			b = append(b, `,"cname":`...)
			b = append(b, quote(chromeColorOf(s.kind))...)
		}
		c.done(append(c.messageArguments(b, s), '}'))
		c.done(c.asynchronous("e", lane, s.done, id, s))
	}
}

// asynchronous begins one end of the slice of a message.
func (c *chrome) asynchronous(phase string, lane int, at, id int64, s *message) []byte {
	b := c.event(phase, lane, at)
	b = append(b, `,"cat":"message","id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"name":`...)
	return append(b, quote(s.kind)...)
}

// messageArguments adds the arguments but for the brace that ends them.
func (c *chrome) messageArguments(b []byte, s *message) []byte {
	b = append(b, `,"args":{"kind":`...)
	b = append(b, quote(s.kind)...)
	if s.peer >= 0 || s.direction != dirNone {
		b = append(b, `,"peer":`...)
		b = strconv.AppendInt(b, int64(s.peer), 10)
		b = append(b, `,"tag":`...)
		b = strconv.AppendInt(b, int64(s.tag), 10)
	}
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, s.bytes, 10)
	b = append(b, `,"comm":`...)
	b = strconv.AppendUint(b, uint64(s.comm), 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, s.seq, 10)
	if s.number != 0 {
		b = append(b, `,"task":`...)
		b = strconv.AppendUint(b, s.number, 10)
	}
	if s.task != none {
		b = append(b, `,"label":`...)
		b = append(b, c.label(&c.p.tasks[s.task]).name...)
	}
	b = append(b, `,"ready":`...)
	b = appendMicros(b, c.p.shift+s.ready)
	if s.moves > s.posted {
		b = append(b, `,"posted":`...)
		b = appendMicros(b, c.p.shift+s.posted)
	}
	for _, odd := range []struct {
		so   bool
		what string
	}{
		{s.failed, `,"failed":true`},
		{s.open, `,"incomplete":true`},
		{s.direction != dirNone && s.mate == noMate, `,"unmatched":true`},
	} {
		if odd.so {
			b = append(b, odd.what...)
		}
	}
	return b
}

// arrows writes an arrow for each pair. All viewers want the beginning of an
// arrow before its end, in time and, where the times are equal, in the file.
func (c *chrome) arrows() {
	first := c.edge + int64(len(c.p.deps.from)) // c is at the last rank
	for i, p := range c.r.pairs {
		if t := c.r.trip(p); t.backward() > 0 {
			continue
		}
		id := first + int64(i)
		c.mark("s", p.from, id)
		c.mark("f", p.to, id)
	}
}

// mark writes one end of an arrow, and the slice of one ns that holds it.
func (c *chrome) mark(phase string, l messageRef, id int64) {
	c.at(int(l.process))
	lane, s := len(c.p.tracks), &c.p.messages[l.message]
	at, word := s.posted, " to "
	if phase == "f" {
		at, word = s.done, " from "
	}
	b := c.event("X", lane, at)
	b = append(b, `,"dur":`...)
	b = appendMicros(b, min(1, c.p.elapsed-at))
	b = append(b, `,"name":`...)
	b = append(b, quote(s.kind+word+strconv.Itoa(s.peer))...)
	b = append(b, `,"cat":"message","cname":"grey"`...)
	c.done(b)
	b = c.flowEvent(phase, lane, at, id)
	c.done(append(b, `,"name":"message","cat":"flow"`...))
}
