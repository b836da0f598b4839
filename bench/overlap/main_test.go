package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/mpi/system"
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

const short = " -compute 100us -reps 2 -bytes 20000"

func TestRun_shaped(t *testing.T) {
	for args, nets := range map[string][]string{
		"":                        {"gige,L=25us,o=1us,g=1us,bw=1Gbit,progress=host", "gige,L=25us,o=1us,g=1us,bw=1Gbit,progress=nic"},
		"-net ib -both":           {"ib,L=1.5us,o=300ns,g=200ns,bw=100Gbit,progress=host", "ib,L=1.5us,o=300ns,g=200ns,bw=100Gbit,progress=nic"},
		"-net ib,progress=nic":    {"ib,L=1.5us,o=300ns,g=200ns,bw=100Gbit,progress=nic"},
		"-net none":               {"none"},
		"-net none -bytes 0":      {"none"},
		"-net none -work 1 -both": {"none"},
	} {
		t.Run(args, func(t *testing.T) {
			var out, complaints bytes.Buffer
			require.Zero(t, exitCode(strings.Fields(short+" "+args), &out, &complaints), complaints.String())
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			assert.True(t, strings.HasPrefix(lines[0], "machine: "))
			require.Greater(t, len(lines), 3*len(nets))
			for i, line := range lines[len(lines)-3*len(nets):] {
				pairs, ok := report.Parse(line)
				require.True(t, ok, line)
				assert.Equal(t, []string{"blocking", "nonblocking", "commthread"}[i%3], pairs["variant"])
				assert.Equal(t, nets[i/3], pairs["net"])
				assert.Equal(t, "local", pairs["engine"])
				assert.Equal(t, map[bool]string{true: "both", false: "one"}[strings.Contains(args, "-both")], pairs["direction"])
				assert.Equal(t, "2", pairs["reps"])
			}
			for _, f := range []string{"seconds_median", "seconds_best", "seconds_perfect", "overlap_percent", "seconds_message", "seconds_compute", "bytes"} {
				assert.Len(t, report.Figures(out.String(), f), 3*len(nets), f)
			}
		})
	}
}

func TestRun_chosen_forms(t *testing.T) {
	var out, complaints bytes.Buffer
	require.Zero(t, exitCode(strings.Fields(short+" -net none -variants commthread,blocking"), &out, &complaints), complaints.String())
	assert.Contains(t, out.String(), "result variant=commthread")
	assert.Contains(t, out.String(), "result variant=blocking")
	assert.NotContains(t, out.String(), "nonblocking")
}

// A received byte that differs from the sent one ends each form with a failure.
func TestRun_finds_damage(t *testing.T) {
	for _, form := range []string{"blocking", "nonblocking", "commthread"} {
		c, err := parseArgs(strings.Fields(short + " -net none -variants " + form))
		require.NoError(t, err)
		c.tamper = func(b []byte) { b[len(b)-1]++ }
		var out bytes.Buffer
		err = shaped(&out, &out, c)
		assert.ErrorContains(t, err, form+": rank 1: byte 19999 of the message is")
		assert.Equal(t, 1, codeOf(err))
		assert.NotContains(t, out.String(), "result ")
	}
}

func TestRun_usage(t *testing.T) {
	cases := map[string]string{
		"-x":                        "not defined",
		"more":                      "unexpected argument",
		"-bytes -1":                 "-bytes -1",
		"-compute 0s":               "-compute 0s",
		"-work 0":                   "-work 0",
		"-work much":                "much",
		"-reps 0":                   "-reps 0",
		"-inner 0":                  "-inner 0",
		"-variants slow":            "there is no form \"slow\": there are blocking, nonblocking, progress-thread, commthread",
		"-variants progress-thread": "with -real only",
		"-net slow":                 "slow",
		"-ranks 3":                  "one of two ranks",
		"-inside-namespace":         "use -real",
		"-real -net gige":           "drop -net and -ranks",
	}
	if !system.Available() {
		cases["-real"] = "CC=mpicc.openmpi go build -tags mpi"
	}
	for args, complaint := range cases {
		var out, complaints bytes.Buffer
		assert.Equal(t, 2, exitCode(strings.Fields(args), &out, &complaints), args)
		assert.Contains(t, complaints.String(), complaint, args)
		assert.NotContains(t, out.String(), "result")
	}
}

func TestRun_help(t *testing.T) {
	var out, complaints bytes.Buffer
	assert.Zero(t, exitCode([]string{"-h"}, &out, &complaints))
	assert.Empty(t, complaints.String())
	for _, word := range []string{"-real", "-both", "-net", "-compute", "progress-thread", "commthread", "Exit codes"} {
		assert.Contains(t, out.String(), word)
	}
}
