package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
)

// chromeEvent is an event as a viewer reads it. Times are ns here.
type chromeEvent struct {
	Phase string         `json:"ph"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	TS    *json.Number   `json:"ts"`
	Dur   *json.Number   `json:"dur"`
	Name  string         `json:"name"`
	Cat   string         `json:"cat"`
	Color string         `json:"cname"`
	ID    int            `json:"id"`
	BP    string         `json:"bp"`
	Scope string         `json:"s"`
	Args  map[string]any `json:"args"`

	at, end int64
}

type chromeFile struct {
	Unit   string            `json:"displayTimeUnit"`
	Other  map[string]string `json:"otherData"`
	Events []chromeEvent     `json:"traceEvents"`
}

// readChrome is the independent reader of the format. It refuses documents
// that a viewer would draw wrongly.
func readChrome(r io.Reader) (*chromeFile, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var f chromeFile
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more after the document")
	}
	for i := range f.Events {
		if err := f.Events[i].times(); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	for _, check := range []func([]chromeEvent) error{named, nested, flowsMatch, flowsBound, asyncMatch} {
		if err := check(f.Events); err != nil {
			return nil, err
		}
	}
	return &f, nil
}

// named checks that the names of an event's process and track come before the event.
// Perfetto finds the name of a track by its number alone, so no two tracks share a number.
func named(events []chromeEvent) error {
	processes, threads := map[int]bool{}, map[int]int{}
	for i, e := range events {
		process, ok := threads[e.TID]
		switch {
		case e.Phase == "M" && e.Name == "process_name":
			if processes[e.PID] {
				return fmt.Errorf("process %d has two names", e.PID)
			}
			processes[e.PID] = true
		case !processes[e.PID]:
			return fmt.Errorf("event %d is in a process without a name, %d", i, e.PID)
		case e.Phase == "M" && e.Name == "thread_name":
			if ok {
				return fmt.Errorf("track %d has two names", e.TID)
			}
			threads[e.TID] = e.PID
		case e.Phase == "M", e.Phase == "C":
		case !ok || process != e.PID:
			return fmt.Errorf("event %d is on a track without a name, %d of process %d", i, e.TID, e.PID)
		}
	}
	return nil
}

// times converts the times, which must be whole ns.
func (e *chromeEvent) times() error {
	read := func(n *json.Number) (int64, error) {
		if n == nil {
			return 0, fmt.Errorf("phase %s without its times", e.Phase)
		}
		x, err := n.Float64()
		ns := math.Round(x * 1000)
		if err != nil || ns < 0 || math.Abs(ns-x*1000) > 0.4 {
			return 0, fmt.Errorf("bad time %s", *n)
		}
		return int64(ns), nil
	}
	var err error
	switch e.Phase {
	case "M":
		return nil
	case "X":
		if e.end, err = read(e.Dur); err != nil {
			return err
		}
		fallthrough
	case "s", "f", "i", "C", "b", "e":
		e.at, err = read(e.TS)
		e.end += e.at
		return err
	}
	return fmt.Errorf("unknown phase %q", e.Phase)
}

// nested checks that the slices of each track form a tree.
func nested(events []chromeEvent) error {
	tracks := map[int][]chromeEvent{}
	for _, e := range events {
		if e.Phase == "X" {
			tracks[e.TID] = append(tracks[e.TID], e)
		}
	}
	for _, slices_ := range tracks {
		slices.SortStableFunc(slices_, func(a, b chromeEvent) int { return cmp.Compare(a.at, b.at) })
		var open []chromeEvent
		for _, e := range slices_ {
			for len(open) > 0 && open[len(open)-1].end <= e.at {
				open = open[:len(open)-1]
			}
			if len(open) > 0 && e.end > open[len(open)-1].end {
				return fmt.Errorf("track %d: %s at %d ends at %d, outside %s that ends at %d",
					e.TID, e.Name, e.at, e.end, open[len(open)-1].Name, open[len(open)-1].end)
			}
			open = append(open, e)
		}
	}
	return nil
}

// flowsMatch checks that every arrow has one beginning, one end, and runs
// forwards.
func flowsMatch(events []chromeEvent) error {
	begins := map[int]int64{}
	for _, e := range events {
		if e.Phase != "s" {
			continue
		}
		if _, ok := begins[e.ID]; ok {
			return fmt.Errorf("flow %d begins twice", e.ID)
		}
		begins[e.ID] = e.at
	}
	ended := map[int]bool{}
	for _, e := range events {
		if e.Phase != "f" {
			continue
		}
		at, ok := begins[e.ID]
		if !ok || e.at < at || e.BP != "e" || ended[e.ID] {
			return fmt.Errorf("flow %d ends without a beginning, before it, twice, or outside a slice", e.ID)
		}
		ended[e.ID] = true
	}
	if len(begins) > len(ended) {
		return fmt.Errorf("%d flows without an end", len(begins)-len(ended))
	}
	return nil
}

// flowsBound checks that every end of an arrow has a slice of its track to attach to, and
// an arrow between messages its own slice: the one just before it in the file, at the same
// time.
func flowsBound(events []chromeEvent) error {
	until := map[int][]int64{} // by track: how far its first slices reach, with those before
	starts := map[int][]int64{}
	sorted := slices.SortedStableFunc(slices.Values(events), func(a, b chromeEvent) int { return cmp.Compare(a.at, b.at) })
	for _, e := range sorted {
		if e.Phase != "X" {
			continue
		}
		reach := e.end
		if n := len(until[e.TID]); n > 0 {
			reach = max(reach, until[e.TID][n-1])
		}
		starts[e.TID], until[e.TID] = append(starts[e.TID], e.at), append(until[e.TID], reach)
	}
	for i, e := range events {
		if e.Phase != "s" && e.Phase != "f" {
			continue
		}
		before, _ := slices.BinarySearch(starts[e.TID], e.at+1)
		if before == 0 || until[e.TID][before-1] < e.at {
			return fmt.Errorf("flow %d at %d has no slice on track %d", e.ID, e.at, e.TID)
		}
		if e.Name != "message" {
			continue
		}
		if x := events[i-1]; x.Phase != "X" || x.TID != e.TID || x.at != e.at {
			return fmt.Errorf("flow %d has no mark of its own", e.ID)
		}
	}
	return nil
}

// asyncMatch checks that every asynchronous slice has one beginning and one end,
// in this order, under the same name in the same process.
func asyncMatch(events []chromeEvent) error {
	open, used := map[int]chromeEvent{}, map[int]bool{}
	for _, e := range events {
		switch e.Phase {
		case "b":
			if used[e.ID] || e.Cat == "" {
				return fmt.Errorf("asynchronous slice %d begins twice, or has no category", e.ID)
			}
			open[e.ID], used[e.ID] = e, true
		case "e":
			b, ok := open[e.ID]
			if !ok || e.at < b.at || e.PID != b.PID || e.TID != b.TID || e.Name != b.Name || e.Cat != b.Cat {
				return fmt.Errorf("asynchronous slice %d ends without its beginning", e.ID)
			}
			delete(open, e.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d asynchronous slices without an end", len(open))
	}
	return nil
}

func chromeOf(t *testing.T, logs ...*dataflow.Log) *chromeFile {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, WriteChrome(&out, logs...))
	f, err := readChrome(&out)
	require.NoError(t, err)
	return f
}

func (f *chromeFile) phase(phase string) []chromeEvent {
	return slices.DeleteFunc(slices.Clone(f.Events), func(e chromeEvent) bool { return e.Phase != phase })
}

func TestChromeOfCholesky(t *testing.T) {
	f := chromeOf(t, cholesky())
	assert.Equal(t, "50000", f.Other["elapsed_ns"])

	bodies := map[float64]chromeEvent{}
	states := map[string]int{}
	for _, e := range f.phase("X") {
		if e.Cat == "task" {
			bodies[e.Args["task"].(float64)] = e
		} else {
			states[e.Name]++
		}
	}
	require.Len(t, bodies, 10)
	assert.Equal(t, map[string]int{"wait": 2, "parked": 3, "blocked": 1}, states)
	gemm := bodies[5]
	assert.Equal(t, "gemm", gemm.Name)
	assert.Equal(t, int64(21500), gemm.at)
	assert.Equal(t, int64(30000), gemm.end)
	assert.Equal(t, "cholesky/main.go:13", gemm.Args["source"])
	assert.NotContains(t, gemm.Args, "parent")
	assert.Equal(t, 8., bodies[9].Args["parent"])
	assert.Equal(t, true, bodies[10].Args["failed"])
	assert.Equal(t, "terrible", bodies[10].Color)
	assert.Equal(t, bodies[2].Color, bodies[3].Color)

	// An arrow per dependence, from the last ns of one slice to the start of another.
	require.Len(t, f.phase("s"), 10)
	ends := map[int]chromeEvent{}
	for _, e := range f.phase("f") {
		ends[e.ID] = e
	}
	for _, s := range f.phase("s") {
		assert.True(t, slices.ContainsFunc(f.phase("X"), func(e chromeEvent) bool { return e.TID == s.TID && e.end == s.at+1 }))
		assert.True(t, slices.ContainsFunc(f.phase("X"), func(e chromeEvent) bool { return e.TID == ends[s.ID].TID && e.at == ends[s.ID].at }))
	}
}

func TestChromeCounters(t *testing.T) {
	at := map[int64]map[string]any{}
	for _, e := range chromeOf(t, cholesky()).phase("C") {
		at[e.at] = e.Args
	}
	assert.Equal(t, map[string]any{"ready": 1., "running": 0., "unfinished": 1.}, at[1000])
	assert.Equal(t, map[string]any{"ready": 0., "running": 1., "unfinished": 2.}, at[2000])
	assert.Equal(t, map[string]any{"ready": 2., "running": 0., "unfinished": 7.}, at[12000], "both trsm are ready")
	assert.Equal(t, map[string]any{"ready": 0., "running": 0., "unfinished": 0.}, at[47000])
}

func TestChromeCountersAreSampledInLongLogs(t *testing.T) {
	if invariant.Race {
		t.Skip("long, on one goroutine")
	}
	l, _, _ := simulate(rand.New(rand.NewPCG(1, 1)), 20_000, 2)
	points := chromeOf(t, l).phase("C")
	assert.LessOrEqual(t, len(points), maxSamples+2)
	assert.Greater(t, len(points), 1000)
	assert.Equal(t, map[string]any{"ready": 0., "running": 0., "unfinished": 0.}, points[len(points)-1].Args)
}

// A task with another inside and a successor gets a mark for its arrows.
func TestChromeMarksTheEndOfNests(t *testing.T) {
	b := newBuilder(1, "worker 0")
	outer := b.spawn(0, 0, "outer", 0)
	after := b.spawn(0, 0, "after", 0, outer)
	b.start(0, 1*us, outer)
	b.run(0, 2*us, 3*us, b.spawn(0, 2*us, "inner", outer))
	b.end(0, 5*us, outer)
	b.run(0, 6*us, 7*us, after)
	marks := chromeOf(t, &b.log).phase("i")
	require.Len(t, marks, 1)
	assert.Equal(t, int64(4999), marks[0].at)
}

func TestChromeNamesAreEscaped(t *testing.T) {
	b := newBuilder(1, "worker \"0\"\n")
	b.run(0, 1*us, 2*us, b.spawn(0, 0, "a\"b\\c\n\xff</script>", 0))
	e := chromeOf(t, &b.log).phase("X")
	assert.Equal(t, "a\"b\\c �</script>", e[0].Name)
}

func TestChromeReaderRefuses(t *testing.T) {
	const process = `{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"p"}},`
	const head = `{"displayTimeUnit":"ns","traceEvents":[` + process + `{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"w"}}`
	const held = head + `,{"ph":"X","pid":1,"tid":1,"ts":0,"dur":9,"name":"x"}`
	flow := func(phase, at, id string) string {
		return `,{"ph":"` + phase + `","pid":1,"tid":1,"bp":"e","ts":` + at + `,"id":` + id + `}`
	}
	async := func(phase, at, pid, id, name string) string {
		return `,{"ph":"` + phase + `","pid":` + pid + `,"tid":1,"cat":"message","ts":` + at + `,"id":` + id + `,"name":"` + name + `"}`
	}
	slice := func(at, dur string) string {
		return `,{"ph":"X","pid":1,"tid":1,"ts":` + at + `,"dur":` + dur + `,"name":"x"}`
	}
	for name, text := range map[string]string{
		"cut off":           head,
		"comma":             head + `,]}`,
		"two documents":     head + `]}{}`,
		"overlap":           head + slice("1", "2") + slice("2", "2") + `]}`,
		"inner before":      head + slice("1", "1") + slice("1", "2") + `]}`,
		"no duration":       head + `,{"ph":"X","pid":1,"tid":1,"ts":1,"name":"x"}]}`,
		"negative":          head + slice("-1", "2") + `]}`,
		"part of a ns":      head + slice("1.0005", "2") + `]}`,
		"unnamed track":     `{"traceEvents":[` + process + slice("1", "2")[1:] + `]}`,
		"unnamed rank":      head + strings.Replace(slice("1", "2"), `"pid":1`, `"pid":2`, 1) + `]}`,
		"rank named twice":  head + `,` + process[:len(process)-1] + `]}`,
		"track named twice": head + `,{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"v"}}]}`,
		"track of another":  head + `,{"ph":"M","pid":2,"tid":2,"name":"process_name","args":{"name":"q"}}` + strings.Replace(slice("1", "2"), `"pid":1`, `"pid":2`, 1) + `]}`,
		"unknown phase":     head + `,{"ph":"Q","ts":1}]}`,
		"flow without end":  held + flow("s", "1", "1") + `]}`,
		"flow without head": held + flow("f", "1", "1") + `]}`,
		"flow backwards":    held + flow("s", "2", "1") + flow("f", "1", "1") + `]}`,
		"flow begins twice": held + flow("s", "1", "1") + flow("s", "1", "1") + flow("f", "2", "1") + `]}`,
		"flow ends twice":   held + flow("s", "1", "1") + flow("f", "2", "1") + flow("f", "2", "1") + `]}`,
		"flow on nothing":   head + slice("1", "1") + flow("s", "1", "1") + flow("f", "3", "1") + `]}`,
		"flow off its mark": held + strings.ReplaceAll(flow("s", "1", "1")+flow("f", "1", "1"), `"id":1`, `"id":1,"name":"message"`) + `]}`,
		"message no end":    head + async("b", "1", "1", "1", "send") + `]}`,
		"message no begin":  head + async("e", "1", "1", "1", "send") + `]}`,
		"message backwards": head + async("b", "2", "1", "1", "send") + async("e", "1", "1", "1", "send") + `]}`,
		"message renamed":   head + async("b", "1", "1", "1", "send") + async("e", "2", "1", "1", "recv") + `]}`,
		"message number":    head + async("b", "1", "1", "1", "send") + async("e", "2", "1", "1", "send") + async("b", "3", "1", "1", "send") + async("e", "4", "1", "1", "send") + `]}`,
		"message rank":      head + async("b", "1", "2", "1", "send") + async("e", "2", "2", "1", "send") + `]}`,
	} {
		_, err := readChrome(bytes.NewBufferString(text))
		assert.Error(t, err, name)
	}
	for _, good := range []string{
		head + slice("1", "2") + slice("1", "1") + slice("2", "1") + `]}`,
		held + flow("s", "1", "1") + flow("f", "1", "1") + `]}`,
		head + async("b", "1", "1", "1", "send") + async("b", "1", "1", "2", "send") + async("e", "2", "1", "1", "send") + async("e", "2", "1", "2", "send") + `]}`,
	} {
		_, err := readChrome(bytes.NewBufferString(good))
		assert.NoError(t, err)
	}
}
