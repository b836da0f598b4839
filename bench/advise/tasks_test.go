package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// timeline writes a trace of one message from rank 0 to rank 1, sent at 0: its receive is
// posted at 100*late us and ends at 1000 us, when task "use" begins; with work, a body runs
// on rank 1 all the time before.
func timeline(t *testing.T, bytes, late int, work bool) string {
	t.Helper()
	lines := []string{
		`{"ph":"b","pid":0,"tid":2,"ts":0.000,"cat":"message","id":1,"name":"send","args":{"kind":"send","peer":1,"tag":7,"bytes":9,"comm":1,"seq":1,"task":1,"label":"send","ready":0.000}}`,
		`{"ph":"e","pid":0,"tid":2,"ts":900.000,"cat":"message","id":1,"name":"send"}`,
		fmt.Sprintf(`{"ph":"X","pid":1,"tid":3,"ts":%d.000,"dur":1.000,"name":"recv","cat":"task","args":{"task":1,"label":"recv"}}`, 100*late),
		fmt.Sprintf(`{"ph":"s","pid":1,"tid":3,"ts":%d.999,"id":5,"name":"dependence","cat":"flow"}`, 100*late),
		`{"ph":"f","pid":1,"tid":3,"ts":1000.000,"bp":"e","id":5,"name":"dependence","cat":"flow"}`,
		`{"ph":"X","pid":1,"tid":3,"ts":1000.000,"dur":500.000,"name":"use","cat":"task","args":{"task":2,"label":"use","source":"a/b.go:3"}}`,
		fmt.Sprintf(`{"ph":"b","pid":1,"tid":4,"ts":%d.000,"cat":"message","id":2,"name":"recv","args":{"kind":"recv","peer":0,"tag":7,"bytes":%d,"comm":1,"seq":1,"task":1,"label":"recv","ready":%d.000}}`, 100*late, bytes, 100*late),
		`{"ph":"e","pid":1,"tid":4,"ts":1000.000,"cat":"message","id":2,"name":"recv"}`,
	}
	if work {
		lines = append(lines, `{"ph":"X","pid":1,"tid":5,"ts":0.000,"dur":1000.000,"name":"inner","cat":"task","args":{"task":9,"label":"inner"}}`)
	}
	name := filepath.Join(t.TempDir(), "run.json")
	text := `{"displayTimeUnit":"ns","otherData":{},"traceEvents":[` + strings.Join(lines, ",\n") + "]}"
	require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	return name
}

// A wait of a task that nothing hides is advised on; the same wait beside a body is not, nor
// a receive that was there in time, nor a message too short to be read in parts.
func TestTasks(t *testing.T) {
	const early, lazy, none = "Earlier receive", "Lazy input", "Nothing to advise"
	for _, c := range []struct {
		name        string
		bytes, late int
		work        bool
		want, not   []string
	}{
		{"late and long", 1 << 20, 5, false, []string{early, lazy, "(a/b.go:3)"}, []string{none}},
		{"in time", 1 << 20, 0, false, []string{lazy}, []string{early, none}},
		{"late and short", 64, 5, false, []string{early}, []string{lazy, none}},
		{"hidden", 1 << 20, 5, true, []string{none}, []string{early, lazy}},
		{"in time and short", 64, 0, false, []string{none}, []string{early, lazy}},
	} {
		out, complaints, code := advised(timeline(t, c.bytes, c.late, c.work))
		require.Zero(t, code, complaints)
		for _, s := range c.want {
			assert.Contains(t, out, s, c.name)
		}
		for _, s := range c.not {
			assert.NotContains(t, out, s, c.name)
		}
	}
}

// The figures match the file: 500 us late, and idle from there on.
func TestTasks_figures(t *testing.T) {
	ranks, err := readTrace(timeline(t, 1<<20, 5, false))
	require.NoError(t, err)
	a := assess("x", ranks)
	require.Len(t, a.Strips, 1)
	s := a.Strips[0]
	assert.Equal(t, "use", s.Reader)
	assert.InDelta(t, 500e-6, s.Behind, 1e-9)
	assert.InDelta(t, 0, s.Slack, 1e-9)
	assert.InDelta(t, 500e-6/2, s.Stall, 1e-9, "one of two ranks")
	assert.InDelta(t, 500e-6/2, s.Early, 1e-9)
	assert.InDelta(t, 500e-6/2, s.Lazy, 1e-9)
}

// Files that are cut short, or have no messages, are refused.
func TestTasks_refused(t *testing.T) {
	name := timeline(t, 64, 1, false)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, text[:len(text)-20], 0o666))
	_, complaints, code := advised(name)
	assert.Equal(t, 1, code)
	assert.Contains(t, complaints, "cut short")
	require.NoError(t, os.WriteFile(name, []byte(`{"displayTimeUnit":"ns","traceEvents":[]}`), 0o666))
	_, complaints, code = advised(name)
	assert.Equal(t, 1, code)
	assert.Contains(t, complaints, "no messages")
}
