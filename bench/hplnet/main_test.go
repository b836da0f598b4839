package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/mpi/world"
)

// start runs the program with another solver, if there is one, and returns its output.
func start(t *testing.T, solve solver, args string) (string, error) {
	t.Helper()
	c, err := parseArgs(strings.Fields(args))
	require.NoError(t, err)
	if solve != nil {
		c.solve = solve
	}
	var out bytes.Buffer
	err = c.run(&out, &bytes.Buffer{})
	return out.String(), err
}

// model is a solver that takes a time which follows from its arguments: task is twice
// as fast as the rest, depth 2 the best of these, NB=144 and 1rg are the best choices.
func model(p point, c hpl.Config, _ []*dataflow.Log) (hpl.Result, error) {
	seconds := 2.0 + 0.1*math.Abs(float64(c.Depth-2)) + 0.001*math.Abs(float64(c.NB-144))
	if c.Variant == hpl.Task {
		seconds = 1 + 0.001*math.Abs(float64(c.NB-144))
	}
	if c.Bcast != hpl.Ring {
		seconds += 0.05
	}
	seconds *= 1 + p.noise
	return hpl.Result{Seconds: seconds, GFlops: 1 / seconds, Residual: 1e-3}, nil
}

// The real thing, small.
func TestRun_solves(t *testing.T) {
	dir := t.TempDir()
	out, err := start(t, nil, "-quick -n 60 -nb 8 -reps 1 -workers 1 -net ib -out "+dir+" lookahead noise")
	require.NoError(t, err)
	for _, name := range []string{"lookahead", "noise-1x2", "noise-2x1"} {
		assert.FileExists(t, filepath.Join(dir, name+".csv"))
		assert.FileExists(t, filepath.Join(dir, name+".svg"))
	}
	assert.Len(t, report.Figures(out, "residual"), 5*(2+2*2), "drivers, grids, points")
	assert.Len(t, report.Figures(out, "ratio_task"), 2+2*2)
	assert.Len(t, report.Figures(out, "ratio_task_bound"), 2, "the grids of lookahead")
	for _, v := range report.Figures(out, "ratio_task_bound") {
		assert.Positive(t, v)
	}
	assert.NoFileExists(t, filepath.Join(dir, "size-1x1.csv"), "was not asked for")
	for _, v := range report.Figures(out, "residual") {
		assert.Less(t, v, 1.0)
	}
}

func TestRun_all_experiments(t *testing.T) {
	dir := t.TempDir()
	out, err := start(t, model, "-reps 3 -nb 96,144 -noise-period 1ms -out "+dir)
	require.NoError(t, err)
	for _, name := range []string{
		"size-1x1", "size-1x2", "size-2x1", "bandwidth-1x2-host", "bandwidth-1x2-nic", "bandwidth-2x1-host", "bandwidth-2x1-nic",
		"latency-1x2-host", "latency-1x2-nic", "latency-2x1-host", "latency-2x1-nic", "noise-1x2", "noise-2x1",
	} {
		table, err := os.Open(filepath.Join(dir, name+".csv"))
		require.NoError(t, err)
		l, err := chart.ReadLines(table)
		require.NoError(t, err)
		require.NoError(t, table.Close())
		require.Len(t, l.Series, len(drivers), name)
		for _, s := range l.Series {
			assert.GreaterOrEqual(t, len(s.X), 5, name)
		}
		picture, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		require.NoError(t, err)
		assert.Contains(t, string(picture), "look-ahead 3")
	}
	assert.FileExists(t, filepath.Join(dir, "lookahead.svg"))
	assert.Contains(t, out, "best NB=144 BCAST=1rg")
	assert.Contains(t, out, "best NB=144 BCAST=1rM", "with one process in a row, broadcasts are not tried")
	assert.Contains(t, out, "against=look-ahead_2 ratio_task=2")
	assert.Contains(t, out, "widest gap at")
	for _, column := range []string{" order of the matrix ", " bytes/s ", " s ", " % ", " grid "} {
		assert.Regexp(t, "(?m)^ *"+column+" +task ", out)
	}
	assert.Equal(t, 13, strings.Count(out, "ratio_task_max="))
	tail := out[strings.Index(out, "charts and tables are in"):]
	for _, line := range strings.Split(strings.TrimSpace(tail), "\n")[2:] {
		_, ok := report.Parse(line)
		assert.True(t, ok, line)
	}
	for _, part := range report.Figures(out, "stolen_percent") {
		assert.GreaterOrEqual(t, part, 0.0)
	}
}

func TestTune_searches_once(t *testing.T) {
	c, err := parseArgs(strings.Fields("-nb 96,144,192"))
	require.NoError(t, err)
	var out bytes.Buffer
	c.out = &lastingWriter{w: &out}
	runs := 0
	c.solve = func(p point, x hpl.Config, _ []*dataflow.Log) (hpl.Result, error) {
		runs++
		return model(p, x, nil)
	}
	p := point{grid: c.grids[0], net: c.net, n: 1000}
	for range 2 {
		best, err := c.tune(p, drivers[0])
		require.NoError(t, err)
		assert.Equal(t, choice{144, hpl.Ring}, best)
	}
	assert.Equal(t, 3+2, runs)
	assert.Equal(t, 1, strings.Count(out.String(), "search, task, grid 1x2, N=1000"))
}

// A driver that was the best of the first round by luck is not the best of the second.
func TestCompare_second_round(t *testing.T) {
	c, err := parseArgs(strings.Fields("-quick -reps 3"))
	require.NoError(t, err)
	runs := 0
	c.solve = func(p point, x hpl.Config, _ []*dataflow.Log) (hpl.Result, error) {
		runs++
		if runs <= 3*len(drivers) && x.Variant == hpl.Blocking {
			return hpl.Result{Seconds: 0.5, GFlops: 2}, nil
		}
		return hpl.Result{Seconds: 1, GFlops: 1}, nil
	}
	samples, err := c.compare(point{grid: c.grids[0], n: 100}, drivers)
	require.NoError(t, err)
	times, best := ratio(samples)
	assert.Equal(t, "blocking", best.label)
	assert.Equal(t, 1.0, times)
}

// The median of a search's short runs counts.
func TestTune_short_runs(t *testing.T) {
	c, err := parseArgs(nil)
	require.NoError(t, err)
	speeds := []float64{1, 100, 2, 90, 3}
	c.solve = func(point, hpl.Config, []*dataflow.Log) (hpl.Result, error) {
		r := hpl.Result{Seconds: enough / 4.5, GFlops: speeds[0]}
		speeds = speeds[1:]
		return r, nil
	}
	speed, err := c.try(point{grid: c.grids[0], n: 100}, drivers[0], choice{nb: 96})
	require.NoError(t, err)
	assert.Equal(t, 3.0, speed)
	assert.Empty(t, speeds)
	tries := 0
	c.solve = func(point, hpl.Config, []*dataflow.Log) (hpl.Result, error) {
		tries++
		return hpl.Result{Seconds: 1e-6, GFlops: 1}, nil
	}
	_, err = c.try(point{grid: c.grids[0], n: 100}, drivers[0], choice{nb: 96})
	require.NoError(t, err)
	assert.Equal(t, triesEach, tries)
}

// A matrix that does not fit is refused before the first run, where the system tells.
func TestUsage_of_memory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how much memory there is: run this test there")
	}
	_, err := parseArgs(strings.Fields("-n 500000000"))
	assert.ErrorContains(t, err, "N = 500000000 on 1 x 2 processes needs ")
}

// The drivers take turns, and each is at each place.
func TestCompare_interleaves(t *testing.T) {
	c, err := parseArgs(strings.Fields("-quick -reps 5"))
	require.NoError(t, err)
	var order []string
	c.solve = func(p point, x hpl.Config, _ []*dataflow.Log) (hpl.Result, error) {
		order = append(order, fmt.Sprint(int(x.Variant), x.Depth))
		return model(p, x, nil)
	}
	samples, err := c.compare(point{grid: c.grids[0], n: 100}, drivers)
	require.NoError(t, err)
	require.Len(t, order, 25+10)
	for rep := range 5 {
		assert.ElementsMatch(t, []string{order[0], fmt.Sprint(int(hpl.LookAhead), 2)}, order[25+2*rep:][:2], "the second round")
	}
	assert.NotEqual(t, order[25], order[27], "the two take turns")
	for place := range drivers {
		seen := map[string]bool{}
		for rep := range 5 {
			seen[order[5*rep+place]] = true
		}
		assert.Len(t, seen, 5)
	}
	times, best := ratio(samples)
	assert.InDelta(t, 2.098/1.098, times, 1e-9)
	assert.Equal(t, "look-ahead 2", best.label)
}

// Solutions that are wrong, and solvers that fail, end the program.
func TestRun_fails(t *testing.T) {
	for name, c := range map[string]struct {
		result hpl.Result
		err    error
		says   string
	}{
		"wrong":    {hpl.Result{Seconds: 1, GFlops: 1, Residual: 17}, nil, "the residual is 17: it has to be below 16"},
		"NaN":      {hpl.Result{Seconds: 1, GFlops: 1, Residual: math.NaN()}, nil, "the residual is NaN"},
		"singular": {hpl.Result{Seconds: 1, GFlops: 1, Singular: 3}, nil, "the residual is"},
		"error":    {hpl.Result{}, errors.New("no luck"), "task, N=250 NB=96, grid 1x1, none: no luck"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		out, err := start(t, func(point, hpl.Config, []*dataflow.Log) (hpl.Result, error) { return c.result, c.err }, "-quick -out "+dir+" size")
		assert.ErrorContains(t, err, c.says, name)
		assert.False(t, errors.Is(err, world.ErrUsage), name)
		assert.NotContains(t, out, "result ", name)
		assert.NoDirExists(t, dir)
	}
}

func TestUsage(t *testing.T) {
	for args, complaint := range map[string]string{
		"-x":                "not defined",
		"weather":           `there is no experiment "weather": there are size, bandwidth, latency, noise, lookahead, scale, processors`,
		"-n 0":              "-n 0",
		"-reps 0":           "-reps 0",
		"-workers -1":       "-workers -1",
		"-grids 2":          `"2" is no grid`,
		"-grids 1x2,0x1":    `"0x1" is no grid`,
		"-nb 96,wide":       `"wide" is no width`,
		"-progress host,us": `"us" is no way of progress`,
		"-net pigeon":       "pigeon",
		"-isa abacus":       "abacus",
		"-noise-period 1us": "-noise-period 1µs",
		"-out=":             "-out is empty",
		"size -quick":       "-quick comes after size: flags go before the experiments",
		"-grids 1x2,1x2":    "grid 1x2 is there twice",
		"-progress nic,nic": "nic is there twice",
		"-nb 99999999999":   `"99999999999" is no width`,
		"-n 999999999":      "999999999",
		"-grids 64x64":      "4096 ranks of 1 worker(s) are too many",
		"-workers 8000":     "-workers 8000: it is at most 1024",
		"-out /dev/null":    "-out: mkdir /dev/null: not a directory",
	} {
		var out bytes.Buffer
		err := run(strings.Fields(args), &out, &out)
		assert.ErrorIs(t, err, world.ErrUsage, args)
		assert.ErrorContains(t, err, complaint, args)
		assert.Empty(t, out.String(), args)
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run([]string{"-h"}, &out, &out))
	for _, word := range append(experimentNames(), "-quick", "-out folder", "-net", "Exit codes") {
		assert.Contains(t, out.String(), word)
	}
}

// A disk that is full ends the program after the experiment, with an error.
func TestRun_output_that_cannot_be_written(t *testing.T) {
	c, err := parseArgs(strings.Fields("-quick -reps 1 -out " + t.TempDir()))
	require.NoError(t, err)
	c.solve = model
	err = c.run(iotest.TruncateWriter(&bytes.Buffer{}, 0), &bytes.Buffer{})
	require.NoError(t, err, "the control")
	full, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	assert.ErrorContains(t, c.run(full, &bytes.Buffer{}), "size: write")
}

// smallMachine writes a machine file.
func smallMachine(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "small.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"name": "small", "nodes": 2, "cores": 2, "network": "gige",
		"kernels": {"gflops": 10, "efficiency": 1, "half": 4, "memory": 5, "cached": 20, "line": 3, "call": 0.1}}`), 0o600))
	return dir, file
}

// The experiment scale runs its three lines on a simulated machine.
func TestScale(t *testing.T) {
	dir, file := smallMachine(t)
	var out, complaints bytes.Buffer
	require.NoError(t, run([]string{"-machine", file, "-n", "1024", "-out", dir}, &out, &complaints), complaints.String())
	speeds := report.Figures(out.String(), "gflops")
	require.Len(t, speeds, 3)
	for _, s := range speeds {
		assert.Greater(t, s, 1.0)
		assert.Less(t, s, 40.0, "the peak")
	}
	for _, name := range []string{"scale-small.svg", "scale-small.csv"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	assert.NotContains(t, out.String(), "kernels avx")
	for args, complaint := range map[string]string{
		"scale": "scale needs a machine", "processors": "processors needs a machine", "-machine moon": "no such preset",
		"-machine js21 size": "size does not run on a simulated machine",
	} {
		err := run(strings.Fields(args), &out, &out)
		assert.ErrorIs(t, err, world.ErrUsage, args)
		assert.ErrorContains(t, err, complaint, args)
	}
}

// On a simulated machine, links of less bandwidth and stolen cores cost time, and more processors
// bring speed.
func TestSimulated_sweeps(t *testing.T) {
	dir, file := smallMachine(t)
	var out, complaints bytes.Buffer
	require.NoError(t, run([]string{"-machine", file, "-quick", "-n", "1024", "-out", dir, "bandwidth", "latency", "noise", "processors"}, &out, &complaints), complaints.String())
	by := map[string][]float64{}
	for line := range strings.Lines(out.String()) {
		if r, ok := report.Parse(strings.TrimSpace(line)); ok && r["variant"] == "task" {
			speed, err := strconv.ParseFloat(r["gflops"], 64)
			require.NoError(t, err)
			by[r["experiment"]] = append(by[r["experiment"]], speed)
		}
	}
	require.Len(t, by["bandwidth"], 4, "two values, host and nic")
	assert.Greater(t, by["bandwidth"][1], by["bandwidth"][0])
	require.Len(t, by["latency"], 4, "two values, host and nic")
	assert.Less(t, by["latency"][1], by["latency"][0])
	require.Len(t, by["noise"], 2)
	assert.Less(t, by["noise"][1], by["noise"][0])
	require.Len(t, by["processors"], 2*3, "orders of two sizes")
	assert.Greater(t, by["processors"][5], by["processors"][2])
	for _, name := range []string{"bandwidth-small-host", "bandwidth-small-nic", "latency-small-host", "latency-small-nic", "noise-small", "processors-small", "processors-small-2", "processors-small-4"} {
		assert.FileExists(t, filepath.Join(dir, name+".csv"))
	}
	assert.Len(t, report.Figures(out.String(), "n_half"), 2*3)
}

// The fit finds the model that made the speeds.
func TestFit(t *testing.T) {
	want := seconds{cubic: 2.0 / 3 / 4e12, square: 3e-9, linear: 2e-5}
	orders := []float64{8192, 16384, 32768, 65536}
	var speeds []float64
	for _, n := range orders {
		speeds = append(speeds, operations(n)/(n*(want.linear+n*(want.square+n*want.cubic)))/1e9)
	}
	got := fit(orders, speeds)
	assert.InEpsilon(t, 4000, got.asymptote(), 1e-6)
	n := got.half()
	assert.InEpsilon(t, 2000, operations(n)/(n*(want.linear+n*(want.square+n*want.cubic)))/1e9, 1e-3)
	assert.True(t, math.IsNaN(seconds{cubic: -1}.half()), "no asymptote")
	assert.Equal(t, []float64{128, 5760}, ordersOf([]float64{10, 8192}, 0.5))
}

// A block wider than the matrix is one block.
func TestAt_wide_blocks(t *testing.T) {
	c, err := parseArgs(nil)
	require.NoError(t, err)
	p := point{grid: c.grids[0], n: 100}
	assert.Equal(t, 100, c.at(p, drivers[0], choice{nb: 192}).NB)
	assert.Equal(t, 96, c.at(p, drivers[0], choice{nb: 96}).NB)
}

// Thieves use processor time, except those that steal nothing, and none after stop.
func TestThieves(t *testing.T) {
	assert.Zero(t, steal(0, time.Millisecond).stop())
	s := steal(0.3, time.Millisecond)
	begin := time.Now()
	for s.stolen.Load() == 0 && time.Since(begin) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	part := s.stop()
	assert.Positive(t, part)
	assert.Less(t, part, 1.0)
}
