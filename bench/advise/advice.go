package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/rewrite"
	"github.com/weft-hpc/weft/internal/advise"
)

// advice holds the findings on one run.
type advice struct {
	File      string          `json:"file"`
	Run       *advise.Run     `json:"-"`
	Program   string          `json:"program"`
	Ranks     int             `json:"ranks"`
	Size      float64         `json:"size,omitempty"`
	Seconds   float64         `json:"seconds"`
	Tool      float64         `json:"tool_seconds"`
	Items     []*item         `json:"advice"`  // worth it, even at the lower end of the spread, and proven
	Small     []*item         `json:"small"`   // proven, but below -min, or no saving at all
	Refused   []refusal       `json:"refused"` // with reasons
	Merges    []advise.Merge  `json:"merges,omitempty"`
	Laters    []advise.Later  `json:"later_waits,omitempty"`
	Enoughs   []advise.Enough `json:"one_is_enough,omitempty"`
	Saving    float64         `json:"saving_seconds"` // of Items
	Low       float64         `json:"saving_low"`
	High      float64         `json:"saving_high"`
	Speedup   float64         `json:"speedup"`
	Followed  bool            `json:"followed,omitempty"` // the changes have been made: Saving is what was predicted then
	Races     []race          `json:"races,omitempty"`
	program   *rewrite.Program
	overlaps  map[[2]rewrite.Site]int // pairs of calls that have shared memory, and how often
	noProgram map[string]string       // by file: why its source cannot be used
}

// item is a change: calls that are started together.
type item struct {
	File      string        `json:"file"`
	Line      int           `json:"line"`
	Last      int           `json:"last_line"`
	Func      string        `json:"func"`
	Count     int           `json:"count"`
	Calls     int           `json:"calls"`
	Saving    advise.Saving `json:"saving"`
	Slack     float64       `json:"slack_seconds,omitempty"` // from the wait to the first touch, where that was seen
	Before    string        `json:"before"`
	After     string        `json:"after"`
	EndReason string        `json:"end"`
	Seen      string        `json:"seen"` // the messages for which it was measured
	change    *rewrite.Change
	chains    []int
}

// refusal is a place that stays as it is, for one reason, and what a change might have saved.
type refusal struct {
	Place     string  `json:"place"`
	Reason    string  `json:"reason"`
	Count     int     `json:"count"`   // passes
	Seconds   float64 `json:"seconds"` // of a rank, in the calls
	Potential float64 `json:"potential_seconds"`
	Share     float64 `json:"share"` // of the program: the potential
	file      string
	line      int
}

// refuse notes a refusal; those of one place and reason are one.
func (a *advice) refuse(s *advise.Site, x refusal) {
	x.Place, x.file, x.line = place(s), s.File, s.Line
	for i := range a.Refused {
		if y := &a.Refused[i]; y.Place == x.Place && y.Reason == x.Reason {
			y.Count += x.Count
			y.Seconds += x.Seconds
			y.Potential += x.Potential
			y.Share += x.Share
			return
		}
	}
	a.Refused = append(a.Refused, x)
}

// race is a use of a buffer before its wait.
type race struct {
	Request string `json:"request"`
	Other   string `json:"other"`
	Kind    string `json:"kind"`
	Count   int    `json:"count,omitempty"`
}

// consider makes the advice for a run; min is the share from which it is given.
func consider(file string, r *advise.Run, min float64) *advice {
	a := &advice{File: file, Run: r, Program: r.Program, Ranks: r.Ranks, Size: r.Size, Seconds: r.Seconds, Tool: r.Tool, Merges: r.Merges(), Laters: r.Laters(), Enoughs: r.Enoughs()}
	a.load()
	all := map[string]*item{}
	a.findOverlaps()
	for i := range r.Chains {
		a.chain(i, all)
	}
	for _, p := range r.Collectives {
		if p.Seconds >= 0.01*r.Seconds {
			a.refuse(&r.Sites[p.Site], refusal{Count: p.Count, Seconds: p.Seconds, Reason: "it is collective: only data sent in pieces, as they get ready, or a task of a communication thread, would overlap"})
		}
	}
	fold(all)
	for _, it := range all {
		sure := it.Saving.Low > 0 || min == 0 // asked for everything
		if it.Saving.Share >= min && it.Saving.Total > 0 && sure {
			a.Items = append(a.Items, it)
			a.Saving += it.Saving.Total
			a.Low += it.Saving.Low * it.Saving.Passes
			a.High += it.Saving.High * it.Saving.Passes
		} else {
			a.Small = append(a.Small, it)
		}
	}
	byTotal := func(x, y *item) int {
		return cmp.Or(cmp.Compare(y.Saving.Total, x.Saving.Total), cmp.Compare(x.Line, y.Line))
	}
	slices.SortFunc(a.Items, byTotal)
	slices.SortFunc(a.Small, byTotal)
	slices.SortStableFunc(a.Refused, func(x, y refusal) int { return cmp.Compare(y.Potential, x.Potential) })
	if p := r.Promised; p != nil && len(a.Items) == 0 && len(a.noProgram) > 0 {
		a.Saving, a.Low, a.High, a.Followed = p.Saving, p.Low, p.High, true
	}
	a.Speedup = r.Speedup(a.Saving)
	a.races()
	return a
}

// fold puts a change that is part of a larger one into it: a chain that was seen in pieces
// now and then.
func fold(all map[string]*item) {
	for k, x := range all {
		for _, y := range all {
			if x != y && x.File == y.File && y.Line <= x.Line && x.Last <= y.Last {
				y.Saving.Add(x.Saving)
				delete(all, k)
				break
			}
		}
	}
}

func nonzero(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

// load reads the source of the chains. Files that have changed since the run are left out.
func (a *advice) load() {
	a.noProgram = map[string]string{}
	var files []string
	for _, s := range a.Run.Sources {
		if a.Run.Unchanged(s.File) {
			files = append(files, s.File)
		} else if _, err := os.Stat(s.File); err != nil {
			a.noProgram[s.File] = s.File + " is not there (programs built with -trimpath do not know their files)"
		} else {
			a.noProgram[s.File] = s.File + " has changed since the run: run the program again"
		}
	}
	if len(files) == 0 {
		return
	}
	p, err := rewrite.Load(files...)
	if err != nil {
		for _, f := range files {
			a.noProgram[f] = err.Error()
		}
		return
	}
	a.program = p
}

// unread says why the source of a chain cannot be used; "" if it can.
func (a *advice) unread(c *advise.Chain) string {
	for _, s := range c.Sites {
		if why := a.noProgram[a.Run.Sites[s].File]; why != "" {
			return why
		}
	}
	return ""
}

// alone notes a call that is a chain by itself, if the program spends time in it.
func (a *advice) alone(i int) {
	r := a.Run
	c := &r.Chains[i]
	took := c.Written.Sum() / float64(r.Ranks)
	if took < 0.01*r.Seconds || len(c.Ends) == 0 {
		return
	}
	a.refuse(&r.Sites[c.Sites[0]], refusal{Count: c.Count, Seconds: took, Reason: "it stands alone, and next comes: " + c.Ends[0].Reason + ". Only work put behind an earlier start would hide it, or a task"})
}

// chain adds the possible changes of a chain to all, by place, and notes the refused ones.
func (a *advice) chain(i int, all map[string]*item) {
	r := a.Run
	c := &r.Chains[i]
	if len(c.Sites) < 2 {
		a.alone(i)
		return
	}
	if why := a.unread(c); why != "" || a.program == nil {
		s := r.Saving(i, nil)
		a.refuse(&r.Sites[c.Sites[0]], a.stake(c, why, s))
		return
	}
	if c.Peers {
		s := r.Saving(i, nil)
		a.refuse(&r.Sites[c.Sites[0]], a.stake(c, "its messages went to other ranks in some passes than in others: what was measured does not hold for all of them", s))
		return
	}
	sites := sitesOf(r, c)
	changes, refusals := a.program.Chain(sites, rewrite.Evidence{Wild: c.Wild(), Seen: seen(r, c), Apart: func(i, j int) string {
		if n := a.overlaps[[2]rewrite.Site{siteOf(r, c.Sites[i]), siteOf(r, c.Sites[j])}]; n > 0 {
			return fmt.Sprintf("its buffers share memory with those of line %d, seen %d times: it has to wait for that call", sites[i].Line, n)
		}
		return ""
	}})
	for _, x := range changes {
		a.add(i, x, all)
	}
	for _, x := range refusals {
		s := advise.Saving{}
		if len(x.Calls) > 1 || len(changes) == 0 {
			s = r.Saving(i, nil)
		}
		a.refuse(&r.Sites[c.Sites[x.Calls[len(x.Calls)-1]]], a.stake(c, x.Reason, s))
	}
}

// stake returns a refusal of a chain.
func (a *advice) stake(c *advise.Chain, reason string, s advise.Saving) refusal {
	return refusal{Reason: reason, Count: c.Count, Seconds: c.Written.Sum() / float64(a.Run.Ranks), Potential: max(s.Total, 0), Share: max(s.Share, 0)}
}

// findOverlaps collects the pairs of calls that once shared memory, where either received.
func (a *advice) findOverlaps() {
	a.overlaps = map[[2]rewrite.Site]int{}
	for i := range a.Run.Chains {
		c := &a.Run.Chains[i]
		for _, e := range c.Ends {
			if e.Reason != advise.EndOverlap || e.Site < 0 {
				continue
			}
			for _, s := range c.Sites {
				a.overlaps[[2]rewrite.Site{siteOf(a.Run, s), siteOf(a.Run, e.Site)}] += e.Count
			}
		}
	}
}

// seen says for which messages the run holds.
func seen(r *advise.Run, c *advise.Chain) string {
	least, most := 0, 0
	for _, p := range c.Patterns {
		for i := range p.Requests {
			n := p.Requests[i].Bytes()
			if least == 0 || n < least {
				least = n
			}
			most = max(most, n)
		}
	}
	sizes := fmt.Sprintf("%d", most)
	if least < most {
		sizes = fmt.Sprintf("%d to %d", least, most)
	}
	text := fmt.Sprintf("Under way together where they share no memory; measured with messages of %s bytes on %d ranks", sizes, r.Ranks)
	if r.Size > 0 {
		text += fmt.Sprintf(", size %g", r.Size)
	}
	return text + "."
}

// siteOf returns the place of a site, without its caller.
func siteOf(r *advise.Run, s int) rewrite.Site {
	return rewrite.Site{File: r.Sites[s].File, Line: r.Sites[s].Line, API: r.Sites[s].API}
}

func sitesOf(r *advise.Run, c *advise.Chain) (sites []rewrite.Site) {
	for _, s := range c.Sites {
		site := siteOf(r, s)
		if callers := r.Sites[s].Callers; len(callers) > 0 {
			site.Caller = callers[0]
		}
		sites = append(sites, site)
	}
	return sites
}

// add takes a change; one place may be part of several chains.
func (a *advice) add(i int, x *rewrite.Change, all map[string]*item) {
	r := a.Run
	c := &r.Chains[i]
	calls := x.Calls
	if len(calls) == len(c.Sites) {
		calls = nil
	}
	s := r.Saving(i, calls)
	key := fmt.Sprintf("%s:%d-%d", x.File, x.Line, x.Last)
	it := all[key]
	if it == nil {
		it = &item{File: x.File, Line: x.Line, Last: x.Last, Calls: len(x.Calls), Before: x.Before, After: x.After, Saving: s, Count: c.Count, change: x,
			Func: r.Sites[c.Sites[x.Calls[0]]].Func, Slack: c.Slack.Mean, Seen: seen(r, c)}
		if len(c.Ends) > 0 {
			it.EndReason = c.Ends[0].Reason
		}
		all[key] = it
	} else {
		it.Saving.Add(s)
		it.Count += c.Count
	}
	if !slices.Contains(it.chains, i) {
		it.chains = append(it.chains, i)
	}
}

// races collects the races that the run saw and those that the source shows.
func (a *advice) races() {
	seen := map[race]int{}
	for _, x := range a.Run.Races {
		q, o := &a.Run.Sites[x.Request], &a.Run.Sites[x.Other]
		k := race{Request: place(q), Other: place(o), Kind: x.Kind}
		if x.Kind == advise.RaceWritten {
			k.Kind += " before the wait"
		}
		if x.Touch != "" {
			k.Other = x.Touch
		}
		seen[k] += x.Count
	}
	for k, n := range seen {
		k.Count = n
		a.Races = append(a.Races, k)
	}
	if a.program != nil {
		for _, t := range a.program.EarlyTouches() {
			verb := "reads"
			if t.Writes {
				verb = "writes to"
			}
			a.Races = append(a.Races, race{Request: fmt.Sprintf("%s at %s:%d", t.API, t.File, t.Request), Other: fmt.Sprintf("%s:%d", t.File, t.Line),
				Kind: fmt.Sprintf("the program %s %s before the wait (seen in the source)", verb, t.Name)})
		}
	}
	slices.SortFunc(a.Races, func(x, y race) int {
		return cmp.Or(cmp.Compare(x.Request, y.Request), cmp.Compare(x.Other, y.Other), cmp.Compare(x.Kind, y.Kind))
	})
}

func place(s *advise.Site) string { return fmt.Sprintf("%s at %s:%d", s.API, s.File, s.Line) }
