package trace

import (
	"fmt"
	"math"
	"time"
)

// The thresholds of the advice. A run that stays within them gets none.
const (
	adviceOverhead  = 0.10 // share of overhead from which tasks are called too small
	adviceTarget    = 0.10 // overhead per body time to which fusing should bring it
	adviceSubmitted = 0.30 // share of Elapsed that submission may take while workers starve
	adviceIdle      = 0.10 // idle share from which the cause is looked for
	adviceWindow    = 0.50 // share of Elapsed between the first start and the last end
	advicePath      = 0.80 // critical path per Elapsed from which the path is the limit

	adviceExposed   = 0.10 // share of Elapsed in which messages were under way and no body ran
	adviceImbalance = 1.25 // most work per slot of a rank, by the mean

	// adviceCall is the overhead per task beyond which it cannot be the
	// runtime's, but is serial work of the program: larger tasks would not help.
	adviceCall = 20 * time.Microsecond
)

// advise looks for the reasons why the run was slower than it could be.
func (s *Summary) advise() {
	s.Advice = nil
	finders := []func() string{s.lossAdvice, s.emptyAdvice, s.windowAdvice, s.sizeAdvice, s.exposedAdvice, s.submissionAdvice, s.pathAdvice, s.outsideAdvice}
	if len(s.Ranks) > 0 { // a path on one rank says little of the run
		finders = []func() string{s.lossAdvice, s.emptyAdvice, s.windowAdvice, s.sizeAdvice, s.imbalanceAdvice, s.exposedOfRank, s.submissionOfRank}
	}
	for _, find := range finders {
		if advice := find(); advice != "" {
			s.Advice = append(s.Advice, advice)
		}
	}
}

func (s *Summary) lossAdvice() string {
	if s.Lost == 0 {
		return ""
	}
	return fmt.Sprintf("the log was full and %d events are missing: raise its limit or reset it before the part of interest", s.Lost)
}

func (s *Summary) emptyAdvice() string {
	if s.Tasks > 0 || s.Lost > 0 || s.NeverStarted > 0 {
		return ""
	}
	return "no task ran in this log: was the runtime made with the Trace option?"
}

// windowAdvice warns of logs in which little happens: the other advice means little then.
func (s *Summary) windowAdvice() string {
	window := s.Last - s.First
	if s.Tasks == 0 || float64(window) >= adviceWindow*float64(s.Elapsed) {
		return ""
	}
	return fmt.Sprintf("tasks ran in %s of %s only, and all shares are of the whole: reset the log before the part of interest, and take it right after",
		span(window), span(s.Elapsed))
}

// sizeAdvice says how many tasks to fuse so that the overhead becomes a tenth of the work:
// a power of two, as for tiles.
func (s *Summary) sizeAdvice() string {
	if s.Tasks == 0 || s.Shares.Overhead() < adviceOverhead || s.PerTask > adviceCall {
		return ""
	}
	mean := float64(s.Work) / float64(s.Tasks)
	fuse := 2.0
	if mean > 0 {
		fuse = math.Exp2(math.Ceil(math.Log2(float64(s.PerTask) / (adviceTarget * mean))))
	}
	if fuse < 2 {
		return ""
	}
	return fmt.Sprintf("tasks are too small: median task %s, overhead %s (%s per task): fuse about %.0f tasks into one",
		span(s.TaskMedian), percent(s.Shares.Overhead()), span(s.PerTask), fuse)
}

func (s *Summary) submissionAdvice() string {
	submission := s.Shares.Submission * float64(s.Slots) // as a share of Elapsed
	if s.Slots < 2 || submission < adviceSubmitted || s.Shares.Parked+s.Shares.Starved < adviceIdle {
		return ""
	}
	return fmt.Sprintf("workers wait for the program to submit tasks (%s of the time it was in neither a task nor a wait): submit from several tasks, or submit larger ones",
		percent(submission))
}

func (s *Summary) pathAdvice() string {
	if len(s.Path) == 0 || s.Shares.Idle < adviceIdle || s.Slots < 2 {
		return ""
	}
	path := ratio(float64(s.CriticalPath), float64(s.Elapsed))
	if path < advicePath && s.Parallelism >= float64(s.Slots) {
		return ""
	}
	first, remedy := s.Path[0], "start these tasks earlier, or give them priority"
	if s.sizeAdvice() == "" {
		remedy = "cut these tasks finer, start them earlier, or give them priority"
	}
	return fmt.Sprintf("too little parallelism for %d slots: %.3g on average; the critical path takes %s of the run, %s of it in %q: %s",
		s.Slots, s.Parallelism, percent(path), percent(first.Share), first.Name, remedy)
}

func (s *Summary) outsideAdvice() string {
	outside := s.OutsidePath - s.CriticalPath
	if s.Elapsed == 0 || float64(outside) < advicePath/2*float64(s.Elapsed) {
		return ""
	}
	return fmt.Sprintf("the longest chain spends %s blocked or held by events from outside: start these operations earlier, or give the workers more to do meanwhile", span(outside))
}

func (s *Summary) exposedAdvice() string {
	exposed := ratio(float64(s.Messages.Exposed), float64(s.Elapsed))
	if exposed < adviceExposed {
		return ""
	}
	return fmt.Sprintf("messages were under way for %s while no body of the rank ran (%s of its time): make them ready earlier, or give the workers more to do meanwhile",
		span(s.Messages.Exposed), percent(exposed))
}

// exposedOfRank names the rank with the most exposed time.
func (s *Summary) exposedOfRank() string {
	one := s.most(func(one *RankSummary) float64 { return float64(one.Messages.Exposed) })
	return onRank(one, one.exposedAdvice())
}

// submissionOfRank names the rank with the most time in submission.
func (s *Summary) submissionOfRank() string {
	one := s.most(func(one *RankSummary) float64 { return one.Shares.Submission })
	return onRank(one, one.submissionAdvice())
}

func onRank(one *RankSummary, advice string) string {
	if advice == "" {
		return ""
	}
	return fmt.Sprintf("rank %d: %s", one.Rank, advice)
}

func (s *Summary) imbalanceAdvice() string {
	load := func(one *RankSummary) float64 { return ratio(float64(one.Work), float64(one.Slots)) }
	mean := ratio(float64(s.Work), float64(s.Slots))
	one := s.most(load)
	if mean == 0 || load(one) < adviceImbalance*mean {
		return ""
	}
	return fmt.Sprintf("rank %d has %.2f x the mean work of a slot, and the others wait for it at the next message: divide the work more evenly",
		one.Rank, load(one)/mean)
}

// span shows a duration with three digits.
func span(d time.Duration) string {
	ns := float64(d)
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 999.5e3:
		return fmt.Sprintf("%s us", digits(ns/1e3))
	case ns < 999.5e6:
		return fmt.Sprintf("%s ms", digits(ns/1e6))
	}
	return fmt.Sprintf("%s s", digits(ns/1e9))
}

// digits shows x with three digits, or with all before the point.
func digits(x float64) string {
	switch {
	case x < 9.995:
		return fmt.Sprintf("%.2f", x)
	case x < 99.95:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
