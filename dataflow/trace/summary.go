package trace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// Summary holds the figures of one run. All times are wall-clock durations of
// the run as it was, on the machine it ran on.
//
// Body time is exclusive: it does not include the time in which a body waits (and its worker
// may run other tasks) or is blocked.
//
// The summary of the logs of several ranks is the total. Counts and times are sums. Elapsed
// and the shares are of the time from the first start of a log to the last end. No path
// leads from one rank to another. Ranks holds the figures of each rank.
type Summary struct {
	Elapsed time.Duration // from the start of the log to the moment it was taken
	Slots   int           // workers that compute at one time
	First   time.Duration // when the first body started, since the start of the log
	Last    time.Duration // when the last body ended; First and Last are 0 if none ran

	Tasks        int    // bodies that ran; not tasks whose work was done without one, by the communication thread
	Dependences  int    // between tasks, without repeats
	Failed       int    // tasks that ended with an error
	Skipped      int    // tasks that ended without running
	NeverStarted int    // tasks that were submitted and had neither started nor been skipped
	Unfinished   int    // bodies whose start or end is not in the log; they count up to its edge
	Lost         uint64 // events lost because the log was full: all other figures are then of a part

	Labels []LabelSummary // by falling Total

	Work         time.Duration // T1: all bodies one after another
	CriticalPath time.Duration // Tinf: the longest chain of bodies, each dependent on the one before; of several ranks, the longest of one
	OutsidePath  time.Duration // the same, counting time in which tasks were blocked, or held their dependences after their end
	Bound        time.Duration // max(Work/Slots, CriticalPath): no schedule of these bodies on these slots is faster; of several ranks, the largest of one
	OverBound    float64       // Elapsed / Bound; 1 is perfect; 0 if nothing ran
	Parallelism  float64       // Work / CriticalPath: slots that could be kept busy on average; 0 if nothing ran

	Efficiency float64     // parallel efficiency: Busy / (Elapsed x Slots)
	Shares     Shares      // where the time of the slots went
	Path       []PathLabel // of several ranks: of the rank with the longest path

	TaskMedian time.Duration // body time, over all tasks
	PerTask    time.Duration // Submission and Scheduling per body that ran

	Messages MessageSummary
	Ranks    []RankSummary // of several logs, by growing rank; nil for one
	World    int           // ranks that the program had, as far as the logs say; at least 1

	Bottleneck Bottleneck // what bounded the run; empty if no task ran
	Advice     []string   // sentences for the user, the most important first
}

// LabelSummary holds the body times of the tasks of one label.
type LabelSummary struct {
	Name  string
	File  string
	Line  int
	Count int // bodies that ran
	Total time.Duration
	Mean  time.Duration
	// Median is the mean of the two middle times if Count is even; P95 is the
	// smallest time that at least 95 % of the tasks do not exceed.
	Median, P95, Max time.Duration
}

// Shares splits the time of the slots, Elapsed x Slots. Busy, Submission,
// Scheduling and Idle add up to 1 (as closely as a damaged log allows); Parked,
// Starved and Blocked are the parts of Idle.
//
// The log does not distinguish a worker that is fetching a task from a worker without work.
// At every moment, as many of these workers count as Scheduling as there are ready tasks,
// and the others as Starved.
type Shares struct {
	Busy       float64 // in bodies
	Submission float64 // the submitter outside bodies and waits: the program itself and its spawns
	Scheduling float64 // workers that release successors, or fetch one of the ready tasks
	Idle       float64 // all the rest
	Parked     float64 // asleep in the kernel
	Starved    float64 // awake or in a wait, with no task ready
	Blocked    float64 // core given away by Context.Block and not used by a spare
}

// Overhead is the share that the runtime and the submitting program cost.
func (s Shares) Overhead() float64 { return s.Submission + s.Scheduling }

// PathLabel is the part of one label in the critical path.
type PathLabel struct {
	Name    string
	Count   int           // tasks of the label on the path
	Total   time.Duration // their time on it
	Share   float64       // Total / CriticalPath
	Longest time.Duration // the longest stay of one task on the path
	Task    uint64        // its number
}

// Summarize computes the figures of a log, or of the logs of all ranks of a run. It takes
// about 0.5 us per event, and does not change the logs. A single nil log counts as empty;
// among others it is ignored. Of two logs of one rank the second is left out, and the advice
// says so.
func Summarize(logs ...*dataflow.Log) Summary {
	r, err := newRun(logs)
	s := r.summarize(r.accounts())
	if err != nil {
		s.Advice = append([]string{strings.TrimPrefix(err.Error(), "trace: ") + ": such logs are left out"}, s.Advice...)
	}
	return s
}

// account holds the results of the observers for one rank.
type account struct {
	books         *ledger
	path, outside *paths
	busy          []interval // when at least one body ran; nil without messages
}

func newAccount(p *process) *account {
	a := &account{books: newLedger(p.model), path: newPaths(p.model, false), outside: newPaths(p.model, true)}
	observers := []observer{a.books, a.path, a.outside}
	if len(p.messages) > 0 {
		observers = append(observers, newActivity(p, a))
	}
	p.replay(observers...)
	return a
}

// summarize computes the figures of one rank, but for the advice.
func (p *process) summarize(a *account) Summary {
	m := p.model
	s := Summary{Elapsed: time.Duration(m.elapsed), Slots: m.slots, Dependences: len(m.deps.from), Lost: m.overflow, World: 1}
	s.countTasks(m)
	s.window(m)
	bodies := sortBodies(m.bodies(nil, a.books))
	s.Labels = m.summarizeLabels(bodies)
	s.TaskMedian = medianBody(bodies)
	s.bounds(a)
	s.shares(a.books)
	s.Path = pathLabels(m, a.path)
	return s
}

func (s *Summary) countTasks(m *model) {
	for i := range m.tasks {
		t := &m.tasks[i]
		switch {
		case t.ran():
			s.Tasks++
		case t.waiter:
		case t.skipped:
			s.Skipped++
		case t.spawned != none && t.end == none && !t.carried():
			s.NeverStarted++
		}
		if t.failed {
			s.Failed++
		}
		if t.cut {
			s.Unfinished++
		}
	}
}

// window finds when the first body began and the last one ended.
func (s *Summary) window(m *model) {
	first := int64(none)
	for i := range m.tracks {
		for k := range m.tracks[i].ops {
			o := &m.tracks[i].ops[k]
			if o.kind != opTask || !m.tasks[o.task].ran() {
				continue
			}
			if first == none || o.at < first {
				first = o.at
			}
			s.Last = max(s.Last, time.Duration(o.end))
		}
	}
	s.First = time.Duration(max(first, 0))
}

func (s *Summary) bounds(a *account) {
	s.Work = time.Duration(a.books.work)
	s.CriticalPath = time.Duration(a.path.total())
	s.OutsidePath = time.Duration(a.outside.total())
	s.Bound = max((s.Work+time.Duration(s.Slots)-1)/time.Duration(s.Slots), s.CriticalPath)
	s.OverBound = ratio(float64(s.Elapsed), float64(s.Bound))
	s.Parallelism = ratio(float64(s.Work), float64(s.CriticalPath))
}

func (s *Summary) shares(g *ledger) {
	capacity := float64(s.Elapsed) * float64(s.Slots)
	share := func(ns float64) float64 { return ratio(ns, capacity) }
	h := &s.Shares
	h.Busy, h.Submission, h.Scheduling = share(g.busy), share(g.submission), share(g.scheduling)
	h.Parked, h.Starved = share(g.parked), share(g.starved)
	if capacity > 0 {
		h.Idle = max(0, 1-h.Busy-h.Submission-h.Scheduling)
	}
	h.Blocked = min(share(g.blocked), max(0, h.Idle-h.Parked-h.Starved))
	s.Efficiency = h.Busy
	if s.Tasks > 0 {
		s.PerTask = time.Duration((g.submission + g.scheduling) / float64(s.Tasks))
	}
}

// ratio is a/b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// bodyTime is how long the body of a task took.
type bodyTime struct {
	label int32
	ns    int64
}

// bodies adds the body times of all tasks that ran.
func (m *model) bodies(times []bodyTime, books *ledger) []bodyTime {
	for i := range m.tasks {
		if t := &m.tasks[i]; t.ran() {
			times = append(times, bodyTime{t.label, books.body[i]})
		}
	}
	return times
}

// sortBodies sorts by label, and by time within a label.
func sortBodies(times []bodyTime) []bodyTime {
	slices.SortFunc(times, func(a, b bodyTime) int {
		return cmp.Or(cmp.Compare(a.label, b.label), cmp.Compare(a.ns, b.ns))
	})
	return times
}

// medianBody is the median over all labels.
func medianBody(bodies []bodyTime) time.Duration {
	times := make([]int64, len(bodies))
	for i := range bodies {
		times[i] = bodies[i].ns
	}
	slices.Sort(times)
	return median(times)
}

// summarizeLabels measures each run of one label in sorted body times. Tasks
// whose label is not in the log come under "?".
func (m *model) summarizeLabels(bodies []bodyTime) []LabelSummary {
	var all []LabelSummary
	for len(bodies) > 0 {
		label := bodies[0].label
		var times []int64
		for len(bodies) > 0 && bodies[0].label == label {
			times = append(times, bodies[0].ns)
			bodies = bodies[1:]
		}
		all = append(all, m.measure(label, times))
	}
	slices.SortStableFunc(all, func(a, b LabelSummary) int { return cmp.Compare(b.Total, a.Total) })
	return all
}

// measure computes the figures of one label from its sorted times.
func (m *model) measure(label int32, sorted []int64) LabelSummary {
	s := LabelSummary{Name: m.labelName(label), Count: len(sorted), Median: median(sorted)}
	if label != none {
		s.File, s.Line = m.labels[label].File, m.labels[label].Line
	}
	for _, t := range sorted {
		s.Total += time.Duration(t)
	}
	s.Mean = s.Total / time.Duration(len(sorted))
	s.P95 = time.Duration(sorted[(len(sorted)*95+99)/100-1])
	s.Max = time.Duration(sorted[len(sorted)-1])
	return s
}

func median(sorted []int64) time.Duration {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return time.Duration((sorted[(n-1)/2] + sorted[n/2]) / 2)
}

// pathLabels adds up the critical path by label, by falling total.
func pathLabels(m *model, path *paths) []PathLabel {
	stays := map[int32]int64{} // by task; a body split at its spawns is one stay
	path.walk(func(s *strand) { stays[s.task] += s.own })
	byLabel := map[int32]*PathLabel{}
	var all []*PathLabel
	for task, stay := range stays {
		t := &m.tasks[task]
		p := byLabel[t.label]
		if p == nil {
			p = &PathLabel{Name: m.labelName(t.label)}
			byLabel[t.label] = p
			all = append(all, p)
		}
		p.add(t.number, time.Duration(stay))
	}
	result := make([]PathLabel, len(all))
	for i, p := range all {
		p.Share = ratio(float64(p.Total), float64(path.total()))
		result[i] = *p
	}
	slices.SortFunc(result, func(a, b PathLabel) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Task, b.Task))
	})
	return result
}

func (p *PathLabel) add(task uint64, stay time.Duration) {
	if p.Count == 0 || stay > p.Longest || stay == p.Longest && task < p.Task {
		p.Longest, p.Task = stay, task
	}
	p.Count++
	p.Total += stay
}
