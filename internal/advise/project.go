package advise

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Set is several runs of one program with different problem sizes, and perhaps numbers
// of ranks (the paper, section 3.4: an analysis set).
type Set struct {
	runs   []*Run
	chains []*chainSet
	rest   Curve // of the time outside the chains and the computation before them
	memory Curve
	usable func(r *Run, chain int) []int // calls that would be started together; nil: none
}

// chainSet is a chain in the runs of a set.
type chainSet struct {
	key    string
	in     []*Run
	number []int // of the chain in each of them
	count  Curve
	before Curve
	bytes  Curve   // sent and received in an occurrence, mean of the ranks
	kept   float64 // written = kept + perByte * bytes
	per    float64
	fixed  float64 // and the same with the change
	fixPer float64
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
	var rest, memory []sample
	for _, r := range s.runs {
		left := r.Seconds
		for _, c := range s.chains {
			if i := slices.Index(c.in, r); i >= 0 {
				x := &r.Chains[c.number[i]]
				left -= x.Written.Sum()/float64(len(x.Ranks)) + x.Before.Sum()/float64(len(x.Ranks))
			}
		}
		rest = append(rest, sample{r.Size, float64(r.Ranks), math.Max(left, 0)})
		memory = append(memory, sample{r.Size, float64(r.Ranks), r.Memory})
	}
	s.rest, s.memory = fit(rest), fit(memory)
	for _, c := range s.chains {
		s.fitChain(c)
	}
}

func (s *Set) fitChain(c *chainSet) {
	var count, before, bytes []sample
	var b, written, fixed []float64
	for i, r := range c.in {
		x := &r.Chains[c.number[i]]
		at := sample{r.Size, float64(r.Ranks), 0}
		add := func(list *[]sample, v float64) { at.value = v; *list = append(*list, at) }
		add(&count, float64(x.Written.N)/float64(len(x.Ranks)))
		add(&before, x.Before.Sum()/math.Max(float64(x.Written.N), 1))
		add(&bytes, x.meanBytes())
		w := x.Written.Mean
		f := w
		if calls := s.usable(r, c.number[i]); calls != nil {
			f = w - r.Saving(c.number[i], calls).PerPass
		}
		b, written, fixed = append(b, x.meanBytes()), append(written, w), append(fixed, f)
	}
	c.count, c.before, c.bytes = fit(count), fit(before), fit(bytes)
	c.kept, c.per = line(b, written)
	c.fixed, c.fixPer = line(b, fixed)
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
	out.Written = s.rest.At(n, p)
	out.Fixed = out.Written
	for _, c := range s.chains {
		bytes, count := c.bytes.At(n, p), c.count.At(n, p)
		w := count * (c.kept + c.per*bytes)
		f := math.Min(count*(c.fixed+c.fixPer*bytes), w)
		between := count * c.before.At(n, p)
		out.Written += w + between
		out.Fixed += f + between
		out.Chains = append(out.Chains, ChainForecast{c.key, bytes, w - f, (w - f) / math.Max(count, 1e-9)})
	}
	slices.SortFunc(out.Chains, func(a, b ChainForecast) int { return int(math.Copysign(1, b.Saving-a.Saving)) })
	out.Speedup = out.Written / math.Max(out.Fixed, 1e-12)
	return out
}

// confidence returns the expected relative error of the times at a size. It is the root mean
// square of the error at each run if the fit leaves that run out, and more for every
// doubling beyond the largest size; Unknown with too few runs to leave one out.
func (s *Set) confidence(size float64) float64 {
	sum, n, largest := 0.0, 0, 0.0
	for i, r := range s.runs {
		largest = math.Max(largest, r.Size)
		others, err := NewSet(slices.Delete(slices.Clone(s.runs), i, i+1), s.usable)
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
