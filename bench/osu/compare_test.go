package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// script writes a shell script and returns its path.
func script(t *testing.T, name, text string) string {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("a shell is needed to stand in for mpirun")
	}
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

// A compiler and a launcher that do nothing but answer.
func TestCompare_alternates_and_subtracts(t *testing.T) {
	t.Setenv("CC", script(t, "cc", "exit 0"))
	launch := script(t, "mpirun", `case "$*" in
*"--quiet -np 2"*"-test latency"*) echo "result test=latency latency_us=0.35";;
*"--quiet -np 2"*"peer latency 8 10000 100"*) echo "result test=latency latency_us=0.25";;
esac`)
	var out, complaints bytes.Buffer
	require.Zero(t, exitCode([]string{"latency", "-min", "8", "-max", "8", "-runs", "3", "-compare", launch + " --quiet"}, &out, &complaints), complaints.String())
	assert.Regexp(t, `(?s)run 1  c .*run 1  weft .*run 2  c .*run 3  weft `, out.String())
	assert.Contains(t, out.String(), "medians of 3: C 0.2500 us, weft 0.3500 us: 0.1000 us above C\n")
	pairs := lastLines(t, out.String(), 1)
	assert.Equal(t, "0.1", pairs["us_above_c"])
	assert.Equal(t, "0.25", pairs["c_latency_us"])
}

func TestCompare_refuses_what_is_no_result(t *testing.T) {
	t.Setenv("CC", script(t, "cc", "exit 0"))
	for text, complaint := range map[string]string{
		"echo nothing": "0 results with latency_us",
		"echo result latency_us=1; echo result latency_us=2": "2 results with latency_us",
		"echo it is broken >&2; exit 3":                      "it is broken",
	} {
		var out, complaints bytes.Buffer
		assert.Equal(t, 1, exitCode([]string{"latency", "-compare", script(t, "mpirun", text)}, &out, &complaints))
		assert.Contains(t, complaints.String(), complaint)
		assert.Empty(t, report.Figures(out.String(), "us_above_c"))
	}
}

func TestContenders_run_the_same(t *testing.T) {
	c, err := parseArgs(strings.Fields("inflight -inflight 30 -iterations 60 -compare mpirun"))
	require.NoError(t, err)
	both := contenders(c, "self", "peer")
	assert.Equal(t, "mpirun -np 2 peer inflight 30 8 60 60", strings.Join(both[0].command, " "))
	assert.Equal(t, "mpirun -np 2 self -test inflight -min 8 -runs 1 -inflight 30 -iterations 60 -skip 60", strings.Join(both[1].command, " "))
	_, err = parseArgs(both[1].command[4:])
	assert.NoError(t, err)
}

func TestPeer(t *testing.T) {
	t.Setenv("CC", script(t, "cc", `test "$1 $2 $3" = "-Wall -O2 -o" && head -1 "$5" | grep -q "go:build ignore"`)+" -Wall")
	dir := filepath.Join(t.TempDir(), "made")
	var out, complaints bytes.Buffer
	require.Zero(t, exitCode([]string{"-peer", dir}, &out, &complaints), complaints.String())
	assert.Contains(t, out.String(), "mpirun -np 2 "+dir+"/peer latency 8 10000 100\n")
	assert.Contains(t, out.String(), "mpirun -np 2 osu latency -min 8 -max 8\n")
	assert.Contains(t, out.String(), "mpirun -np 2 osu inflight -min 8\n")
	assert.FileExists(t, filepath.Join(dir, "peer.c"))
}

func TestPeer_needs_a_compiler(t *testing.T) {
	for _, cc := range []string{"no-such-compiler", " ", script(t, "cc", "echo mpi.h is missing >&2; exit 1")} {
		t.Setenv("CC", cc)
		var out, complaints bytes.Buffer
		assert.Equal(t, 1, exitCode([]string{"-peer", t.TempDir()}, &out, &complaints))
		assert.Contains(t, complaints.String(), "mpicc.openmpi")
	}
}
