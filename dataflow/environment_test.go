package dataflow_test

import (
	"encoding/gob"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

func idleBody(*dataflow.Runtime) error { return nil }

// slots returns the number of workers of a run with these options.
func slots(t *testing.T, opts ...dataflow.Option) (n int) {
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		n = rt.Log().Slots
		return nil
	}, append(opts, dataflow.Trace(0), dataflow.Pin(false))...))
	return n
}

func TestEnvironmentSetsWorkers(t *testing.T) {
	t.Setenv("WEFT_WORKERS", "3")
	assert.Equal(t, 3, slots(t))
	assert.Equal(t, 2, slots(t, dataflow.Workers(2)), "the program decides if it says anything")
	t.Setenv("WEFT_WORKERS", "")
	assert.Positive(t, slots(t), "empty is as if it were not set")
}

func TestEnvironmentSetsTheStallTime(t *testing.T) {
	stalled := func(opts ...dataflow.Option) error {
		return dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("held", func(ctx *tasks.Context) error {
				held := ctx.Hold()
				time.AfterFunc(300*time.Millisecond, func() { held.Done() })
				return nil
			})
			return rt.Wait()
		}, append(opts, dataflow.Workers(1), dataflow.Pin(false))...)
	}
	t.Setenv("WEFT_STALL", "20ms")
	report := captureStderr(t, func() { require.NoError(t, stalled()) })
	assert.Regexp(t, `no progress for \d+ms`, report) // 20, or more on a busy machine
	report = captureStderr(t, func() { require.NoError(t, stalled(dataflow.Stall(time.Minute, false))) })
	assert.Empty(t, report, "the program decides if it says anything")
	t.Setenv("WEFT_STALL", "0")
	assert.Empty(t, captureStderr(t, func() { require.NoError(t, stalled()) }))
}

func TestEnvironmentWritesLogs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run-%p.log")
	t.Setenv("WEFT_TRACE", name)
	for range 2 {
		require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("tick", func(*tasks.Context) error { return nil })
			return nil
		}))
	}
	require.NoError(t, dataflow.Run(idleBody, dataflow.Trace(100)), "the program keeps its log to itself")
	all, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*"))
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, file := range all {
		assert.Contains(t, file, "run-"+strconv.Itoa(os.Getpid()))
		f, err := os.Open(file)
		require.NoError(t, err)
		var l dataflow.Log
		require.NoError(t, gob.NewDecoder(f).Decode(&l))
		require.NoError(t, f.Close())
		assert.Equal(t, "tick", l.Labels[0].Name)
	}
}

func TestEnvironmentRefusesBadValues(t *testing.T) {
	for _, c := range [][3]string{
		{"WEFT_WORKERS", "two", "must be a number of cores"},
		{"WEFT_WORKERS", "0", "must be 1 to"},
		{"WEFT_WORKERS", "100000", "must be 1 to"},
		{"WEFT_STALL", "10", "must be a duration"},
		{"WEFT_STALL", "-1s", "must not be negative"},
		{"WEFT_TRACE", "run.html", "must end in .log"},
		{"WEFT_TRACE", filepath.Join(t.TempDir(), "none", "run.log"), "no such file"},
	} {
		t.Run(c[0]+"="+c[1], func(t *testing.T) {
			t.Setenv(c[0], c[1])
			err := dataflow.Run(idleBody)
			assert.ErrorContains(t, err, c[0])
			assert.ErrorContains(t, err, c[2])
		})
	}
}

// captureStderr returns what f prints to standard error.
func captureStderr(t *testing.T, f func()) string {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	before := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = before }()
	f()
	require.NoError(t, file.Close())
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	return string(text)
}
