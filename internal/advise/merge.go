package advise

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
)

// rankData is the data that a rank sends to rank 0.
type rankData struct {
	Sites      []Site
	Chains     []rankChain
	Races      []Race
	Seconds    float64
	Tool       float64
	Collective map[int]Summary // by site
	Waits      float64
	Inside     float64
	Memory     float64
	Messages   int
	Thread     int
	Heap       int
}

// rankChain is a chain of one rank.
type rankChain struct {
	Sites    []int
	Count    int
	Written  Summary
	Between  Summary
	Before   Summary
	Pause    float64
	Slack    Summary
	Calls    []Summary
	Gaps     []Summary
	Ends     []End
	Movable  []int
	Pattern  Pattern
	Varied   bool
	Peers    bool
	Next     int // in Chains, -1: none
	Distance float64
}

// gather brings the data of all ranks to rank 0, which merges them; nil on others.
func (s *session) gather() (*Run, error) {
	t := s.t
	d := &rankData{Sites: t.places.sites, Races: t.verify.found(), Seconds: s.took, Tool: seconds(t.tool), Waits: seconds(t.waits), Inside: seconds(t.inside),
		Memory: s.grown(), Messages: t.messages, Thread: t.threadCalls, Heap: t.heap}
	d.Collective = map[int]Summary{}
	for site, sum := range t.collectives {
		d.Collective[site] = *sum
	}
	for _, st := range t.order {
		d.Chains = append(d.Chains, st.tell())
	}
	all, err := collect(s.c, d)
	if err != nil || s.c.Rank() != 0 {
		return nil, err
	}
	return merge(all, s.options.Size), nil
}

// grown returns the memory that the body has added, per rank: ranks inside one process
// share it.
func (s *session) grown() float64 {
	n := max(resident()-s.memory, 0)
	if (*engine.Comm)(s.c).Engine().Name() == "local" {
		n /= float64(s.c.Size())
	}
	return n
}

func (s *chainStats) tell() rankChain {
	c := rankChain{Sites: s.sites, Count: s.count, Written: s.written, Between: s.between, Before: s.before, Pause: s.pause.median(), Slack: s.slack,
		Calls: s.calls, Gaps: s.gaps, Movable: s.movable, Pattern: s.common(), Varied: len(s.patterns) > 1, Peers: s.otherPeers(), Next: -1}
	for e, n := range s.ends {
		e.Count = n
		c.Ends = append(c.Ends, e)
	}
	most := 0
	for _, i := range slices.Sorted(maps.Keys(s.next)) {
		if d := s.next[i]; d.N > most {
			most, c.Next, c.Distance = d.N, i, d.Mean
		}
	}
	return c
}

// merger numbers the sites and chains of all ranks.
type merger struct {
	run   *Run
	sites map[string]int
	of    [][]int // by chain and call: how many ranks have gone into the mean
}

// merge merges the data of the ranks. Chains are the same if their calls are at the same
// sites. A chain that lacks some calls of another one, because a rank at the edge of a grid
// has fewer neighbours, is part of the other one.
func merge(all []*rankData, size float64) *Run {
	m := &merger{run: &Run{Ranks: len(all), Size: size}, sites: map[string]int{}}
	type item struct {
		rank  int
		index int
		sites []int
	}
	var items []item
	for rank, d := range all {
		m.totals(d, len(all))
		number := make([]int, len(d.Sites))
		for i := range d.Sites {
			number[i] = m.site(&d.Sites[i])
		}
		for i, c := range d.Chains {
			items = append(items, item{rank, i, renumber(c.Sites, number)})
			m.renumberEnds(all[rank].Chains[i].Ends, number)
		}
		for site, sum := range d.Collective {
			m.collective(number[site], sum, len(all))
		}
		for _, x := range d.Races {
			x.Request, x.Other = number[x.Request], number[x.Other]
			m.run.Races = append(m.run.Races, x)
		}
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(len(b.sites), len(a.sites)) })
	places := map[[2]int]int{}
	for _, it := range items {
		at := m.add(it.rank, it.sites, &all[it.rank].Chains[it.index])
		places[[2]int{it.rank, it.index}] = at
		m.run.Chains[at].index[it.rank] = it.index
	}
	for _, it := range items {
		c := &m.run.Chains[places[[2]int{it.rank, it.index}]]
		if next := all[it.rank].Chains[it.index].Next; next >= 0 && c.Successor < 0 {
			c.Successor, c.Distance = places[[2]int{it.rank, next}], all[it.rank].Chains[it.index].Distance
		}
	}
	m.finish()
	return m.run
}

func renumber(sites, number []int) []int {
	out := make([]int, len(sites))
	for i, s := range sites {
		out[i] = number[s]
	}
	return out
}

func (m *merger) renumberEnds(ends []End, number []int) {
	for i := range ends {
		if ends[i].Site >= 0 {
			ends[i].Site = number[ends[i].Site]
		}
	}
}

func (m *merger) totals(d *rankData, ranks int) {
	r := m.run
	r.Seconds = max(r.Seconds, d.Seconds)
	r.Tool = max(r.Tool, d.Tool)
	r.Memory = max(r.Memory, d.Memory)
	r.Waits += d.Waits / float64(ranks)
	r.Inside += d.Inside / float64(ranks)
	r.Messages += d.Messages
	r.TaskCalls += d.Thread
	r.HeapBuffers += d.Heap
}

// collective adds the time of collective calls at a site on one of the ranks.
func (m *merger) collective(site int, sum Summary, ranks int) {
	i := slices.IndexFunc(m.run.Collectives, func(p Place) bool { return p.Site == site })
	if i < 0 {
		i = len(m.run.Collectives)
		m.run.Collectives = append(m.run.Collectives, Place{Site: site})
	}
	m.run.Collectives[i].Count += sum.N
	m.run.Collectives[i].Seconds += sum.Sum() / float64(ranks)
}

func (m *merger) site(s *Site) int {
	key := fmt.Sprint(*s)
	i, known := m.sites[key]
	if !known {
		i = len(m.run.Sites)
		m.sites[key] = i
		m.run.Sites = append(m.run.Sites, *s)
	}
	return i
}

// add puts a chain of a rank into the one it is part of, and returns its number. Longer
// chains come first.
func (m *merger) add(rank int, sites []int, c *rankChain) int {
	into, at := -1, []int(nil)
	for i := range m.run.Chains {
		have := &m.run.Chains[i]
		if slices.Contains(have.Ranks, rank) { // other chain of the same rank
			continue
		}
		if pos := within(sites, have.Sites); pos != nil && (into < 0 || len(have.Sites) == len(sites)) {
			into, at = i, pos
		}
	}
	if into < 0 {
		into = len(m.run.Chains)
		at = identity(len(sites))
		m.run.Chains = append(m.run.Chains, Chain{Sites: sites, Even: true, Successor: -1, Calls: make([]float64, len(sites)), Gaps: make([]float64, len(sites)), Movable: make([]int, len(sites)), Count: c.Count, index: map[int]int{}, at: map[int][]int{}})
		m.of = append(m.of, make([]int, len(sites)))
	}
	have := &m.run.Chains[into]
	have.Even = have.Even && about(c.Count, have.Count)
	have.Count = max(have.Count, c.Count)
	have.Ranks = append(have.Ranks, rank)
	have.at[rank] = at
	have.Varied = have.Varied || c.Varied
	have.Peers = have.Peers || c.Peers
	have.Written.Merge(c.Written)
	have.Between.Merge(c.Between)
	have.Before.Merge(c.Before)
	have.Slack.Merge(c.Slack)
	have.Pause += c.Pause
	for i, p := range at {
		have.Calls[p] += c.Calls[i].Mean
		have.Gaps[p] += c.Gaps[i].Mean
		have.Movable[p] += c.Movable[i]
		m.of[into][p]++
	}
	for _, e := range c.Ends {
		if e.Call >= 0 {
			e.Call = at[e.Call]
		}
		have.addEnd(e)
	}
	p := c.Pattern
	p.Rank = rank
	for i := range p.Requests {
		p.Requests[i].Call = at[p.Requests[i].Call]
	}
	have.Patterns = append(have.Patterns, p)
	return into
}

func (c *Chain) addEnd(e End) {
	for i := range c.Ends {
		if c.Ends[i].Reason == e.Reason && c.Ends[i].Site == e.Site && c.Ends[i].Call == e.Call {
			c.Ends[i].Count += e.Count
			return
		}
	}
	c.Ends = append(c.Ends, e)
}

func identity(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// within returns the indices of the elements of part in whole, in order; nil if part is not a
// subsequence.
func within(part, whole []int) (at []int) {
	for i, x := range whole {
		if len(at) < len(part) && part[len(at)] == x {
			at = append(at, i)
		}
	}
	if len(at) < len(part) {
		return nil
	}
	return at
}

func (m *merger) finish() {
	slices.SortFunc(m.run.Collectives, func(a, b Place) int { return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Site, b.Site)) })
	for i := range m.run.Chains {
		c := &m.run.Chains[i]
		for j := range c.Calls {
			c.Calls[j] /= float64(m.of[i][j])
			c.Gaps[j] /= float64(m.of[i][j])
		}
		slices.SortFunc(c.Ends, func(a, b End) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Call, b.Call))
		})
		c.Pause /= float64(len(c.Ranks))
		slices.Sort(c.Ranks)
		slices.SortFunc(c.Patterns, func(a, b Pattern) int { return cmp.Compare(a.Rank, b.Rank) })
	}
}
