package main

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"
)

// METG(50 %), the minimum effective task granularity, is the length a task must have
// so that half of the machine's FLOP rate reaches the program: below it, the runtime's
// overhead is more than half of the time (Slaughter et al., SC'20, section IV).
//
// A sweep halves the iterations of the kernel from long tasks on until two points in a
// row are below 50 %, then bisects between the last point above and the first below,
// and interpolates between the two that remain, linearly in the logarithm of the
// granularity. One point is the mean of several runs. The efficiency refers to the
// best FLOP rate seen at all: in a calibration with tasks so long that no overhead
// counts, or in any single run of the sweep.

// sample is one point of a sweep.
type sample struct {
	iter    int
	tasks   int64
	flops   int64     // per run
	seconds []float64 // wall time of each run
	again   int       // how often the point was measured again, because its runs disagreed
}

// meanSeconds is the mean wall time of a run.
func (s *sample) meanSeconds() float64 {
	sum := 0.0
	for _, t := range s.seconds {
		sum += t
	}
	return sum / float64(len(s.seconds))
}

// spread is the longest run over the shortest.
func (s *sample) spread() float64 { return slices.Max(s.seconds) / slices.Min(s.seconds) }

// granularity is the mean length of a task in seconds of one core: wall x cores /
// tasks.
func (s *sample) granularity(cores int) float64 {
	return s.meanSeconds() * float64(cores) / float64(s.tasks)
}

// rate is the mean FLOP rate, bestRate the rate of the shortest run.
func (s *sample) rate() float64     { return float64(s.flops) / s.meanSeconds() }
func (s *sample) bestRate() float64 { return float64(s.flops) / slices.Min(s.seconds) }

// sweep searches METG(50 %) for one width.
type sweep struct {
	cores   int
	peak    float64                             // best FLOP/s so far
	measure func(iter int) (sample, error)      // runs one point
	show    func(s *sample, efficiency float64) // told of every point as it is measured
	samples []sample
	begin   time.Time
}

const (
	longTask     = 100e-6           // seconds of kernel in the tasks of the first point
	longestTask  = 2e-3             // and of the last attempt, if that was not enough
	sweepLimit   = 15 * time.Second // a sweep older than this repeats nothing and tries no longer tasks
	bisections   = 3
	maxSpread    = 1.5 // runs of a point further apart than this are repeated
	maxRepeats   = 2
	halfEffect   = 0.5
	minIteration = 1
)

// metgResult is the outcome of a sweep.
type metgResult struct {
	seconds float64 // METG(50 %)
	atMost  bool    // the efficiency never fell below 50 %: seconds is an upper bound
}

// find measures until METG(50 %) is known.
func (w *sweep) find() (metgResult, error) {
	w.begin = time.Now()
	if err := w.descend(); err != nil {
		return metgResult{}, err
	}
	for range bisections {
		above, below, found := w.bracket()
		if !found || above.iter-below.iter < 2 {
			break
		}
		if err := w.add(int(math.Round(math.Sqrt(float64(above.iter) * float64(below.iter))))); err != nil {
			return metgResult{}, err
		}
	}
	above, below, found := w.bracket()
	switch {
	case found:
		return metgResult{seconds: w.interpolate(above, below)}, nil
	case w.efficiency(&above) < halfEffect:
		return metgResult{}, errUnsteady
	}
	return metgResult{seconds: above.granularity(w.cores), atMost: true}, nil
}

// descend measures from long tasks to short ones.
func (w *sweep) descend() error {
	iter, err := w.first()
	if err != nil {
		return err
	}
	for below := 0; below < 2 && iter > minIteration; {
		iter = max(minIteration, iter/2)
		if err := w.add(iter); err != nil {
			return err
		}
		below++
		if w.efficiency(&w.samples[len(w.samples)-1]) >= halfEffect {
			below = 0
		}
	}
	return nil
}

// first measures tasks long enough to be efficient and returns their iterations.
func (w *sweep) first() (int, error) {
	for length := longTask; length <= longestTask && !w.overdue(); length *= 4 {
		iter := max(minIteration, int(length*w.peak/float64(w.cores)/128))
		if err := w.add(iter); err != nil {
			return 0, err
		}
		if w.efficiency(&w.samples[len(w.samples)-1]) >= halfEffect {
			return iter, nil
		}
		w.samples = w.samples[:0]
	}
	return 0, errUnsteady
}

// errUnsteady ends a sweep on a machine that gives no steady half of its speed.
var errUnsteady = errors.New("METG: even long tasks reach less than 50 % of the kernel's best FLOP rate: the cores are busy with something else, or there are more workers than cores; free the machine or lower -workers")

// add measures one point and keeps it. Runs that differ by more than maxSpread were
// disturbed: the point is measured again, a few times at most, and the calmest
// measurement counts.
func (w *sweep) add(iter int) error {
	var kept sample
	for again := range maxRepeats + 1 {
		s, err := w.measure(iter)
		if err != nil {
			return err
		}
		w.peak = max(w.peak, s.bestRate())
		if again == 0 || s.spread() < kept.spread() {
			kept = s
		}
		kept.again = again
		if kept.spread() <= maxSpread || w.overdue() {
			break
		}
	}
	w.samples = append(w.samples, kept)
	w.show(&kept, w.efficiency(&kept))
	return nil
}

// overdue reports whether the sweep has taken longer than sweepLimit.
func (w *sweep) overdue() bool { return time.Since(w.begin) > sweepLimit }

// efficiency is the sample's share of the best FLOP rate.
func (w *sweep) efficiency(s *sample) float64 { return s.rate() / w.peak }

// bracket returns the neighbours between which the efficiency falls below 50 %: above
// is the shortest of the tasks that are all efficient. Without such a pair found is
// false and above is the shortest task of all.
func (w *sweep) bracket() (above, below sample, found bool) {
	slices.SortFunc(w.samples, func(a, b sample) int { return cmp.Compare(b.iter, a.iter) })
	for i := len(w.samples) - 1; i > 0; i-- {
		above, below = w.samples[i-1], w.samples[i]
		if w.efficiency(&above) >= halfEffect && w.efficiency(&below) < halfEffect {
			return above, below, true
		}
	}
	return w.samples[len(w.samples)-1], sample{}, false
}

// interpolate returns the granularity at 50 % between two samples.
func (w *sweep) interpolate(above, below sample) float64 {
	ea, eb := w.efficiency(&above), w.efficiency(&below)
	la, lb := math.Log(above.granularity(w.cores)), math.Log(below.granularity(w.cores))
	return math.Exp(lb + (la-lb)*(halfEffect-eb)/(ea-eb))
}
