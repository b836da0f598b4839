package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMissing(t *testing.T) {
	all := func(string) (string, error) { return "there", nil }
	assert.Empty(t, missing(0, all, "mpirun.openmpi"))
	assert.Contains(t, missing(1000, all, "mpirun.openmpi"), "needs root")
	for _, tool := range []string{"unshare", "ip", "tc", "my-mpirun"} {
		without := func(name string) (string, error) {
			if name == tool {
				return "", errors.New("none")
			}
			return "there", nil
		}
		assert.Contains(t, missing(0, without, "my-mpirun"), "needs "+tool+":")
	}
}

func TestWithoutReal(t *testing.T) {
	assert.Equal(t, []string{"-both", "-mpirun", "real", "-realm"}, withoutReal([]string{"-real", "-both", "--real=true", "-mpirun", "real", "-realm"}))
}

func TestSetUp_limits_the_loopback_device(t *testing.T) {
	assert.Equal(t, [][]string{
		strings.Fields("ip link set lo up"),
		strings.Fields("tc qdisc add dev lo root tbf rate 2gbit burst 128kb latency 100ms"),
	}, setUp("2gbit"))
}

// The program never limits the loopback device of a namespace that others use.
func TestFresh(t *testing.T) {
	lo := net.Interface{Name: "lo", Flags: net.FlagLoopback}
	assert.NoError(t, fresh([]net.Interface{lo}))
	lo.Flags |= net.FlagUp
	assert.ErrorContains(t, fresh([]net.Interface{lo}), "lo is up")
}

func TestInNamespace_refuses_this_one(t *testing.T) {
	devices, err := net.Interfaces()
	if err != nil || fresh(devices) == nil {
		t.Skip("no network device is up here: there would be nothing to refuse")
	}
	var out bytes.Buffer
	assert.ErrorContains(t, inNamespace(&out, &out, insideConfig(t, "")), "is up")
}

// insideConfig returns the configuration of the program in its namespace.
func insideConfig(t *testing.T, args string) *config {
	c, err := parseArgs(strings.Fields("-inside-namespace -work 1000 -reps 2 -inner 2 " + args))
	require.NoError(t, err)
	return c
}

func TestJob(t *testing.T) {
	c := insideConfig(t, "-both -bytes 5")
	c.mpirun = "mpirun -q"
	require.Len(t, c.variants, 4, "the progress thread too")
	const common = "-q -np 2 --oversubscribe --bind-to none --mca btl self,tcp --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo "
	for _, v := range c.variants {
		mca := ""
		if v.name == "progress-thread" {
			mca = "--mca btl_tcp_progress_thread 1 "
		}
		assert.Equal(t, common+mca+"self -variants "+v.name+" -bytes 5 -reps 2 -work 1000 -both", strings.Join(c.job("self", v), " "))
	}
}

// What the starts of one round print becomes samples of all forms.
func TestCollect(t *testing.T) {
	c := insideConfig(t, "-variants blocking,commthread")
	all, err := c.collect(func(round int, v *variant) (string, error) {
		form := map[string]float64{"blocking": 0.04, "commthread": 0.03}[v.name] + float64(round)
		var b bytes.Buffer
		fmt.Fprintln(&b, "machine: any")
		printSamples(&b, []sample{{0.01, 0.02, []float64{form}}, {0.03, 0.04, []float64{form + 10}}})
		return b.String(), nil
	})
	require.NoError(t, err)
	require.Len(t, all, 4)
	assert.Equal(t, []float64{0.04, 0.03}, all[0].forms)
	assert.Equal(t, []float64{10.04, 10.03}, all[1].forms)
	assert.Equal(t, []float64{11.04, 11.03}, all[3].forms)
	assert.InDelta(t, 0.01, all[0].message, 1e-12)
	assert.InDelta(t, 0.04, all[1].compute, 1e-12)
}

func TestCollect_refuses_what_is_incomplete(t *testing.T) {
	c := insideConfig(t, "-variants blocking")
	for _, text := range []string{"", "sample 1 2 3\n", "sample 1 2 3\nsample 1 2\n", strings.Repeat("sample 1 2 3\n", 3)} {
		_, err := c.collect(func(int, *variant) (string, error) { return text, nil })
		assert.ErrorContains(t, err, "blocking: ", text)
		assert.ErrorContains(t, err, "2 were expected", text)
	}
	_, err := c.collect(func(int, *variant) (string, error) { return "", errors.New("no mpirun") })
	assert.ErrorContains(t, err, "no mpirun")
}

// Computed by hand: message 16, work 30: perfect is 30, and 16 can be hidden.
func TestOutcome(t *testing.T) {
	all := []sample{
		{0.016, 0.030, []float64{0.046, 0.030, 0.038}},
		{0.016, 0.030, []float64{0.050, 0.031, 0.038}},
		{0.017, 0.029, []float64{0.044, 0.030, 0.038}},
	}
	for i, want := range []outcome{
		{median: 0.046, best: 0.044, perfect: 0.030, hidden: 0},
		{median: 0.030, best: 0.030, perfect: 0.030, hidden: 100},
		{median: 0.038, best: 0.038, perfect: 0.030, hidden: 50},
	} {
		got := outcomeOf(all, i)
		assert.InDelta(t, want.median, got.median, 1e-12)
		assert.InDelta(t, want.best, got.best, 1e-12)
		assert.InDelta(t, want.perfect, got.perfect, 1e-12)
		assert.InDelta(t, want.hidden, got.hidden, 1e-6)
	}
	assert.Zero(t, outcomeOf([]sample{{0, 0.03, []float64{0.03}}}, 0).hidden, "there was nothing to hide")
}

func TestPrintTable(t *testing.T) {
	c, err := parseArgs(strings.Fields("-variants blocking,commthread -both"))
	require.NoError(t, err)
	var b bytes.Buffer
	printTable(&b, c, "gige", []sample{{0.016, 0.030, []float64{0.046, 0.0303}}})
	assert.Equal(t, `
gige: 2097152 bytes each way take 16.000 ms alone, the work 30.000 ms; perfect overlap 30.000 ms; medians of 1
form                median ms      best ms    above perfect     hidden %
blocking               46.000       46.000           16.000          0.0
commthread             30.300       30.300            0.300         98.1
`, b.String())
}
