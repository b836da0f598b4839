package advise

import (
	"math"
	"slices"
)

// Saving is the expected saving if calls of a chain start together.
type Saving struct {
	PerPass float64 `json:"per_pass"` // seconds of an occurrence
	// Low and High are the interval in which nine of ten savings lie: see errorReplayed.
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Passes    float64 `json:"passes"`    // occurrences, mean of all ranks
	Total     float64 `json:"total"`     // seconds of the program, mean of all ranks
	Share     float64 `json:"share"`     // of the program
	Rehearsed bool    `json:"rehearsed"` // measured; otherwise estimated from the calibration
	Replayed  bool    `json:"replayed"`  // measured with the rest of the program around
	Part      bool    `json:"part"`      // only a part of the chain, in the ratio of the estimates
}

// Relative errors of predictions, beyond the spread of what was measured: with them, nine of ten
// savings lay in their intervals. Twelve small simulations on three networks, each changed and
// measured again (bench/advise -measure -apps), were predicted from replays, and from rehearsals
// of their messages alone.
const (
	errorReplayed  = 0.22
	errorRehearsed = 0.5
	errorEstimated = 0.5
)

// widen makes the interval from measured values that of a prediction with a relative error.
func (s *Saving) widen(relative float64) {
	e := relative * s.PerPass
	s.Low, s.High = s.PerPass-math.Hypot(s.PerPass-s.Low, e), s.PerPass+math.Hypot(s.High-s.PerPass, e)
}

// Saving returns the saving if these calls of a chain start together, all if calls is nil
// (the paper, section 3.2). It is never more than the time of the chain.
func (r *Run) Saving(chain int, calls []int) Saving {
	c := &r.Chains[chain]
	if calls == nil {
		calls = identity(len(c.Sites))
	}
	s := Saving{Part: len(calls) < len(c.Sites)}
	written, fixed := r.estimate(c, calls)
	s.PerPass = written - fixed
	measured := 0.0
	for _, i := range calls {
		measured += c.Calls[i]
	}
	if t, batches := r.trial(c, calls); t != nil {
		s.Rehearsed, s.Replayed = true, t.Replayed
		share := 1.0
		if s.Part {
			share = ratio(s.PerPass, r.estimateAll(c, batches))
		}
		pairs := make([]float64, len(t.Written))
		for i := range pairs {
			pairs[i] = share * (t.Written[i] - t.Fixed[i])
		}
		s.PerPass = middle(pairs)
		s.Low, s.High = bounds(pairs)
	} else {
		off := math.Abs(measured - written) // the error of the estimate
		s.Low, s.High = s.PerPass-off, s.PerPass+off
	}
	switch {
	case s.Replayed:
		s.widen(errorReplayed)
	case s.Rehearsed:
		s.widen(errorRehearsed)
	default:
		s.widen(errorEstimated)
	}
	most := measured
	s.PerPass, s.Low, s.High = math.Min(s.PerPass, most), math.Min(s.Low, most), math.Min(s.High, most)
	s.Passes = float64(c.Count) * float64(len(c.Ranks)) / float64(r.Ranks)
	s.Total = s.PerPass * s.Passes
	s.Share = s.Total / r.Seconds
	return s
}

// Add adds the saving of another chain by the same change; times of an occurrence become means.
func (s *Saving) Add(o Saving) {
	if all := s.Passes + o.Passes; all > 0 {
		mean := func(a, b float64) float64 { return (a*s.Passes + b*o.Passes) / all }
		s.PerPass, s.Low, s.High = mean(s.PerPass, o.PerPass), mean(s.Low, o.Low), mean(s.High, o.High)
		s.Passes = all
	}
	if o.Total > s.Total { // what most of it rests on
		s.Rehearsed, s.Replayed, s.Part = o.Rehearsed, o.Replayed, o.Part
	}
	s.Total, s.Share = s.Total+o.Total, s.Share+o.Share
}

// estimate returns the times of some calls of a chain, as written and started together,
// by the calibration; means of the ranks.
func (r *Run) estimate(c *Chain, calls []int) (written, fixed float64) {
	for i := range c.Patterns {
		p := c.Patterns[i].of(calls)
		written += r.Network.Written(&p) / float64(len(c.Patterns))
		fixed += r.Network.Fixed(&p) / float64(len(c.Patterns))
	}
	return written, fixed
}

// estimateAll returns the saving of a change of batches of calls.
func (r *Run) estimateAll(c *Chain, batches []int) (saving float64) {
	for first := 0; first < len(batches); {
		var calls []int
		for i := first; i < len(batches) && batches[i] == batches[first]; i++ {
			calls = append(calls, i)
		}
		w, f := r.estimate(c, calls)
		saving += w - f
		first += len(calls)
	}
	return saving
}

// Trial returns the measurement on which the saving of some calls of a chain rests; nil if there is
// none.
func (r *Run) Trial(chain int, calls []int) *Trial {
	t, _ := r.trial(&r.Chains[chain], calls)
	return t
}

// trial returns the trial that tells most about a change of some calls: the one with batches that end at
// computation, unless the calls go beyond.
func (r *Run) trial(c *Chain, calls []int) (*Trial, []int) {
	if split := r.batches(c, true); c.Split != nil && c.Trial != nil && split[calls[0]] == split[calls[len(calls)-1]] {
		return c.Split, split
	}
	return c.Trial, r.batches(c, false)
}

// batches returns the batches of the changed form of a chain, by call. With split they end at
// computation, too.
func (r *Run) batches(c *Chain, split bool) []int {
	longest := math.Inf(1)
	if split {
		longest = oneList
	}
	return batchesOf(r.sitesOf(c), c.Gaps, longest)
}

// oneList is how long the computation between two calls may be, in seconds, if nothing but simple
// statements lies between them. Longer computation is a loop, across which calls mostly cannot move.
const oneList = 3e-6

func (r *Run) sitesOf(c *Chain) (sites []Site) {
	for _, i := range c.Sites {
		sites = append(sites, r.Sites[i])
	}
	return sites
}

// batchesOf numbers the batches that calls of a chain would be in after a change: one for calls of
// one execution of a function, with computation of at most longest seconds between them. If that
// leaves every call alone, as with helpers that make one call each, all are in one: what the callers
// could save is of interest, too.
func batchesOf(sites []Site, gaps []float64, longest float64) []int {
	all, most, length := make([]int, len(sites)), 1, 1
	for i := 1; i < len(sites); i++ {
		all[i] = all[i-1]
		if length++; sites[i].Func != sites[i-1].Func || !slices.Equal(sites[i].Callers, sites[i-1].Callers) || gaps[i] > longest {
			all[i]++
			length = 1
		}
		most = max(most, length)
	}
	if most == 1 {
		clear(all)
	}
	return all
}

// of returns the messages of a pattern that some calls make.
func (p *Pattern) of(calls []int) Pattern {
	part := Pattern{Rank: p.Rank, Seen: p.Seen}
	for _, m := range p.Requests {
		if slices.Contains(calls, m.Call) {
			part.Requests = append(part.Requests, m)
		}
	}
	return part
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return math.Min(math.Max(a/b, 0), 1)
}

// middle returns the median.
func middle(x []float64) float64 { return quantile(x, 0.5) }

// bounds returns the 95 % confidence interval of the median, from order statistics: the
// number of values below the median is binomial.
func bounds(x []float64) (low, high float64) {
	d := 0.98 / math.Sqrt(math.Max(float64(len(x)), 1))
	return quantile(x, math.Max(0.5-d, 0)), quantile(x, math.Min(0.5+d, 1))
}

// quantile returns the q-quantile of the values, interpolated; 0 without values.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Clone(x)
	slices.Sort(x)
	at := q * float64(len(x)-1)
	i := min(int(at), len(x)-1)
	j := min(i+1, len(x)-1)
	return x[i] + (at-float64(i))*(x[j]-x[i])
}

// Speedup returns how much faster the program becomes when savings are made.
func (r *Run) Speedup(total float64) float64 {
	return r.Seconds / math.Max(r.Seconds-total, r.Seconds*1e-3)
}

// Wild reports whether a request of the chain names any rank or any tag.
func (c *Chain) Wild() bool {
	for i := range c.Patterns {
		for _, m := range c.Patterns[i].Requests {
			if m.Recv && (m.Peer < 0 || m.Tag < 0) {
				return true
			}
		}
	}
	return false
}

// Merge is a chain whose calls could, in part, have been in the chain before (the paper,
// section 3.1).
type Merge struct {
	Chain   int     `json:"chain"`
	Into    int     `json:"into"`
	Because int     `json:"because"` // site of the call that ended the first one
	Calls   []int   `json:"calls"`   // that share no cell with the first one
	PerPass float64 `json:"per_pass"`
	Total   float64 `json:"total"`
	Share   float64 `json:"share"`
}

// Merges returns the calls that could move into the chain before theirs: that ended
// because a later call uses one of its buffers again, and these calls never did.
func (r *Run) Merges() (all []Merge) {
	for i := range r.Chains {
		first := &r.Chains[i]
		if first.Successor < 0 || len(first.Ends) == 0 || first.Ends[0].Reason != EndOverlap || first.Distance > float64(farApart)/1e9 {
			continue
		}
		second := &r.Chains[first.Successor]
		m := Merge{Chain: first.Successor, Into: i, Because: first.Ends[0].Site}
		passes := 0
		for j := range second.Patterns {
			passes += second.Patterns[j].Seen
		}
		for j, n := range second.Movable {
			if n > 0 && n*20 >= passes*19 {
				m.Calls = append(m.Calls, j)
			}
		}
		if len(m.Calls) == 0 {
			continue
		}
		m.PerPass = r.joined(first, second, m.Calls)
		m.Total = m.PerPass * float64(min(first.Count, second.Count)) * float64(len(first.Ranks)) / float64(r.Ranks)
		m.Share = m.Total / r.Seconds
		all = append(all, m)
	}
	return all
}

// Enough is a chain that ends because a call needs the messages of one of its calls: when all have been
// started together, waiting for that one would be enough there, and the others may go on (the
// paper, section 5). Its saving adds to that of starting the calls together.
type Enough struct {
	Chain   int     `json:"chain"`
	Call    int     `json:"call"`    // of the chain: the one to wait for
	Because int     `json:"because"` // site of the call that needs it
	PerPass float64 `json:"per_pass"`
	Total   float64 `json:"total"`
	Share   float64 `json:"share"`
}

// Enoughs returns the chains of which most occurrences ended so, by the calibration: a pass saves
// what all messages take longer than those of the one call.
func (r *Run) Enoughs() (all []Enough) {
	for i := range r.Chains {
		c := &r.Chains[i]
		if len(c.Sites) < 2 || len(c.Ends) == 0 || c.Ends[0].Reason != EndOverlap || c.Ends[0].Call < 0 || c.Ends[0].Site < 0 {
			continue
		}
		e := Enough{Chain: i, Call: c.Ends[0].Call, Because: c.Ends[0].Site}
		_, together := r.estimate(c, identity(len(c.Sites)))
		_, one := r.estimate(c, []int{e.Call})
		e.PerPass = math.Max(together-one, 0)
		e.Total = e.PerPass * float64(c.Ends[0].Count) / float64(r.Ranks)
		e.Share = e.Total / r.Seconds
		if e.PerPass > 0 {
			all = append(all, e)
		}
	}
	return all
}

// Later is a chain whose wait could move down, because its received buffers are not touched at
// once. Its saving adds to the saving of starting the calls together. It needs work of the
// program between the last call and the touch.
type Later struct {
	Chain   int     `json:"chain"`
	Slack   float64 `json:"slack"` // mean seconds from its end to the first touch
	PerPass float64 `json:"per_pass"`
	Total   float64 `json:"total"`
	Share   float64 `json:"share"`
}

// Laters returns the chains for which a [Watch] saw slack. A pass saves the slack, or the
// time that the chain takes when its calls start together, whichever is less.
func (r *Run) Laters() (all []Later) {
	for i := range r.Chains {
		c := &r.Chains[i]
		if c.Slack.N == 0 || c.Slack.Mean <= 0 {
			continue
		}
		_, fixed := r.estimate(c, identity(len(c.Sites)))
		switch {
		case c.Trial != nil && c.Trial.Replayed:
			fixed = c.Written.Mean - r.Saving(i, nil).PerPass
		case c.Trial != nil:
			fixed = middle(c.Trial.Fixed)
		}
		l := Later{Chain: i, Slack: c.Slack.Mean, PerPass: math.Max(math.Min(c.Slack.Mean, fixed), 0)}
		l.Total = l.PerPass * float64(c.Count) * float64(len(c.Ranks)) / float64(r.Ranks)
		l.Share = l.Total / r.Seconds
		all = append(all, l)
	}
	return all
}

// joined estimates the saving if calls of the second chain start with the first one.
func (r *Run) joined(first, second *Chain, calls []int) (saving float64) {
	var stay []int
	for j := range second.Sites {
		if !slices.Contains(calls, j) {
			stay = append(stay, j)
		}
	}
	for i := range first.Patterns {
		a := first.Patterns[i]
		for _, b := range second.Patterns {
			if b.Rank != a.Rank {
				continue
			}
			moved, left := b.of(calls), b.of(stay)
			together := Pattern{Requests: slices.Concat(a.Requests, moved.Requests)}
			was := r.Network.Fixed(&a) + r.Network.Fixed(&b)
			is := r.Network.Fixed(&together)
			if len(left.Requests) > 0 {
				is += r.Network.Fixed(&left)
			}
			saving += (was - is) / float64(len(first.Patterns))
		}
	}
	return math.Max(saving, 0)
}
