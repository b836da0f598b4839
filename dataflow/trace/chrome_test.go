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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
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
	threads := map[int]bool{}
	for i := range f.Events {
		e := &f.Events[i]
		if err := e.times(); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		if e.Phase == "M" && e.Name == "thread_name" {
			threads[e.TID] = true
		}
		if e.Phase == "X" && !threads[e.TID] {
			return nil, fmt.Errorf("event %d is on a track without a name", i)
		}
	}
	if err := nested(f.Events); err != nil {
		return nil, err
	}
	return &f, flowsMatch(f.Events)
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
	case "s", "f", "i", "C":
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
	for _, e := range events {
		if e.Phase != "f" {
			continue
		}
		at, ok := begins[e.ID]
		if !ok || e.at < at || e.BP != "e" {
			return fmt.Errorf("flow %d ends without a beginning, before it, or outside a slice", e.ID)
		}
		delete(begins, e.ID)
	}
	if len(begins) > 0 {
		return fmt.Errorf("%d flows without an end", len(begins))
	}
	return nil
}

func chromeOf(t *testing.T, l *dataflow.Log) *chromeFile {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, WriteChrome(&out, l))
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
	const head = `{"displayTimeUnit":"ns","traceEvents":[{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"w"}}`
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
		"unnamed track":     `{"traceEvents":[` + slice("1", "2")[1:] + `]}`,
		"unknown phase":     head + `,{"ph":"Q","ts":1}]}`,
		"flow without end":  head + `,{"ph":"s","ts":1,"id":1}]}`,
		"flow without head": head + `,{"ph":"f","bp":"e","ts":1,"id":1}]}`,
		"flow backwards":    head + `,{"ph":"s","ts":2,"id":1},{"ph":"f","bp":"e","ts":1,"id":1}]}`,
	} {
		_, err := readChrome(bytes.NewBufferString(text))
		assert.Error(t, err, name)
	}
	_, err := readChrome(bytes.NewBufferString(head + slice("1", "2") + slice("1", "1") + slice("2", "1") + `]}`))
	assert.NoError(t, err)
}
