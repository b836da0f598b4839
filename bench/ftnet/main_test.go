package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

// small says that runs should do less: the race detector makes everything slow.
func small() bool { return invariant.Race || testing.Short() }

// execute runs the program and returns its exit code, as main does.
func execute(args string, change func(*config)) (code int, stdout, complaints string) {
	var out, problems bytes.Buffer
	less := func(c *config) {
		if small() {
			c.class = c.class.First(1)
		}
		if change != nil {
			change(c)
		}
	}
	err := program{&out, &problems, less}.run(strings.Fields(args))
	switch {
	case err == nil:
		return 0, out.String(), problems.String()
	case errors.Is(err, world.ErrUsage):
		return 2, out.String(), problems.String() + err.Error()
	}
	return 1, out.String(), problems.String() + err.Error()
}

// Figures are drawn, and their tables read back.
func TestRun_columns(t *testing.T) {
	figures, nets, groups := "speedup communication onesided messages", "-net ib -net balanced", []string{"ib", "balanced"}
	series, variants := map[string]int{"speedup": 3, "communication": 4, "communication-onesided": 4, "onesided": 4}, 8
	if small() {
		figures, nets, groups = "speedup messages", "-net ib", groups[:1]
		series, variants = map[string]int{"speedup": 3}, 4
	}
	dir := t.TempDir()
	code, out, complaints := execute(figures+" -quick -reps 1 -workers 1 "+nets+" -out "+dir, nil)
	require.Zero(t, code, complaints)
	for name, n := range series {
		for _, mode := range []string{"-host", "-nic"} {
			b := readBars(t, dir, name+mode)
			assert.Equal(t, groups, b.Groups)
			assert.Len(t, b.Series, n)
		}
	}
	counts, sizes := readBars(t, dir, "messages"), readBars(t, dir, "messages-sizes")
	require.Equal(t, []string{"exchange", "slabs", "pencils", "tasks"}, counts.Groups)
	assert.Equal(t, 1.0, counts.Series[0].Y[0], "one message to the only peer")
	assert.Equal(t, 32.0, counts.Series[0].Y[1], "one message per plane")
	assert.Equal(t, 64*64*16/2., sizes.Series[1].Y[1], "half a plane")
	picture, err := os.ReadFile(filepath.Join(dir, "messages-sizes.svg"))
	require.NoError(t, err)
	assert.Contains(t, string(picture), ">32 KiB<", "half a plane, in a picture where all sizes are seen")
	assert.Contains(t, string(picture), ">"+machine.Line()+"<")
	results := variants * (1 + 2*len(groups)) // one run without a network, to count messages
	assert.Equal(t, results, strings.Count(out, "\nresult "))
	assert.Len(t, report.Figures(out, "speedup"), results)
	assert.Contains(t, out, "best over exchange")
}

func TestRun_curves(t *testing.T) {
	if small() {
		t.Skip("columns are enough for a short run: run without -short and -race")
	}
	dir := t.TempDir()
	code, _, complaints := execute("bandwidth -quick latency -reps 1 -out "+dir, nil)
	require.Zero(t, code, complaints)
	for name, points := range map[string]int{"bandwidth": 3, "latency": 2} {
		f, err := os.Open(filepath.Join(dir, name+".csv"))
		require.NoError(t, err)
		c, err := chart.ReadLines(f)
		require.NoError(t, errors.Join(err, f.Close()))
		require.Len(t, c.Series, 6)
		for _, s := range c.Series {
			assert.Len(t, s.X, points)
		}
		picture, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		require.NoError(t, err)
		assert.Contains(t, string(picture), "workers of a rank: ")
	}
}

func readBars(t *testing.T, dir, name string) *chart.Bars {
	f, err := os.Open(filepath.Join(dir, name+".csv"))
	require.NoError(t, err)
	b, err := chart.ReadBars(f)
	require.NoError(t, errors.Join(err, f.Close()))
	assert.FileExists(t, filepath.Join(dir, name+".svg"))
	return b
}

// Patience ends a measurement after two repetitions, and the result lines say so.
func TestRun_patience(t *testing.T) {
	code, out, complaints := execute("messages -quick -reps 4 -patience 1ns", nil)
	require.Zero(t, code, complaints)
	assert.Equal(t, []float64{2, 2, 2, 2}, report.Figures(out, "reps"))
	if small() {
		return
	}
	code, out, complaints = execute("messages -quick -reps 3", nil)
	require.Zero(t, code, complaints)
	assert.Equal(t, []float64{3, 3, 3, 3}, report.Figures(out, "reps"))
}

// Curves are content with three repetitions, and take part in what columns have measured.
func TestLab_curve(t *testing.T) {
	c, err := parseArgs([]string{"-quick", "-reps", "4", "bandwidth"})
	require.NoError(t, err)
	c.class = c.class.First(1)
	l := newLab(c, nil)
	fast, err := local.ParseNet("ib")
	require.NoError(t, err)
	points, err := l.curve(fast)
	require.NoError(t, err)
	for _, p := range points {
		assert.Len(t, p.runs, 3)
	}
	first, err := l.columns(local.Net{})
	require.NoError(t, err)
	assert.Len(t, baseline(first).runs, 4)
	again, err := l.curve(local.Net{})
	require.NoError(t, err)
	assert.Same(t, first[0], again[0])
}

// A stage that is not given suits the variant.
func TestLab_stage(t *testing.T) {
	for args, want := range map[string][4]int{"": {0, 16, 16, 0}, "-stage 5": {0, 5, 5, 5}, "-stage 0": {}} {
		c, err := parseArgs(strings.Fields(args))
		require.NoError(t, err)
		l := newLab(c, nil)
		for i, v := range nas.Variants(false) {
			assert.Equal(t, want[i], l.dist(v).Stage, "%q, %v", args, v)
		}
	}
}

// Runs whose checksums are wrong are no measurement.
func TestRun_wrong_checksums_fail(t *testing.T) {
	code, out, complaints := execute("messages -quick -reps 1", func(c *config) { c.class.Seed++ })
	assert.Equal(t, 1, code)
	assert.Contains(t, complaints, "messages: net none: ")
	assert.Contains(t, complaints, nas.ErrVerification.Error())
	assert.NotContains(t, out, "result ")
}

// The balanced network carries a rank's messages in the time that the rank computes.
func TestBalance(t *testing.T) {
	b := balance{compute: 0.25, bytes: 1e9}
	net := b.net(1, time.Millisecond)
	assert.Equal(t, 4e9, net.Bandwidth)
	assert.Equal(t, time.Millisecond, net.Latency)
	assert.Equal(t, 5e8, b.net(1./8, 0).Bandwidth)
	assert.Equal(t, 1.23e7, round3(12345678))
	assert.False(t, net.NIC)
	again, err := local.ParseNet(net.String())
	require.NoError(t, err)
	assert.Equal(t, net, again)
}

func TestPoint(t *testing.T) {
	p := &point{runs: []*nas.Result{{Seconds: 3}, {Seconds: 1}, {Seconds: 2}}}
	base := &point{runs: []*nas.Result{{Seconds: 2}, {Seconds: 8}}}
	assert.Equal(t, 1.0, p.runs.Best().Seconds)
	assert.Equal(t, []float64{3, 1, 2}, p.runs.Seconds())
	y, lo, hi := ratio(base, p)
	assert.Equal(t, []float64{2, 2. / 3, 2}, []float64{y, lo, hi})
}

func TestOverlappable(t *testing.T) {
	assert.Zero(t, overlappable(1, 2), "exchange")
	assert.Equal(t, 1-1/64., overlappable(64, 2))
	assert.Equal(t, 1-3/96., overlappable(96, 4))
	assert.Zero(t, overlappable(0, 2))
}

func TestRun_usage(t *testing.T) {
	for args, says := range map[string]string{
		"speed":                "there is no figure \"speed\": there are speedup, communication, messages, onesided, bandwidth, latency",
		"speedup -class X":     "the classes are",
		"-ranks 1":             "one rank sends nothing",
		"-ranks 1000":          "-ranks 1000",
		"-workers 0":           "-workers 0",
		"-reps 0":              "-reps 0",
		"-stage -1":            "-stage -1",
		"-patience 0s":         "-patience 0s",
		"-net fast":            "fast",
		"-nonsense":            "not defined",
		"speedup -quick other": "there is no figure \"other\"",
	} {
		code, out, complaints := execute(args, nil)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, complaints, says, args)
		assert.NotContains(t, out, "result")
	}
}

// A folder that cannot be written to is found before anything is measured.
func TestRun_needs_a_folder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, out, complaints := execute("messages -quick -out "+file, nil)
	assert.Equal(t, 1, code)
	assert.Contains(t, complaints, "-out: ")
	assert.Empty(t, out)
}

func TestRun_help(t *testing.T) {
	code, out, complaints := execute("-h", nil)
	assert.Zero(t, code)
	assert.Empty(t, complaints)
	for _, word := range []string{"speedup", "communication", "messages", "onesided", "bandwidth", "latency", "-quick", "-out", "-net", "balanced", "Exit codes"} {
		assert.Contains(t, out, word)
	}
}
