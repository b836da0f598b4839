package advise

import (
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// Limits of measurements after the run.
const (
	fewestPairs = 6         // blocks of each form, ABBA ABBA ...
	mostPairs   = 120       // in an even number
	worthwhile  = 0.005     // share of the run from which a chain is measured
	mostScratch = 256 << 20 // bytes of scratch buffers of a rank
	usualTime   = 2.0       // seconds for all chains
	usualShare  = 0.2       // of the run, if that is longer
	untried     = "its share of the run is below 0.5 %"
	stuck       = "its calls alone wait for one another: others come between"
	unmatched   = "its sends and receives do not match one another"
	none        = -1 // no chain
)

// part is one set of messages to rehearse: a chain, or several chains that different ranks
// pass through at the same time.
type part struct {
	Chains   []int
	Budget   float64 // seconds for it
	Once     float64 // seconds of an occurrence in the run
	Passes   int
	Pairs    int
	Pause    float64   // seconds between occurrences
	Cycle    float64   // seconds from one occurrence to the next
	Index    []int     // by rank: the number of its chain there, -1: none
	Alone    bool      // its messages can be exchanged without the other calls of the program
	Patterns []Pattern // by rank; empty for ranks without a part
	Gaps     [][]float64
	At       [][]int // by rank: the number in the chain of each call that it makes
	Batches  [][]int // by rank and call of the chain: the batch of the changed form
	Split    bool    // batches end at computation, too
}

// plan chooses what to measure, on rank 0. It notes at the chains why not.
func plan(run *Run, budget float64, eager int) (parts []part) {
	var loose []int
	for i := range run.Chains {
		c := &run.Chains[i]
		switch reason := c.unfit(run); {
		case reason != "":
			c.NoTrial = reason
		case closed(c.Patterns) || len(c.Ranks) == run.Ranks && (c.comms() > 1 || !c.Even):
			parts = append(parts, newPart(run, eager, i))
		default:
			loose = append(loose, i)
		}
	}
	parts = append(parts, join(run, loose, eager)...)
	for _, p := range parts {
		if p.batch(run, true); p.Split {
			parts = append(parts, p)
		}
	}
	for i := range parts {
		parts[i].Budget = budget / float64(len(parts))
	}
	return parts
}

// share sets the number of pairs of blocks.
func (p *part) share(block float64) {
	p.Pairs = min(max(int(p.Budget/(2*block)), fewestPairs), mostPairs) / 2 * 2
}

// unfit says why a chain is not rehearsed; "" if it may be.
func (c *Chain) unfit(run *Run) string {
	switch {
	case len(c.Sites) < 2:
		return "it is a single call"
	case c.Written.Sum()/float64(run.Ranks) < worthwhile*run.Seconds:
		return untried
	}
	for i := range c.Patterns {
		scratch := 0
		for _, m := range c.Patterns[i].Requests {
			if m.Peer < 0 || m.Tag < 0 {
				return "it receives from any rank, or any tag"
			}
			scratch += m.span()
		}
		if scratch > mostScratch {
			return fmt.Sprintf("its buffers span %d bytes", scratch)
		}
	}
	return ""
}

// batch sets the batches of the changed form. If split is asked for, and makes no difference, nothing
// changes.
func (p *part) batch(run *Run, split bool) {
	all := make([][]int, run.Ranks)
	for _, i := range p.Chains {
		c := &run.Chains[i]
		b := run.batches(c, split)
		p.Split = p.Split || split && !slices.Equal(b, run.batches(c, false))
		for _, r := range c.Ranks {
			all[r] = b
		}
	}
	if !split || p.Split {
		p.Batches = all
	}
}

// comms returns how many communicators it uses.
func (c *Chain) comms() int {
	seen := map[int]bool{}
	for i := range c.Patterns {
		for j := range c.Patterns[i].Requests {
			seen[c.Patterns[i].Requests[j].Comm] = true
		}
	}
	return len(seen)
}

func newPart(run *Run, eager int, chains ...int) part {
	p := part{Chains: chains, Index: make([]int, run.Ranks), Patterns: make([]Pattern, run.Ranks), Gaps: make([][]float64, run.Ranks), At: make([][]int, run.Ranks)}
	for r := range p.Index {
		p.Index[r] = none
	}
	comms, most, even := 0, 0, true
	for _, i := range chains {
		c := &run.Chains[i]
		for _, x := range c.Patterns {
			p.Patterns[x.Rank] = x
			p.Gaps[x.Rank] = c.Gaps
		}
		for r, index := range c.index {
			p.Index[r], p.At[r] = index, c.at[r]
		}
		p.Pause = max(p.Pause, min(c.Pause, longestPause))
		p.Once = max(p.Once, c.Written.Mean)
		comms, most, even = max(comms, c.comms()), max(most, c.Count), even && c.Even
	}
	p.batch(run, false)
	p.Cycle = run.Seconds / float64(max(most, 1))
	p.Alone = comms == 1 && even && closed(p.Patterns) && completes(p.Patterns, eager)
	return p
}

// join joins chains of different ranks that exchange messages, such as the chains of even and
// odd ranks, or of ranks at the ends and between: first two, then more.
func join(run *Run, loose []int, eager int) (parts []part) {
	used := map[int]bool{}
	take := func(set []int) {
		for _, i := range set {
			used[i] = true
		}
		parts = append(parts, newPart(run, eager, set...))
	}
	for _, most := range []int{2, len(loose)} {
		for x, i := range loose {
			set := []int{i}
			for _, j := range loose[x+1:] {
				if used[i] || used[j] || !fits(run, set, j) {
					continue
				}
				if joined := append(set, j); closed(patternsOf(run, joined)) {
					take(joined)
				} else if len(joined) < most {
					set = joined
				}
			}
		}
	}
	for _, i := range loose {
		if c := &run.Chains[i]; !used[i] && len(c.Ranks) == run.Ranks {
			take([]int{i})
		} else if !used[i] {
			c.NoTrial = unmatched
		}
	}
	return parts
}

// fits reports whether other ranks pass through chain j, about as often.
func fits(run *Run, set []int, j int) bool {
	b := &run.Chains[j]
	for _, i := range set {
		a := &run.Chains[i]
		if !about(a.Count, b.Count) || intersect(a.Ranks, b.Ranks) {
			return false
		}
	}
	return true
}

// about reports whether two counts are the same, except for chains that were seen in pieces.
func about(a, b int) bool { return max(a, b)-min(a, b) <= max(2, a/4) }

func patternsOf(run *Run, chains []int) (all []Pattern) {
	for _, i := range chains {
		all = append(all, run.Chains[i].Patterns...)
	}
	return all
}

func intersect(a, b []int) bool {
	return slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}

// measureAll measures on all ranks, and puts the results into run of rank 0.
func (s *session) measureAll(run *Run) error {
	var parts []part
	if s.c.Rank() == 0 && s.options.Rehearse >= 0 {
		budget := s.options.Rehearse.Seconds()
		if budget == 0 {
			budget = max(usualTime, usualShare*run.Seconds)
		}
		parts = plan(run, budget, (*engine.Comm)(s.c).Engine().Limits().Eager)
	}
	if err := broadcast(s.c, &parts); err != nil {
		return err
	}
	if len(parts) > 0 {
		s.rate = measureRate()
	}
	start := osthread.Nanotime()
	for i := range parts {
		if err := s.measure(run, &parts[i]); err != nil {
			return fmt.Errorf("measurement of chain %d: %w", parts[i].Chains[0], err)
		}
	}
	if run != nil {
		run.Rehearsed = seconds(osthread.Nanotime() - start)
	}
	return nil
}

// measure measures one part: by a replay if it can, otherwise by a rehearsal of its messages alone.
func (s *session) measure(run *Run, p *part) error {
	if !slices.Contains(p.Index, none) {
		done, err := s.replay(run, p)
		if done || err != nil {
			return err
		}
	}
	if p.Alone {
		p.divide(p.Once+p.Pause, blockTime)
		return s.rehearse(run, p)
	}
	if run == nil {
		return nil
	}
	for _, i := range p.Chains {
		run.Chains[i].NoTrial = stuck
		if !closed(p.Patterns) {
			run.Chains[i].NoTrial = unmatched
		}
	}
	return nil
}

// tried keeps the trial of a part.
func (c *Chain) tried(p *part, t *Trial) {
	if p.Split {
		c.Split = t
	} else {
		c.Trial = t
	}
}
