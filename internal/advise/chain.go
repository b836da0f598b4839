package advise

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// manyPatterns is how many patterns of a chain are kept apart.
const manyPatterns = 8

// chainStats holds the measurements of a chain on one rank.
type chainStats struct {
	index    int // in tracker.order
	sites    []int
	count    int
	written  Summary
	between  Summary
	before   Summary
	pause    thinned // the same, for its median
	slack    Summary
	calls    []Summary
	gaps     []Summary
	ends     map[End]int // Count is 0 in the keys
	patterns []variant
	movable  []int            // by call: how often it could have been in the chain before
	next     map[int]*Summary // distance to the chain that follows
}

// otherPeers reports whether the messages of an occurrence went to other ranks than those of
// another one.
func (s *chainStats) otherPeers() bool {
	common := s.common()
	for i := range s.patterns {
		other := &s.patterns[i].pattern
		for j := range min(len(common.Requests), len(other.Requests)) {
			a, b := &common.Requests[j], &other.Requests[j]
			if a.Peer != b.Peer {
				return true
			}
		}
	}
	return false
}

// variant is a pattern with the key that recognises it.
type variant struct {
	hash    uint64
	pattern Pattern
}

// close ends the chain, for a reason that a call at site may have given.
func (t *tracker) close(reason string, site int) {
	if len(t.disarms) > 0 {
		t.poll()
	}
	for _, d := range t.disarms {
		d()
	}
	t.disarms = t.disarms[:0]
	touched := t.touchedAt.Swap(0)
	place := t.touchPlace.Swap(nil)
	if len(t.chain) == 0 {
		return
	}
	t.ended++
	s := t.statsOf(t.chain)
	s.count++
	first, last := t.chain[0].start, t.chain[len(t.chain)-1].end
	inside := int64(0)
	for i := range t.chain {
		c := &t.chain[i]
		inside += c.end - c.start
		if c.free {
			s.movable[i]++
		}
		s.calls[i].Add(seconds(c.end - c.start))
		if i > 0 {
			s.gaps[i].Add(seconds(max(c.start-t.chain[i-1].end, 0)))
		}
	}
	whole := max(last-first-t.chainTool, inside)
	s.written.Add(seconds(whole))
	s.between.Add(seconds(whole - inside))
	if t.before > 0 {
		s.before.Add(seconds(t.before))
		s.pause.add(seconds(t.before))
	}
	if touched > last {
		s.slack.Add(seconds(touched - last))
		if place != nil && *place != "" {
			reason += " " + *place
		}
	}
	s.ends[End{Reason: reason, Site: site, Call: t.needed}]++
	t.needed = none
	t.remember(s)
	if t.last != nil {
		d := t.last.next[s.index]
		if d == nil {
			d = &Summary{}
			t.last.next[s.index] = d
		}
		d.Add(seconds(first - t.lastAt))
	}
	t.last, t.lastAt = s, last
	t.chain = t.chain[:0]
	t.prior = t.prior[:0]
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// statsOf finds the chain of these calls, or begins it.
func (t *tracker) statsOf(calls []noted) *chainStats {
	var room [128]byte
	key := room[:0]
	for i := range calls {
		key = binary.AppendUvarint(key, uint64(calls[i].site))
	}
	if s := t.stats[string(key)]; s != nil {
		return s
	}
	s := &chainStats{index: len(t.order), calls: make([]Summary, len(calls)), gaps: make([]Summary, len(calls)), movable: make([]int, len(calls)), ends: map[End]int{}, next: map[int]*Summary{}}
	for i := range calls {
		s.sites = append(s.sites, calls[i].site)
	}
	t.stats[string(key)] = s
	t.order = append(t.order, s)
	return s
}

// remember counts the pattern of the chain that just ended.
func (t *tracker) remember(s *chainStats) {
	var h maphash.Hash
	h.SetSeed(t.seed)
	for i := range t.chain {
		for j := range t.chain[i].n {
			hashMessage(&h, &t.chain[i].requests[j].Message)
		}
	}
	sum := h.Sum64()
	for i := range s.patterns {
		if s.patterns[i].hash == sum {
			s.patterns[i].pattern.Seen++
			return
		}
	}
	if len(s.patterns) >= manyPatterns {
		return
	}
	p := Pattern{Rank: t.rank, Seen: 1}
	for i := range t.chain {
		for j := range t.chain[i].n {
			p.Requests = append(p.Requests, t.chain[i].requests[j].Message)
		}
	}
	s.patterns = append(s.patterns, variant{sum, p})
}

func hashMessage(h *maphash.Hash, m *Message) {
	var b [64]byte
	flags := 0
	if m.Recv {
		flags |= 1
	}
	if m.Sync {
		flags |= 2
	}
	for i, x := range [...]int{m.Call, flags, m.Peer, m.Tag, m.Comm, m.Blocks, m.Block, m.Stride} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(x))
	}
	h.Write(b[:])
}

// common returns the pattern that was seen most often.
func (s *chainStats) common() Pattern {
	return slices.MaxFunc(s.patterns, func(a, b variant) int { return a.pattern.Seen - b.pattern.Seen }).pattern
}
