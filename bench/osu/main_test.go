package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/mpi/world"
)

// exitCode runs the program and returns its exit code, as main does.
func exitCode(args []string, out, complaints *bytes.Buffer) int {
	err := run(args, out, complaints)
	if err != nil {
		complaints.WriteString(err.Error())
	}
	return codeOf(err)
}

func codeOf(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, world.ErrUsage):
		return 2
	}
	return 1
}

// tiny are runs of every test, in every form, that are over in a moment; each yields so
// many result lines with these figures.
var tiny = []struct {
	args    string
	lines   int
	figures []string
}{
	{"latency -max 4", 3, []string{"latency_us"}},
	{"latency -min 0 -max 20000 -ranks 3", 16, []string{"latency_us"}},
	{"latency -min 8 -max 8 -onesided", 1, []string{"latency_us"}},
	{"latency -min 8 -max 8 -onesided=notify", 1, []string{"latency_us"}},
	{"latency -min 8 -max 8 -commthread", 1, []string{"latency_us"}},
	{"latency -min 8 -max 8 -net 10gige,progress=nic", 1, []string{"latency_us"}},
	{"-test bw -min 32768 -max 65536 -window 4", 2, []string{"gbytes_per_s", "window"}},
	{"bw -min 8 -max 8 -window 4 -onesided", 1, []string{"gbytes_per_s"}},
	{"bw -min 8 -max 8 -window 4 -onesided=notify", 1, []string{"gbytes_per_s"}},
	{"bw -min 8 -max 8 -window 4 -onesided=notify -commthread", 1, []string{"gbytes_per_s"}},
	{"bibw -min 8 -max 8 -window 4", 1, []string{"gbytes_per_s"}},
	{"bibw -min 8 -max 8 -window 4 -onesided", 1, []string{"gbytes_per_s"}},
	{"bibw -min 8 -max 8 -window 4 -onesided=notify", 1, []string{"gbytes_per_s"}},
	{"mbw_mr -min 8 -max 8 -window 4 -ranks 4", 1, []string{"gbytes_per_s", "messages_per_s", "pairs"}},
	{"sendrecv -min 8 -max 16 -ranks 3", 2, []string{"exchange_us"}},
	{"sendrecv -min 8 -max 8 -commthread", 1, []string{"exchange_us"}},
	{"alltoall -min 8 -max 16 -ranks 3 -iterations 5", 2, []string{"alltoall_us"}},
	{"ialltoall -min 8 -max 16 -ranks 3", 2, []string{"overlap_percent", "imb_overlap_percent", "bound_percent"}},
	{"ialltoall -min 8 -max 8 -commthread", 1, []string{"overlap_percent"}},
	{"ibcast -min 8 -max 8 -ranks 3", 1, []string{"overlap_percent"}},
	{"ibcast -min 8 -max 8 -commthread", 1, []string{"overlap_percent"}},
	{"overlap -min 8 -max 8 -ranks 4", 1, []string{"overlap_percent", "seconds_overall", "seconds_compute", "seconds_pure"}},
	{"overlap -min 40000 -max 40000 -commthread -net ib", 1, []string{"overlap_percent_median"}},
	{"overlap -min 8 -max 8 -onesided=notify", 1, []string{"overlap_percent"}},
	{"overlap -min 8 -max 8 -onesided=notify -commthread", 1, []string{"overlap_percent"}},
	{"inflight -inflight 30 -runs 1 -skip 0", 1, []string{"us_per_completion", "us_per_completion_10", "ratio", "inflight"}},
	{"inflight -inflight 1 -runs 2 -skip 0 -ranks 3", 1, []string{"us_per_completion"}},
	{"wait -pause 1ms -skip 0", 1, []string{"seconds_waited", "cpu_percent_thread", "cpu_percent_process"}},
	{"wait -pause 1ms -commthread -place shared -ranks 3", 1, []string{"cpu_percent_process"}},
	{"spawn -commthread -skip 0", 1, []string{"us_spawn_to_post_awake", "us_spawn_to_post_asleep"}},
	{"spawn -commthread -skip 0 -ranks 2 -place help", 1, []string{"us_spawn_to_post_awake"}},
}

func TestRun_every_test(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range tiny {
		t.Run(k.args, func(t *testing.T) {
			var out, complaints bytes.Buffer
			require.Zero(t, exitCode(append(strings.Fields(k.args), "-iterations", "2"), &out, &complaints), complaints.String())
			assert.True(t, strings.HasPrefix(out.String(), "machine: "), out.String())
			for _, f := range k.figures {
				assert.Len(t, report.Figures(out.String(), f), k.lines, f)
			}
			pairs := lastLines(t, out.String(), k.lines)
			seen[pairs["test"]] = true
			assert.Equal(t, "local", pairs["engine"])
			for _, key := range []string{"bytes", "ranks", "net", "commthread", "onesided"} {
				assert.Contains(t, pairs, key)
			}
		})
	}
	for _, name := range testNames() {
		assert.True(t, seen[name], "%s has no run here", name)
	}
}

// lastLines checks that the last n lines of text are result lines, and no others, and
// returns the pairs of the last.
func lastLines(t *testing.T, text string, n int) (pairs map[string]string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	require.Greater(t, len(lines), n)
	for i, line := range lines {
		p, ok := report.Parse(line)
		assert.Equal(t, i >= len(lines)-n, ok, "line %d: %s", i, line)
		assert.Equal(t, ok, strings.HasPrefix(line, "result"), line)
		if ok {
			pairs = p
		}
	}
	return pairs
}

// A received byte that differs from the sent one ends every test with a failure.
func TestRun_finds_damage(t *testing.T) {
	for _, k := range tiny {
		t.Run(k.args, func(t *testing.T) {
			c, err := parseArgs(append(strings.Fields(k.args), "-iterations", "2"))
			require.NoError(t, err)
			c.tamper = func(b []byte) { b[len(b)-1]++ }
			var out, complaints bytes.Buffer
			err = c.start(c.body(&out, &complaints))
			require.Error(t, err)
			assert.Equal(t, 1, codeOf(err))
			assert.Regexp(t, `rank \d: byte \d+ of the last message from rank \d is \d+, and \d+ was sent`, err.Error())
			assert.NotContains(t, out.String(), "result ")
		})
	}
}

func TestRun_usage(t *testing.T) {
	for args, complaint := range map[string]string{
		"-x":                             "not defined",
		"nothing":                        "there is no test \"nothing\"",
		"latency more":                   "unexpected argument",
		"latency -min -1":                "sizes from -1",
		"latency -min 8 -max 4":          "sizes from 8 to 4",
		"latency -iterations 0":          "-iterations 0",
		"latency -skip -1":               "-skip -1",
		"bw -window 0":                   "-window 0",
		"inflight -inflight 0":           "-inflight 0",
		"inflight -max 16":               "one size",
		"inflight -commthread":           "drop -commthread",
		"inflight -runs 0":               "-runs 0",
		"wait -pause 0s":                 "-pause 0s",
		"mbw_mr -onesided":               "drop -onesided",
		"bw -onesided=often":             "it is flush, notify or off",
		"spawn":                          "add -commthread",
		"latency -place dedicated":       "add -commthread",
		"wait -commthread -place on":     "it is auto, dedicated",
		"bw -compare mpirun":             "latency, sendrecv, alltoall and inflight only",
		"latency -compare m -commthread": "drop -onesided and -commthread",
		"latency -net slow":              "slow",
		"latency -ranks 1":               "at least 2 ranks",
		"mbw_mr -ranks 3":                "even number of ranks",
		"latency -ranks 0":               "-ranks 0",
	} {
		var out, complaints bytes.Buffer
		assert.Equal(t, 2, exitCode(strings.Fields(args), &out, &complaints), args)
		assert.Contains(t, complaints.String(), complaint, args)
		assert.Equal(t, 1, strings.Count(complaints.String(), "wrong usage"), complaints.String())
		assert.NotContains(t, out.String(), "result")
	}
}

func TestRun_help(t *testing.T) {
	var out, complaints bytes.Buffer
	assert.Zero(t, exitCode([]string{"-h"}, &out, &complaints))
	assert.Empty(t, complaints.String())
	for _, name := range testNames() {
		assert.Contains(t, out.String(), fmt.Sprintf("\n  %-10s ", name))
	}
	for _, f := range []string{"-test", "-ranks", "-net", "-onesided", "-commthread", "-inflight", "-compare", "-peer", "-iterations"} {
		assert.Contains(t, out.String(), "\n  "+f+" ")
	}
}

func TestParseArgs_defaults(t *testing.T) {
	c, err := parseArgs(nil)
	require.NoError(t, err)
	assert.Equal(t, "latency", c.test.name)
	assert.Equal(t, []int{1, 4 << 20, 64, 2}, []int{c.min, c.max, c.window, c.world.Ranks})
	c, err = parseArgs([]string{"overlap", "-max", "256"})
	require.NoError(t, err)
	assert.Equal(t, 256, c.min, "the test's least size is larger")
	c, err = parseArgs([]string{"spawn", "-commthread"})
	require.NoError(t, err)
	assert.Equal(t, 1, c.world.Ranks)
	c, err = parseArgs([]string{"spawn", "-commthread", "-ranks", "2", "-onesided=off"})
	require.NoError(t, err)
	assert.Equal(t, 2, c.world.Ranks)
}
