package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// traced runs three tasks with the variable set, and returns the name of its log.
func traced(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "run-%p.log")
	t.Setenv("WEFT_TRACE", name)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for range 3 {
			rt.Spawn("tick", func(*tasks.Context) error { return nil })
		}
		return nil
	}, dataflow.Workers(1))
	require.NoError(t, err)
	all, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*.log"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

func TestLogsOfTheEnvironmentAreShown(t *testing.T) {
	first, second := traced(t), traced(t)
	var out, complaints bytes.Buffer
	assert.Zero(t, run([]string{first}, &out, &complaints), complaints.String())
	assert.Regexp(t, `tick +3`, out.String())
	page := filepath.Join(t.TempDir(), "run.html")
	assert.Zero(t, run([]string{first, second, page}, &out, &complaints), complaints.String())
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "tick")
}

func TestTwoRunsAreCompared(t *testing.T) {
	first, second := traced(t), traced(t)
	var out, complaints bytes.Buffer
	page := filepath.Join(t.TempDir(), "both.html")
	assert.Zero(t, run([]string{"-compare", first, second, page}, &out, &complaints), complaints.String())
	assert.Regexp(t, `tick +3 +3`, out.String())
	assert.FileExists(t, page)
}

func TestWrongUse(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.log")
	broken := filepath.Join(t.TempDir(), "broken.log")
	require.NoError(t, os.WriteFile(broken, []byte("no log"), 0o600))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "WEFT_TRACE=run.log"},
		{[]string{"run.html"}, 2, "run.html is no .log"},
		{[]string{"run.html", "run.log"}, 2, "run.html is no .log"},
		{[]string{"-compare", "run.log"}, 2, "wants two logs"},
		{[]string{none}, 1, none},
		{[]string{broken}, 1, "broken.log is no log of a run that has ended"},
		{[]string{traced(t), "run.pdf"}, 1, "no format"},
	} {
		var out, complaints bytes.Buffer
		assert.Equal(t, c.code, run(c.args, &out, &complaints), c.args)
		assert.Contains(t, complaints.String(), c.want)
	}
}

// The messages of a communication thread are in its runtime's log: their tasks are done, and the
// logs of two ranks are shown as those ranks, however they are named.
func TestMessagesAreInTheLogs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WEFT_TRACE", filepath.Join(dir, "run.log"))
	const rounds = 5
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			x := make([]int, rounds)
			for i := range x {
				if c.Rank() == 0 {
					ct.Send(rt, c, mpi.One(&x[i]), 1, 0)
				} else {
					ct.Recv(rt, c, mpi.One(&x[i]), 0, 0)
				}
			}
			return rt.Wait()
		}, []dataflow.Option{dataflow.Workers(1)})
	}))
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	require.NoError(t, err)
	require.Len(t, logs, 2)
	for _, names := range [][]string{logs[:1], logs[1:], logs, {logs[1], logs[0]}} {
		var out, complaints bytes.Buffer
		require.Zero(t, run(names, &out, &complaints), complaints.String())
		assert.NotContains(t, out.String(), "never started")
		kinds := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^ +(send|recv) +(\d+)`).FindAllStringSubmatch(out.String(), -1) {
			kinds[m[1]] = m[2]
		}
		want := map[string]string{"send": "5", "recv": "5"}
		if len(names) == 1 {
			assert.Len(t, kinds, 1, out.String())
			assert.Subset(t, want, kinds)
		} else {
			assert.Equal(t, want, kinds, out.String())
		}
	}
}
