package advise

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Set is several runs of one program with different problem sizes, and perhaps numbers
// of ranks (the paper, section 3.4: an analysis set).
//
// The time of a pass through a chain is its computation, as much longer as ranks share cores, and
// the rest, which is communication. Computation follows a curve in the size and the number of
// ranks. The rest is a line in the bytes of a pass; what a change saves, in their root. Lines come
// from the runs with about as many ranks, since latencies depend on who talks to whom.
type Set struct {
	runs      []*Run
	chains    []*chainSet
	computing Curve // seconds of a rank, by pass
	passes    Curve // of a rank, through all chains
	bytes     Curve // that a rank sends and receives in a pass, mean of all chains
	memory    Curve
	usable    func(r *Run, chain int) []int // calls that would be started together; nil: none
}

// chainSet is a chain in the runs of a set.
type chainSet struct {
	key    string
	in     []*Run
	number []int // of the chain in each of them
	count  Curve // passes of a rank
	bytes  Curve // sent and received in a pass, mean of the ranks

	transfers []transfer
}

// transfer is a message of a chain: the one that a call sends, or receives.
type transfer struct {
	call    int
	receive bool
	bytes   Curve // mean of the ranks that have it
}

// Unknown is the error of a projection from too few runs to tell.
const Unknown = -1

// Projection is the forecast of a set for a size and a number of ranks.
type Projection struct {
	Size     float64         `json:"size"`
	Ranks    int             `json:"ranks"`
	Written  float64         `json:"written_seconds"`
	Fixed    float64         `json:"fixed_seconds"`
	Speedup  float64         `json:"speedup"`
	Error    float64         `json:"error"` // expected relative error of the times, or Unknown
	Chains   []ChainForecast `json:"chains"`
	Warnings []string        `json:"warnings,omitempty"`
}

// ChainForecast is the part of a chain in a projection.
type ChainForecast struct {
	Key     string  `json:"key"`
	Bytes   float64 `json:"bytes"`
	Saving  float64 `json:"saving_seconds"`  // of the program
	PerPass float64 `json:"saving_per_pass"` // of an occurrence

	Transfers []Transfer `json:"transfers"`
}

// Transfer is a message of a chain, with its curve.
type Transfer struct {
	Call    string  `json:"call"` // "Sendrecv at file:line"
	Receive bool    `json:"receive"`
	Curve   string  `json:"curve"` // bytes, of the size n and p ranks
	Bytes   float64 `json:"bytes"` // at the projected point
}

// NewSet fits a set of runs. usable returns the calls of a chain that are to be started
// together. Errors: runs of different programs, a run without a size, fewer than two sizes.
func NewSet(runs []*Run, usable func(r *Run, chain int) []int) (*Set, error) {
	if len(runs) < 2 {
		return nil, errors.New("a set has at least two runs, with different sizes")
	}
	sizes := map[float64]bool{}
	for _, r := range runs {
		switch {
		case r.Program != runs[0].Program:
			return nil, fmt.Errorf("runs of %s and of %s: a set is of one program", runs[0].Program, r.Program)
		case !(r.Size > 0):
			return nil, fmt.Errorf("a run of %s on %d ranks does not know its problem size: run it with %s=S, or give -size S with its file alone", r.Program, r.Ranks, SizeVariable)
		}
		sizes[r.Size] = true
	}
	if len(sizes) < 2 {
		return nil, fmt.Errorf("all runs have the size %g: a set has at least two", runs[0].Size)
	}
	s := &Set{runs: runs, usable: usable}
	s.collect()
	s.fit()
	return s, nil
}

// Key names a chain in all runs of a program: its calls, by function and line.
func (r *Run) Key(chain int) string {
	var parts []string
	for _, i := range r.Chains[chain].Sites {
		x := &r.Sites[i]
		parts = append(parts, fmt.Sprintf("%s:%d %s", base(x.File), x.Line, x.API))
	}
	return strings.Join(parts, ", ")
}

func (s *Set) collect() {
	byKey := map[string]*chainSet{}
	for _, r := range s.runs {
		for i := range r.Chains {
			key := r.Key(i)
			c := byKey[key]
			if c == nil {
				c = &chainSet{key: key}
				byKey[key] = c
				s.chains = append(s.chains, c)
			}
			if n := len(c.in); n > 0 && c.in[n-1] == r {
				continue // called from elsewhere: the more frequent comes first
			}
			c.in, c.number = append(c.in, r), append(c.number, i)
		}
	}
	s.chains = slices.DeleteFunc(s.chains, func(c *chainSet) bool { return 2*len(c.in) < len(s.runs) || len(c.in) < 2 })
}

func (s *Set) fit() {
	var computing, passes, bytes, memory []sample
	for _, r := range s.runs {
		n, b := r.passes()
		work, _ := s.split(r)
		computing, passes = append(computing, r.sample(work)), append(passes, r.sample(n))
		bytes, memory = append(bytes, r.sample(b)), append(memory, r.sample(r.Memory))
	}
	s.computing, s.passes, s.bytes, s.memory = fitWork(computing), fit(passes), fit(bytes), fit(memory)
	for _, c := range s.chains {
		var count, bytes []sample
		for i, r := range c.in {
			x := &r.Chains[c.number[i]]
			count = append(count, r.sample(float64(x.Written.N)/float64(r.Ranks)))
			bytes = append(bytes, r.sample(x.meanBytes()))
		}
		c.count, c.bytes = fit(count), fit(bytes)
		c.fitTransfers()
	}
}

// fitTransfers fits the bytes of each message of the chain.
func (c *chainSet) fitTransfers() {
	for call := range c.in[0].Chains[c.number[0]].Sites {
		for _, receive := range []bool{false, true} {
			var all []sample
			for i, r := range c.in {
				if b, have := r.Chains[c.number[i]].transfer(call, receive); have {
					all = append(all, r.sample(b))
				}
			}
			if len(all) > 0 {
				c.transfers = append(c.transfers, transfer{call, receive, fit(all)})
			}
		}
	}
}

// sample is a value of this run.
func (r *Run) sample(value float64) sample { return sample{r.Size, float64(r.Ranks), value} }

// transfer returns the bytes that a call sends, or receives: the mean of the ranks where it does.
func (c *Chain) transfer(call int, receive bool) (bytes float64, have bool) {
	sum, n := 0, 0
	for i := range c.Patterns {
		for _, m := range c.Patterns[i].Requests {
			if m.Call == call && m.Recv == receive {
				sum, n = sum+m.Bytes(), n+1
			}
		}
	}
	return float64(sum) / math.Max(float64(n), 1), n > 0
}

// forecasts returns the transfers at a point.
func (c *chainSet) forecasts(n, p float64) (all []Transfer) {
	r := c.in[0]
	for i := range c.transfers {
		x := &c.transfers[i]
		all = append(all, Transfer{r.Sites[r.Chains[c.number[0]].Sites[x.call]].String(), x.receive, x.bytes.String(), x.bytes.At(n, p)})
	}
	return all
}

// passes returns how often a rank passed through a chain, and the mean bytes of a pass.
func (r *Run) passes() (n, bytes float64) {
	for i := range r.Chains {
		c := &r.Chains[i]
		x := float64(c.Written.N) / float64(r.Ranks)
		n += x
		bytes += x * c.meanBytes()
	}
	return n, bytes / math.Max(n, 1)
}

// computing returns the seconds of a rank outside calls, and without the tool. Files of older
// versions do not have the time inside.
func (r *Run) computing() float64 {
	inside := r.Inside
	if inside == 0 {
		inside = r.Waits
		for i := range r.Chains {
			inside += r.Chains[i].Written.Sum() / float64(r.Ranks)
		}
		for _, p := range r.Collectives {
			inside += p.Seconds
		}
	}
	return math.Max(r.Seconds-inside-r.Tool, 0)
}

// crowd returns how many ranks share a core, at least 1, if there are p of them. Programs whose
// ranks were all on one machine stay there.
func (r *Run) crowd(p float64) float64 {
	if r.Cores == 0 {
		return 1
	}
	together := float64(r.Together)
	if r.Together == r.Ranks {
		together = p
	}
	return math.Max(together/float64(r.Cores), 1)
}

// split returns the seconds of a pass that a rank computes, and the rest. What changes save was
// measured and belongs to the rest: on shared cores some of the time outside calls is that of others.
func (s *Set) split(r *Run) (computing, communicating float64) {
	n, _ := r.passes()
	n = math.Max(n, 1)
	crowd := r.crowd(float64(r.Ranks))
	communicating = math.Max(r.Seconds-r.computing()*crowd, 0) / n
	saved := 0.0
	for _, c := range s.chains {
		if i := slices.Index(c.in, r); i >= 0 {
			saved += s.saved(c, i) * float64(r.Chains[c.number[i]].Written.N) / float64(r.Ranks) / n
		}
	}
	communicating = math.Min(math.Max(communicating, saved), r.Seconds/n)
	return (r.Seconds/n - communicating) / crowd, communicating
}

// saved returns what the change of a chain saves in a pass of its run number i.
func (s *Set) saved(c *chainSet, i int) float64 {
	r := c.in[i]
	calls := s.usable(r, c.number[i])
	if calls == nil {
		return 0
	}
	return math.Max(r.Saving(c.number[i], calls).PerPass, 0)
}

// alike returns the runs with the number of ranks that is nearest to p, the smaller one of two, among
// those with two sizes; all runs if there is none.
func alike(runs []*Run, p float64) []*Run {
	by := map[int][]*Run{}
	for _, r := range runs {
		by[r.Ranks] = append(by[r.Ranks], r)
	}
	var best []*Run
	for _, n := range slices.Sorted(maps.Keys(by)) {
		group := by[n]
		sizes := slices.ContainsFunc(group, func(r *Run) bool { return r.Size != group[0].Size })
		if sizes && (best == nil || apart(n, p) < apart(best[0].Ranks, p)) {
			best = group
		}
	}
	if best == nil {
		return runs
	}
	return best
}

func apart(n int, p float64) float64 { return math.Abs(math.Log(float64(n) / p)) }

// communication returns the time of a pass with some bytes on p ranks.
func (s *Set) communication(bytes, p float64) float64 {
	var x, y []sample
	for _, r := range alike(s.runs, p) {
		_, b := r.passes()
		_, rest := s.split(r)
		x, y = append(x, r.sample(b)), append(y, r.sample(rest))
	}
	base, slope := line(x, y)
	return base + slope*bytes
}

// saving returns what the change of a chain saves in a pass with some bytes on p ranks. It grows
// with the root of the bytes, between a latency, which does not grow, and a transfer that is hidden whole.
func (s *Set) saving(c *chainSet, bytes, p float64) float64 {
	var x, y []sample
	near := alike(c.in, p)
	for i, r := range c.in {
		if !slices.Contains(near, r) {
			continue
		}
		x, y = append(x, r.sample(math.Sqrt(r.Chains[c.number[i]].meanBytes()))), append(y, r.sample(s.saved(c, i)))
	}
	base, slope := line(x, y)
	return base + slope*math.Sqrt(bytes)
}

// meanBytes returns the bytes that a rank sends and receives in an occurrence, mean of the
// ranks.
func (c *Chain) meanBytes() (sum float64) {
	for i := range c.Patterns {
		for j := range c.Patterns[i].Requests {
			sum += float64(c.Patterns[i].Requests[j].Bytes()) / float64(len(c.Patterns))
		}
	}
	return sum
}

// Project returns the forecast for a size and a number of ranks; 0 ranks stands for the
// number of the largest run.
func (s *Set) Project(size float64, ranks int) Projection {
	p := s.project(size, ranks)
	p.Error = s.confidence(size)
	p.Warnings = s.warnings(size, float64(p.Ranks))
	return p
}

func (s *Set) project(size float64, ranks int) Projection {
	largest := slices.MaxFunc(s.runs, func(a, b *Run) int { return int(math.Copysign(1, a.Size-b.Size)) })
	if ranks == 0 {
		ranks = largest.Ranks
	}
	n, p := size, float64(ranks)
	out := Projection{Size: size, Ranks: ranks}
	passes := math.Max(s.passes.At(n, p), 1)
	exposed := passes * s.communication(s.bytes.At(n, p), p)
	out.Written = passes*s.computing.At(n, p)*largest.crowd(p) + exposed
	out.Fixed = out.Written
	for _, c := range s.chains {
		bytes, count := c.bytes.At(n, p), c.count.At(n, p)
		saved := math.Min(count*s.saving(c, bytes, p), exposed)
		exposed -= saved
		out.Fixed -= saved
		out.Chains = append(out.Chains, ChainForecast{c.key, bytes, saved, saved / math.Max(count, 1e-9), c.forecasts(n, p)})
	}
	slices.SortFunc(out.Chains, func(a, b ChainForecast) int { return int(math.Copysign(1, b.Saving-a.Saving)) })
	out.Speedup = out.Written / math.Max(out.Fixed, 1e-12)
	return out
}

// confidence returns the expected relative error of the times at a size. It is the root mean
// square of the error at each run if the fit leaves out all runs of that size on as many ranks, and
// more for every doubling beyond the largest size; Unknown with too few runs to leave these out.
func (s *Set) confidence(size float64) float64 {
	sum, n, largest := 0.0, 0, 0.0
	for _, r := range s.runs {
		largest = math.Max(largest, r.Size)
		like := func(x *Run) bool { return x.Size == r.Size && x.Ranks == r.Ranks }
		others, err := NewSet(slices.DeleteFunc(slices.Clone(s.runs), like), s.usable)
		if err != nil {
			continue
		}
		e := others.project(r.Size, r.Ranks).Written/r.Seconds - 1
		sum += e * e
		n++
	}
	if n == 0 {
		return Unknown
	}
	return math.Sqrt(sum/float64(n)) * (1 + math.Max(math.Log2(size/largest), 0))
}

// warnings names the limits that a projection exceeds: measured sizes, numbers of ranks, and
// caches.
func (s *Set) warnings(size, ranks float64) (all []string) {
	lo, hi := math.Inf(1), 0.0
	counts := map[float64]bool{}
	levels := map[int]bool{}
	for _, r := range s.runs {
		lo, hi = math.Min(lo, r.Size), math.Max(hi, r.Size)
		counts[float64(r.Ranks)] = true
		levels[level(r.Memory, s.runs[0].Caches)] = true
	}
	if len(s.runs) < 3 {
		all = append(all, fmt.Sprintf("%d runs: the curve through them is not checked by a third", len(s.runs)))
	}
	if size > hi || size < lo {
		all = append(all, fmt.Sprintf("size %g lies outside the measured ones, %g to %g", size, lo, hi))
	}
	if !counts[ranks] && len(counts) == 1 {
		all = append(all, fmt.Sprintf("all runs had as many ranks: nothing is known about %g", ranks))
	}
	caches := s.runs[0].Caches
	if m := s.memory.At(size, ranks); len(caches) > 0 && m > 0 && !levels[level(m, caches)] {
		all = append(all, fmt.Sprintf("at size %g a rank uses about %.3g MB, %s, where no run was: computation may cost more or less than the fit says", size, m/1e6, levelName(level(m, caches), caches)))
	}
	return all
}

// level returns how many caches are too small for a number of bytes.
func level(bytes float64, caches []float64) (n int) {
	for _, c := range caches {
		if bytes > c {
			n++
		}
	}
	return n
}

func levelName(n int, caches []float64) string {
	if n >= len(caches) {
		return "more than the last cache holds"
	}
	return fmt.Sprintf("in the cache of %.3g MB", caches[n]/1e6)
}
