package advise

import (
	"math"
	"slices"
)

// Saving is the expected saving if calls of a chain start together.
type Saving struct {
	PerPass float64 `json:"per_pass"` // seconds of an occurrence
	// Low and High are the 95 % interval of the median of the pairs of blocks. For an
	// estimate, they differ from it by its error for the time as written.
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Passes    float64 `json:"passes"`    // occurrences, mean of all ranks
	Total     float64 `json:"total"`     // seconds of the program, mean of all ranks
	Share     float64 `json:"share"`     // of the program
	Rehearsed bool    `json:"rehearsed"` // measured; otherwise estimated from the calibration
	Part      bool    `json:"part"`      // only a part of the chain, in the ratio of the estimates
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
	if c.Trial != nil {
		s.Rehearsed = true
		share := 1.0
		if s.Part {
			w, f := r.estimate(c, identity(len(c.Sites)))
			share = ratio(s.PerPass, w-f)
		}
		pairs := make([]float64, len(c.Trial.Written))
		for i := range pairs {
			pairs[i] = share * (c.Trial.Written[i] - c.Trial.Fixed[i])
		}
		s.PerPass = middle(pairs)
		s.Low, s.High = bounds(pairs)
	} else {
		off := math.Abs(measured - written) // the error of the estimate
		s.Low, s.High = s.PerPass-off, s.PerPass+off
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
	s.Total, s.Share = s.Total+o.Total, s.Share+o.Share
	s.Rehearsed, s.Part = s.Rehearsed && o.Rehearsed, s.Part || o.Part
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
		if first.Successor < 0 || len(first.Ends) == 0 || first.Ends[0].Reason != "overlap" || first.Distance > float64(farApart)/1e9 {
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
		if c.Trial != nil {
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
