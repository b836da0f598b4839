package trace

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// RankSummary holds the figures of one rank of several. Its times count from the start of
// the rank's log.
type RankSummary struct {
	Rank  int
	Host  string        // "" if not known
	Shift time.Duration // from the start of the run to the start of the log
	Summary
}

// accounts are the accounts of all ranks.
func (r *run) accounts() []*account {
	accounts := make([]*account, len(r.ranks))
	for i := range r.ranks {
		accounts[i] = newAccount(&r.ranks[i])
	}
	return accounts
}

// summarize computes the figures of all ranks and of each.
func (r *run) summarize(accounts []*account) Summary {
	each := make([]RankSummary, len(r.ranks))
	for i := range r.ranks {
		p := &r.ranks[i]
		each[i] = RankSummary{Rank: p.rank, Host: p.host, Shift: time.Duration(p.shift), Summary: p.summarize(accounts[i])}
		each[i].Messages = r.messageSummary(i, accounts[i])
		each[i].World = r.world
	}
	var s Summary
	if len(each) == 1 {
		s = each[0].Summary
	} else {
		s = r.total(each, accounts)
	}
	s.Messages.pairs(r)
	s.advise()
	r.findBottleneck(&s, accounts)
	return s
}

// total adds up the ranks.
func (r *run) total(each []RankSummary, accounts []*account) Summary {
	s := Summary{Elapsed: time.Duration(r.end), World: r.world, Ranks: each}
	sum := &ledger{}
	var bodies []bodyTime
	for i := range each {
		each[i].advise()
		s.addCounts(&each[i])
		s.addBounds(&each[i])
		s.Messages.add(&each[i].Messages)
		sum.add(accounts[i].books)
		bodies = r.ranks[i].bodies(bodies, accounts[i].books)
	}
	bodies = sortBodies(bodies)
	s.Labels = r.ranks[0].summarizeLabels(bodies)
	s.TaskMedian = medianBody(bodies)
	s.OverBound = ratio(float64(s.Elapsed), float64(s.Bound))
	s.Parallelism = ratio(float64(s.Work), float64(s.CriticalPath))
	s.shares(sum)
	return s
}

func (s *Summary) addCounts(one *RankSummary) {
	if one.Tasks > 0 {
		first := one.Shift + one.First
		if s.Tasks == 0 || first < s.First {
			s.First = first
		}
		s.Last = max(s.Last, one.Shift+one.Last)
	}
	s.Slots += one.Slots
	s.Tasks += one.Tasks
	s.Dependences += one.Dependences
	s.Failed += one.Failed
	s.Skipped += one.Skipped
	s.NeverStarted += one.NeverStarted
	s.Unfinished += one.Unfinished
	s.Lost += one.Lost
}

// addBounds keeps the longest path and the largest bound: tasks do not move
// from rank to rank, and paths are not followed through messages.
func (s *Summary) addBounds(one *RankSummary) {
	s.Work += one.Work
	s.Bound = max(s.Bound, one.Bound)
	s.OutsidePath = max(s.OutsidePath, one.OutsidePath)
	if one.CriticalPath > s.CriticalPath {
		s.CriticalPath, s.Path = one.CriticalPath, one.Path
	}
}

// add adds the times of the slots of another rank.
func (g *ledger) add(other *ledger) {
	g.submission += other.submission
	g.scheduling += other.scheduling
	g.starved += other.starved
	g.parked += other.parked
	g.blocked += other.blocked
	g.busy += other.busy
}

// longest returns the rank with the longest critical path: the path of the run.
func (s *Summary) longest() *RankSummary {
	return s.most(func(one *RankSummary) float64 { return float64(one.CriticalPath) })
}

// most returns the rank with the largest value; the first of equals.
func (s *Summary) most(of func(one *RankSummary) float64) *RankSummary {
	best := &s.Ranks[0]
	for i := range s.Ranks {
		if of(&s.Ranks[i]) > of(best) {
			best = &s.Ranks[i]
		}
	}
	return best
}

// MessageSummary holds the figures of the messages of one rank, or of all.
//
// A message is under way from its post to the MPI engine to the moment at which its
// completion was seen; a receive from the later one of its post and that of its send, if the
// log of the sender is there. Time that messages share counts once. Time under way is overlapped
// while at least one body runs on the same rank, and exposed otherwise. Bodies on the
// communication thread count, unless their tasks have messages themselves. Matched,
// Backward and Skew belong to the run: in the figures of one rank of several they are 0.
type MessageSummary struct {
	Count      int
	Bytes      int64
	Failed     int
	Unfinished int           // messages whose completion is not in the log; they count up to its end
	Kinds      []KindSummary // by falling Bytes

	Time       time.Duration // with at least one message under way; of several ranks, the sum
	Overlapped time.Duration // of Time, with at least one body running
	Exposed    time.Duration // of Time, the rest
	Overlap    float64       // Overlapped / Time; 0 without messages

	Matched   int           // pairs of a send and a receive in the logs
	Unmatched int           // sends and receives without the other one
	Absent    int           // of Unmatched: the other rank has no log here
	Backward  int           // of Matched: arrived before they left, because the clocks of the ranks differ
	Skew      time.Duration // by at least this
}

// KindSummary holds the figures of the messages of one kind.
type KindSummary struct {
	Kind   string
	Count  int
	Bytes  int64
	Queued time.Duration // all together, from Ready to Posted
	Early  time.Duration // all together: receives that lay posted before their messages were sent, collectives before the last rank
	Total  time.Duration // all together, to Done, without Queued and Early
	Max    time.Duration // the longest, without Queued and Early
}

// messageSummary computes the figures of the messages of a rank, without those for pairs.
func (r *run) messageSummary(rank int, a *account) (s MessageSummary) {
	p := &r.ranks[rank]
	kinds := map[string]*KindSummary{}
	for i := range p.messages {
		m := &p.messages[i]
		s.Count++
		s.Bytes = min(s.Bytes+m.bytes, ceiling)
		if m.failed {
			s.Failed++
		}
		if m.open {
			s.Unfinished++
		}
		if m.direction != dirNone && m.mate == noMate {
			s.Unmatched++
			if !r.present(m.peer) {
				s.Absent++
			}
		}
		if kinds[m.kind] == nil {
			kinds[m.kind] = &KindSummary{Kind: m.kind}
		}
		kinds[m.kind].add(KindSummary{Count: 1, Bytes: m.bytes, Queued: time.Duration(m.posted - m.ready),
			Early: time.Duration(m.moves - m.posted), Total: time.Duration(m.done - m.moves), Max: time.Duration(m.done - m.moves)})
	}
	s.setKinds(kinds)
	under := underWay(p.messages)
	s.Time, s.Overlapped = length(under), common(under, a.busy)
	s.setOverlap()
	return s
}

// ceiling bounds the sums over all messages of a damaged log: two of them can be
// added.
const ceiling = math.MaxInt64 / 2

func (k *KindSummary) add(other KindSummary) {
	k.Count += other.Count
	k.Bytes = min(k.Bytes+other.Bytes, ceiling)
	k.Queued = min(k.Queued+other.Queued, ceiling)
	k.Early = min(k.Early+other.Early, ceiling)
	k.Total = min(k.Total+other.Total, ceiling)
	k.Max = max(k.Max, other.Max)
}

func (s *MessageSummary) setKinds(kinds map[string]*KindSummary) {
	s.Kinds = nil
	for _, k := range kinds {
		s.Kinds = append(s.Kinds, *k)
	}
	slices.SortFunc(s.Kinds, func(a, b KindSummary) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
}

func (s *MessageSummary) setOverlap() {
	s.Exposed = s.Time - s.Overlapped
	s.Overlap = ratio(float64(s.Overlapped), float64(s.Time))
}

// add adds the messages of another rank.
func (s *MessageSummary) add(other *MessageSummary) {
	s.Count += other.Count
	s.Bytes = min(s.Bytes+other.Bytes, ceiling)
	s.Failed += other.Failed
	s.Unfinished += other.Unfinished
	s.Unmatched += other.Unmatched
	s.Absent += other.Absent
	kinds := map[string]*KindSummary{}
	for _, k := range slices.Concat(s.Kinds, other.Kinds) {
		if kinds[k.Kind] == nil {
			kinds[k.Kind] = &KindSummary{Kind: k.Kind}
		}
		kinds[k.Kind].add(k)
	}
	s.setKinds(kinds)
	s.Time += other.Time
	s.Overlapped += other.Overlapped
	s.setOverlap()
}

// pairs counts the pairs, which belong to no single rank.
func (s *MessageSummary) pairs(r *run) {
	s.Matched = len(r.pairs)
	for _, p := range r.pairs {
		if late := time.Duration(r.trip(p).backward()); late > 0 {
			s.Backward++
			s.Skew = max(s.Skew, late)
		}
	}
}

// interval is a span of time, in ns.
type interval struct{ from, to int64 }

// grow adds an interval that begins no earlier than the last one, and joins
// the two if they touch.
func grow(s []interval, next interval) []interval {
	if n := len(s); n > 0 && next.from <= s[n-1].to {
		s[n-1].to = max(s[n-1].to, next.to)
		return s
	}
	return append(s, next)
}

// underWay is when at least one message was: not while a receive waited for its send.
func underWay(messages []message) []interval {
	return spells(messages, func(m *message) interval { return interval{m.moves, m.done} })
}

// spells joins the intervals of all messages.
func spells(messages []message, of func(m *message) interval) (s []interval) {
	all := make([]interval, 0, len(messages))
	for i := range messages {
		if x := of(&messages[i]); x.from < x.to {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	for _, x := range all {
		s = grow(s, x)
	}
	return s
}

func length(s []interval) (sum time.Duration) {
	for _, x := range s {
		sum += time.Duration(x.to - x.from)
	}
	return sum
}

// common returns the length of the intersection of two sorted lists of disjoint intervals.
func common(a, b []interval) (sum time.Duration) {
	for len(a) > 0 && len(b) > 0 {
		sum += time.Duration(max(0, min(a[0].to, b[0].to)-max(a[0].from, b[0].from)))
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return sum
}

// activity is the observer that notes when at least one body runs. On a worker any body
// counts. On the communication thread only bodies of tasks without messages count: the
// others only wait for their messages.
type activity struct {
	*account
	m       *model
	sends   []bool // by task: it has a message
	running []bool // by track: a body that counts
	number  int    // of tracks with one
}

func newActivity(p *process, a *account) *activity {
	y := &activity{account: a, m: p.model, sends: make([]bool, len(p.tasks)), running: make([]bool, len(p.tracks))}
	for i := range p.messages {
		if task := p.messages[i].task; task != none {
			y.sends[task] = true
		}
	}
	return y
}

func (y *activity) elapse(r *replay, dt int64) {
	if y.number > 0 {
		y.busy = grow(y.busy, interval{r.now, r.now + dt})
	}
}

func (y *activity) credit(int, *op, int64) {}

func (y *activity) see(r *replay, track int, _ *op) {
	leaf := r.lanes[track].leaf()
	now := leaf != nil && leaf.kind == opTask && (y.m.tracks[track].role != roleOther || !y.sends[leaf.task])
	if now == y.running[track] {
		return
	}
	y.running[track] = now
	y.number--
	if now {
		y.number += 2
	}
}
