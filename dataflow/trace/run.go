package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// maxRank bounds the rank of a log; see chooseLogs.
const maxRank = 1 << 30

// run is the repaired logs of the ranks of one run: a model for each rank, and the messages
// between them. The models have a common time axis and a common table of labels.
//
// A run is immutable once newRun has returned.
type run struct {
	ranks []process // by growing rank, at least one
	start time.Time // of the time axis: the earliest start of a log
	end   int64     // ns, of the time axis
	world int       // ranks that the program had, as far as the logs say
	alone bool      // one log without messages: no word of ranks then
	pairs []pair    // sends and receives that belong together, by sender
}

// process is one rank. The times of its model and of its messages count from
// the start of its log; add shift to put them on the axis of the run.
type process struct {
	*model
	rank     int
	host     string // without control characters; "" if not known
	shift    int64  // ns, from the start of the run to the start of the log
	messages []message
}

// newRun reads the logs of a run. With an error it also returns a run of the usable logs.
func newRun(logs []*dataflow.Log) (*run, error) {
	logs, err := chooseLogs(logs)
	r := &run{start: earliest(logs), alone: len(logs) == 1 && len(logs[0].Messages) == 0, world: 1}
	for _, l := range logs {
		p := process{model: newModel(l), rank: l.Rank, host: strings.TrimSpace(plain(l.Host))}
		if !l.Start.IsZero() {
			p.shift = min(max(int64(l.Start.Sub(r.start)), 0), horizon/2)
		}
		p.messages = readMessages(p.model, l.Messages)
		r.ranks = append(r.ranks, p)
		r.end = max(r.end, p.shift+p.elapsed)
		if !r.alone {
			r.world = max(r.world, l.Ranks, l.Rank+1)
		}
	}
	slices.SortFunc(r.ranks, func(a, b process) int { return a.rank - b.rank })
	if len(r.ranks) > 1 {
		r.shareLabels()
	}
	r.match()
	r.alignCollectives()
	return r, err
}

// chooseLogs drops nil logs, of ranks without the Trace option, and adds an empty log if none
// is left. With several logs, or with messages, each rank must be valid and occur once:
// chooseLogs drops the logs that break this, and the first of them is the error.
func chooseLogs(logs []*dataflow.Log) (chosen []*dataflow.Log, err error) {
	at := map[int]int{} // rank: place of its log
	given := 0
	for _, l := range logs {
		if l != nil {
			given++
		}
	}
	for i, l := range logs {
		if l == nil {
			continue
		}
		first, twice := at[l.Rank]
		var bad error
		switch {
		case given == 1 && len(l.Messages) == 0: // nothing depends on its rank
		case l.Rank < 0 || l.Rank >= maxRank:
			bad = fmt.Errorf("trace: log %d%s is of rank %d, which cannot be", i, hostOf(l), l.Rank)
		case twice:
			bad = fmt.Errorf("trace: logs %d%s and %d%s are both of rank %d", first, hostOf(logs[first]), i, hostOf(l), l.Rank)
		}
		if bad == nil {
			at[l.Rank] = i
			chosen = append(chosen, l)
		} else if err == nil {
			err = bad
		}
	}
	if len(chosen) == 0 {
		chosen = []*dataflow.Log{{}}
	}
	return chosen, err
}

// hostOf is the host of a log for the text of an error.
func hostOf(l *dataflow.Log) string {
	if l.Host == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", l.Host)
}

// earliest is the first start of a log; logs that do not say count only if
// none does.
func earliest(logs []*dataflow.Log) (first time.Time) {
	for _, l := range logs {
		if !l.Start.IsZero() && (first.IsZero() || l.Start.Before(first)) {
			first = l.Start
		}
	}
	return first
}

// shareLabels gives the models one table of labels: declarations with the same source line
// and name are one label on all ranks.
func (r *run) shareLabels() {
	var labels []dataflow.Label
	numbers := map[dataflow.Label]int32{}
	for i := range r.ranks {
		m := r.ranks[i].model
		renumbered := make([]int32, len(m.labels))
		for k, l := range m.labels {
			n, ok := numbers[l]
			if !ok {
				n = int32(len(labels))
				numbers[l] = n
				labels = append(labels, l)
			}
			renumbered[k] = n
		}
		for t := range m.tasks {
			if label := &m.tasks[t].label; *label != none {
				*label = renumbered[*label]
			}
		}
	}
	for i := range r.ranks {
		r.ranks[i].labels = labels
	}
}

// labels is the table that all models share.
func (r *run) labels() []dataflow.Label { return r.ranks[0].labels }

// slots is the number of slots of all ranks.
func (r *run) slots() (n int) {
	for i := range r.ranks {
		n += r.ranks[i].slots
	}
	return n
}

// lost is the number of events that all logs have lost.
func (r *run) lost() (n uint64) {
	for i := range r.ranks {
		n += r.ranks[i].overflow
	}
	return n
}

// name returns the name of a rank in the pictures.
func (p *process) name() string {
	if p.host == "" {
		return fmt.Sprintf("rank %d", p.rank)
	}
	return fmt.Sprintf("rank %d (%s)", p.rank, p.host)
}
