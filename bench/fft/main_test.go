package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func run(args string, tamper func([]complex128)) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = program{&out, &errs, tamper}.run(strings.Fields(args))
	return code, out.String(), errs.String()
}

var resultLine = regexp.MustCompile(`\nresult seconds_best=[0-9.]+ seconds_median=[0-9.]+ gflops_best=[0-9.]+ gflops_median=[0-9.]+ error=[0-9.]+ (peer_seconds_best=[0-9.]+ peer_seconds_median=[0-9.]+ ratio_best=[0-9.]+ ratio=[0-9.]+ )?points=[0-9]+ isa=[a-z0-9]+ workers=[0-9]+ reps=[0-9]+\n$`)

func TestRun_ends_with_a_result(t *testing.T) {
	for _, args := range []string{
		"-reps 2", "-n 60 -batch 3 -layout interleaved -reps 1", "-n 17 -batch 1 -inplace -reps 1",
		"-dims 16x8x12 -reps 2", "-dims 32x64 -workers 2 -reps 1", "-n 64 -isa portable -reps 1", "-n 1 -batch 1 -reps 1",
	} {
		code, out, errs := run(args, nil)
		assert.Zero(t, code, "%s: %s", args, errs)
		assert.Regexp(t, resultLine, out, args)
		assert.Equal(t, 1, strings.Count("\n"+out, "\nresult"), args)
		assert.Contains(t, out, "machine: ")
	}
}

// The negative control of the check: one wrong number fails the run.
func TestRun_wrong_result_fails(t *testing.T) {
	for _, args := range []string{"-n 64 -batch 2 -reps 1", "-dims 8x8x8 -reps 1", "-dims 16x16 -workers 2 -reps 1"} {
		code, _, errs := run(args, func(x []complex128) { x[3] += 1e-6 })
		assert.Equal(t, 1, code, args)
		assert.Contains(t, errs, "round trip is off by")
	}
}

func TestRun_usage_errors(t *testing.T) {
	for args, says := range map[string]string{
		"-n 0": "-n 0", "-n -3": "-n -3", "-batch 0": "-batch 0", "-layout diagonal": "contiguous or interleaved",
		"-dims 4x": "sizes are numbers", "-dims 0x4": "sizes are numbers", "-workers 0": "-workers 0", "-workers 2": "more work on an array",
		"-isa mmx": "no kernels", "-reps 0": "-reps 0", "extra": "unexpected argument", "-nonsense": "not defined",
		"-dims 4x4 -peer": "three dimensions", "-dims 99999x99999x99999": "at most", "-n x": "invalid value",
	} {
		code, out, errs := run(args, nil)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, errs, says, args)
		assert.NotContains(t, out, "result")
	}
	code, out, _ := run("-h", nil)
	assert.Zero(t, code)
	assert.Contains(t, out, "-layout")
}

// With FFTW installed, both run in turn; without, the program names the missing library.
func TestRun_peer(t *testing.T) {
	_, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler called cc: install one, and FFTW 3, to compare")
	}
	for _, args := range []string{"-n 16 -batch 4 -reps 2 -peer", "-dims 4x6x8 -reps 2 -peer", "-dims 8x8x8 -workers 2 -reps 2 -peer", "-n 8 -layout interleaved -reps 1 -peer -inplace"} {
		code, out, errs := run(args, nil)
		if code == 1 && strings.Contains(errs, errNoPeer.Error()) {
			t.Skip("FFTW 3 is not installed: libfftw3-dev has it on Debian")
		}
		require.Zero(t, code, errs)
		assert.Regexp(t, resultLine, out)
		assert.Contains(t, out, "ratio=")
	}
}
