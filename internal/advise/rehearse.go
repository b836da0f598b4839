package advise

import (
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Limits of a rehearsal.
const (
	fewestPairs  = 6         // blocks of each form, ABBA ABBA ...
	mostPairs    = 120       // in an even number
	fewestPasses = 8         // of a block
	mostPasses   = 400       //
	blockTime    = 5e-3      // seconds that a block takes about: what interrupts one spoils no other
	worthwhile   = 0.005     // share of the run from which a chain is rehearsed
	longestPause = 2e-3      // seconds: longer computation between occurrences is cut to it
	mostScratch  = 256 << 20 // bytes of scratch buffers of a rank
	usualTime    = 2.0       // seconds for all chains
	usualShare   = 0.2       // of the run, if that is longer
	untried      = "its share of the run is below 0.5 %"
	stuck        = "its calls alone wait for one another: others come between"
)

// part is one set of messages to rehearse: a chain, or several chains that different ranks
// pass through at the same time.
type part struct {
	Chains   []int
	Passes   int
	Pairs    int
	Pause    float64   // seconds between occurrences
	Patterns []Pattern // by rank; empty for ranks without a part
	Gaps     [][]float64
}

// plan chooses what to rehearse, on rank 0. It notes at the chains why not.
func plan(run *Run, budget float64, eager int) (parts []part) {
	var loose []int
	for i := range run.Chains {
		c := &run.Chains[i]
		switch reason := c.unfit(run); {
		case reason != "":
			c.NoTrial = reason
		case closed(c.Patterns):
			if p := newPart(run, i); completes(p.Patterns, eager) {
				parts = append(parts, p)
			} else {
				c.NoTrial = stuck
			}
		default:
			loose = append(loose, i)
		}
	}
	parts = append(parts, join(run, loose, eager)...)
	for i := range parts {
		p := &parts[i]
		c := &run.Chains[p.Chains[0]]
		once := c.Written.Mean + p.Pause
		p.divide(once, budget/float64(len(parts)))
	}
	return parts
}

// divide sets the number of passes, each of which takes once, in some seconds.
func (p *part) divide(once, budget float64) {
	once = max(once, 1e-7)
	p.Passes = min(max(int(blockTime/once), fewestPasses), mostPasses)
	p.Pairs = min(max(int(budget/(2*once*float64(p.Passes+1))), fewestPairs), mostPairs) / 2 * 2
}

// unfit says why a chain is not rehearsed; "" if it may be.
func (c *Chain) unfit(run *Run) string {
	switch {
	case len(c.Sites) < 2:
		return "it is a single call"
	case c.Written.Sum()/float64(run.Ranks) < worthwhile*run.Seconds:
		return untried
	case !c.Even:
		return "ranks passed through it a different number of times"
	}
	for i := range c.Patterns {
		scratch := 0
		for _, m := range c.Patterns[i].Requests {
			if m.Peer < 0 || m.Tag < 0 {
				return "it receives from any rank, or any tag"
			}
			if m.Comm != c.Patterns[0].Requests[0].Comm {
				return "it uses several communicators"
			}
			scratch += m.span()
		}
		if scratch > mostScratch {
			return fmt.Sprintf("its buffers span %d bytes", scratch)
		}
	}
	return ""
}

func newPart(run *Run, chains ...int) part {
	p := part{Chains: chains, Patterns: make([]Pattern, run.Ranks), Gaps: make([][]float64, run.Ranks)}
	for _, i := range chains {
		c := &run.Chains[i]
		for _, x := range c.Patterns {
			p.Patterns[x.Rank] = x
			p.Gaps[x.Rank] = c.Gaps
		}
		p.Pause = max(p.Pause, min(c.Pause, longestPause))
	}
	return p
}

// join joins chains of different ranks that exchange messages, such as the chains of even and
// odd ranks, or of ranks at the ends and between: first two, then more.
func join(run *Run, loose []int, eager int) (parts []part) {
	used := map[int]bool{}
	take := func(set []int) {
		p := newPart(run, set...)
		whole := completes(p.Patterns, eager)
		for _, i := range set {
			used[i] = true
			if !whole {
				run.Chains[i].NoTrial = stuck
			}
		}
		if whole {
			parts = append(parts, p)
		}
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
		if !used[i] {
			run.Chains[i].NoTrial = "its sends and receives do not match one another"
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

// rehearseAll rehearses on all ranks and puts the results into run of rank 0.
func (s *session) rehearseAll(run *Run) error {
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
		if err := s.rehearse(run, &parts[i]); err != nil {
			return fmt.Errorf("rehearsal of chain %d: %w", parts[i].Chains[0], err)
		}
	}
	if run != nil {
		run.Rehearsed = seconds(osthread.Nanotime() - start)
	}
	return nil
}

// rehearse measures one part.
func (s *session) rehearse(run *Run, p *part) error {
	mine := newScene(s.c, s.rate, &p.Patterns[s.c.Rank()], p.Gaps[s.c.Rank()])
	var times [2][]float64
	for block := range 2 * p.Pairs {
		form := (block + 1) / 2 % 2 // ABBA
		t, err := s.block(mine, form, p)
		if err != nil {
			return err
		}
		times[form] = append(times[form], t)
	}
	sums := slices.Concat(times[0], times[1])
	if err := s.c.Allreduce(mpi.InPlace, mpi.Of(sums), mpi.Sum); err != nil {
		return err
	}
	if run == nil {
		return nil
	}
	takes := 0
	for _, x := range p.Patterns {
		if len(x.Requests) > 0 {
			takes++
		}
	}
	for i := range sums {
		sums[i] /= float64(max(takes, 1))
	}
	for _, i := range p.Chains {
		run.Chains[i].Trial = &Trial{Written: sums[:p.Pairs:p.Pairs], Fixed: sums[p.Pairs:], Passes: p.Passes}
	}
	return nil
}

// block passes through the chain several times and returns the mean time of a pass without
// the pause; 0 on ranks that have no part in it. The first pass is not timed: the time runs
// from its end to the end of the last pass, at the same phase of an exchange.
func (s *session) block(mine *scene, form int, p *part) (float64, error) {
	if err := s.c.Barrier(); err != nil {
		return 0, err
	}
	if len(mine.calls) == 0 {
		return 0, nil
	}
	var start int64
	for pass := range p.Passes + 1 {
		var err error
		if form == 0 {
			err = mine.written()
		} else {
			err = mine.fixed()
		}
		if err != nil {
			return 0, err
		}
		s.rate.spend(p.Pause)
		if pass == 0 {
			start = osthread.Nanotime()
		}
	}
	return seconds(osthread.Nanotime()-start)/float64(p.Passes) - p.Pause, nil
}

// scene is a pattern with buffers.
type scene struct {
	c        *mpi.Comm
	rate     rate
	calls    []prop
	requests []*mpi.Request
}

// prop is a call of it.
type prop struct {
	gap        float64 // seconds before it
	send, recv *Message
	out, in    mpi.Buffer
}

func newScene(c *mpi.Comm, r rate, p *Pattern, gaps []float64) *scene {
	s := &scene{c: c, rate: r}
	at := -1
	for i := range p.Requests {
		m := &p.Requests[i]
		if m.Call != at || len(s.calls) == 0 {
			at = m.Call
			s.calls = append(s.calls, prop{})
			if len(s.calls) > 1 {
				s.calls[len(s.calls)-1].gap = gaps[m.Call]
			}
		}
		k := &s.calls[len(s.calls)-1]
		memory := make([]byte, m.span())
		for i := range memory { // pages of their own, as the program's
			memory[i] = byte(i)
		}
		b := mpi.Strided(memory, m.Blocks, m.Block, m.Stride)
		if m.Recv {
			k.recv, k.in = m, b
		} else {
			k.send, k.out = m, b
		}
	}
	return s
}

// written makes the calls as the program made them.
func (s *scene) written() error {
	for i := range s.calls {
		k := &s.calls[i]
		if i > 0 {
			s.rate.spend(k.gap)
		}
		var err error
		switch {
		case k.send != nil && k.recv != nil:
			_, err = s.c.Sendrecv(k.out, k.send.Peer, k.send.Tag, k.in, k.recv.Peer, k.recv.Tag)
		case k.recv != nil:
			_, err = s.c.Recv(k.in, k.recv.Peer, k.recv.Tag)
		case k.send.Sync:
			err = s.c.Ssend(k.out, k.send.Peer, k.send.Tag)
		default:
			err = s.c.Send(k.out, k.send.Peer, k.send.Tag)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fixed makes the calls as after the rewrite.
func (s *scene) fixed() error {
	s.requests = s.requests[:0]
	for i := range s.calls {
		k := &s.calls[i]
		if i > 0 {
			s.rate.spend(k.gap)
		}
		if k.recv != nil {
			s.requests = append(s.requests, s.c.Irecv(k.in, k.recv.Peer, k.recv.Tag))
		}
		if k.send != nil && k.send.Sync {
			s.requests = append(s.requests, s.c.Issend(k.out, k.send.Peer, k.send.Tag))
		} else if k.send != nil {
			s.requests = append(s.requests, s.c.Isend(k.out, k.send.Peer, k.send.Tag))
		}
	}
	return mpi.Waitall(s.requests...)
}
