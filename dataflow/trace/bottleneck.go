package trace

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Cause is what a run was bound by.
type Cause string

// The causes.
const (
	CauseWork       Cause = "work"                     // the bodies kept the slots busy
	CausePath       Cause = "the critical path"        // there were too few independent tasks
	CauseMessages   Cause = "messages on the wire"     // workers had nothing to do while messages moved
	CauseThread     Cause = "the communication thread" // messages waited for it longer than they moved
	CauseImbalance  Cause = "the imbalance of ranks"   // one rank had more work
	CauseSmall      Cause = "tasks that are too small" // the runtime took a share of their length
	CauseSubmission Cause = "the submission of tasks"  // the program spawned more slowly than the workers ran
)

// Bottleneck is the answer to why a run took as long as it did: the cause with the most time at
// stake.
type Bottleneck struct {
	Cause  Cause
	Reason string        // why, with its figures
	Stake  time.Duration // by which the run would be shorter without it, at most
	Rank   int           // where it is worst, and from when to when
	From   time.Duration
	To     time.Duration
	Where  string // the same in words
}

// worthAsking is the share of a run from which a cause other than its work is named.
const worthAsking = 0.1

// findBottleneck compares what each cause might have cost.
func (r *run) findBottleneck(s *Summary, accounts []*account) {
	if s.Tasks == 0 || s.Elapsed == 0 {
		return
	}
	var all []Bottleneck
	for i := range r.ranks {
		all = append(all, r.causesOf(i, r.summaryOf(s, i), accounts[i])...)
	}
	if len(s.Ranks) > 0 {
		all = append(all, r.imbalance(s)...)
	}
	best := slices.MaxFunc(append(all, Bottleneck{}), func(a, b Bottleneck) int { return cmp.Compare(a.Stake, b.Stake) })
	if best.Stake = min(best.Stake, s.Elapsed); float64(best.Stake) < worthAsking*float64(s.Elapsed) {
		best = r.workOf(s)
	}
	best.Where = fmt.Sprintf("from %s to %s", span(best.From), span(best.To)) + best.Where
	if len(s.Ranks) > 0 {
		best.Where = fmt.Sprintf("rank %d, ", best.Rank) + best.Where
	}
	s.Bottleneck = best
}

// summaryOf returns the figures of a rank.
func (r *run) summaryOf(s *Summary, i int) *Summary {
	if len(s.Ranks) > 0 {
		return &s.Ranks[i].Summary
	}
	return s
}

// causesOf returns what may have bound a rank.
func (r *run) causesOf(i int, one *Summary, a *account) (all []Bottleneck) {
	p := &r.ranks[i]
	add := func(cause Cause, stake float64, at interval, where, reason string) {
		all = append(all, Bottleneck{Cause: cause, Reason: reason, Stake: time.Duration(stake), Rank: p.rank, Where: where,
			From: time.Duration(p.shift + at.from), To: time.Duration(p.shift + at.to)})
	}
	elapsed := float64(one.Elapsed)
	whole := interval{int64(one.First), int64(one.Last)}
	if advice := one.sizeAdvice(); advice != "" {
		add(CauseSmall, one.Shares.Overhead()*elapsed, whole, "", advice)
	}
	if advice := one.submissionAdvice(); advice != "" {
		add(CauseSubmission, (one.Shares.Parked+one.Shares.Starved)*elapsed, whole, "", advice)
	}
	exposed := 0.0
	if advice := one.exposedAdvice(); advice != "" {
		exposed = float64(one.Messages.Exposed)
		add(CauseMessages, exposed, longestWithout(underWay(p.messages), a.busy), "", advice)
	}
	waiting := spells(p.messages, func(m *message) interval { return interval{m.ready, m.posted} })
	if lost := float64(length(waiting) - common(waiting, a.busy)); lost >= adviceExposed*elapsed {
		exposed += lost
		add(CauseThread, lost, longestWithout(waiting, a.busy), "", fmt.Sprintf("messages were ready, and not posted, for %s in which no body ran", span(time.Duration(lost))))
	}
	if inside, label, at := r.waitsInside(i); float64(inside) >= adviceExposed*elapsed {
		add(CauseMessages, float64(inside), at, ": in "+label, fmt.Sprintf("bodies had messages of their own under way for %s, most of it in %q: many short messages in turn, or long ones that nothing overlaps", span(time.Duration(inside)), label))
	}
	if len(one.Path) > 0 {
		if stake := one.Shares.Idle*elapsed - exposed; one.pathAdvice() != "" && stake > 0 {
			at, where := r.longestOnPath(i, &one.Path[0])
			add(CausePath, stake, at, where, one.pathAdvice())
		}
	}
	return all
}

// waitsInside returns how long the bodies on the workers of a rank had messages of their own
// under way, for each worker, the label with the most of it, and the longest such body.
func (r *run) waitsInside(i int) (sum int64, label string, longest interval) {
	p := &r.ranks[i]
	own := map[int32][]message{}
	for k := range p.messages {
		if m := &p.messages[k]; m.task != none {
			own[m.task] = append(own[m.task], *m)
		}
	}
	byLabel := map[string]int64{}
	for id, messages := range own {
		t := &p.tasks[id]
		if t.start == none || t.end <= t.start || !p.tracks[t.track].role.worker() {
			continue
		}
		body := interval{t.start, t.end}
		n := int64(common(underWay(messages), []interval{body}))
		sum += n
		byLabel[p.labelName(t.label)] += n
		if body.to-body.from > longest.to-longest.from {
			longest = body
		}
	}
	for name, n := range byLabel {
		if label == "" || n > byLabel[label] || n == byLabel[label] && name < label {
			label = name
		}
	}
	return sum / int64(max(1, p.slots)), label, longest
}

// longestOnPath returns the longest task of a label on the critical path.
func (r *run) longestOnPath(i int, label *PathLabel) (at interval, where string) {
	p := &r.ranks[i]
	id := p.ids.index(label.Task)
	if id == none {
		return at, ""
	}
	t := &p.tasks[id]
	return interval{t.start, max(t.start, t.end)}, fmt.Sprintf(": %s #%d, the longest of its kind on the path", label.Name, label.Task)
}

// imbalance names the rank with the most work, if it has much more than the others.
func (r *run) imbalance(s *Summary) []Bottleneck {
	advice := s.imbalanceAdvice()
	if advice == "" {
		return nil
	}
	load := func(one *RankSummary) float64 { return ratio(float64(one.Work), float64(one.Slots)) }
	one := s.most(load)
	mean := ratio(float64(s.Work), float64(s.Slots))
	return []Bottleneck{{Cause: CauseImbalance, Reason: advice, Stake: time.Duration(load(one) - mean), Rank: one.Rank, From: one.Shift + one.First, To: one.Shift + one.Last}}
}

// workOf is the answer if nothing else is: the label with the most work.
func (r *run) workOf(s *Summary) Bottleneck {
	b := Bottleneck{Cause: CauseWork, Rank: r.ranks[0].rank, From: s.First, To: s.Last,
		Reason: fmt.Sprintf("the slots were busy for %s of the time: faster bodies or more workers would help, a better order would not", percent(s.Shares.Busy))}
	b.Stake = time.Duration((1 - s.Shares.Busy) * float64(s.Elapsed))
	if len(s.Labels) > 0 {
		b.Where = fmt.Sprintf(", %s of the work in %s", percent(ratio(float64(s.Labels[0].Total), float64(s.Work))), s.Labels[0].Name)
	}
	return b
}

// longestWithout returns the longest part of the intervals a in which there is none of b. Both
// are sorted and disjoint.
func longestWithout(a, b []interval) (longest interval) {
	keep := func(from, to int64) {
		if to-from > longest.to-longest.from {
			longest = interval{from, to}
		}
	}
	for _, x := range a {
		for len(b) > 0 && b[0].to <= x.from {
			b = b[1:]
		}
		from := x.from
		for _, y := range b {
			if y.from >= x.to {
				break
			}
			keep(from, min(y.from, x.to))
			from = max(from, y.to)
		}
		keep(from, x.to)
	}
	return longest
}

// answer is the bottleneck in three lines.
func (b *Bottleneck) answer(elapsed time.Duration) [3]string {
	return [3]string{
		fmt.Sprintf("bound by %s: %s", b.Cause, b.Reason),
		fmt.Sprintf("at stake: at most %s of %s (%s)", span(b.Stake), span(elapsed), percent(ratio(float64(b.Stake), float64(elapsed)))),
		"where: " + b.Where,
	}
}
