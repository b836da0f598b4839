package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi/world"
)

// small says that runs should do less: the race detector makes everything slow.
func small() bool { return invariant.Race || testing.Short() }

// execute runs the program and returns its exit code, as main does.
func execute(args string, change func(*config)) (code int, stdout, complaints string) {
	var out, problems bytes.Buffer
	if cut := change; small() {
		change = func(c *config) {
			if c.class = c.class.First(1); cut != nil {
				cut(c)
			}
		}
	}
	plenty := func() (int, bool) { return 1 << 30, true }
	err := program{stdout: &out, stderr: &problems, available: plenty, change: change}.run(strings.Fields(args))
	switch {
	case err == nil:
		return 0, out.String(), problems.String()
	case errors.Is(err, world.ErrUsage):
		return 2, out.String(), problems.String() + err.Error()
	}
	return 1, out.String(), problems.String() + err.Error()
}

// block is the report of NPB 3.4 for class S, line by line.
var block = []string{
	` NAS Parallel Benchmarks 3.4 -- FT Benchmark`,
	``,
	` No input file inputft.data. Using compiled defaults`,
	` Size                :   64x  64x  64  (class S)`,
	` Iterations          :              6`,
	` Number of processes :              2`,
	` Processor array     :         1x   2`,
	` Layout type         :             1D`,
	``,
	` Initialization time = TIME`,
	``,
	` T =    1     Checksum =    5.546087004964D+02    4.845363331978D+02`,
	` T =    2     Checksum =    5.546385409189D+02    4.865304269511D+02`,
	` T =    3     Checksum =    5.546148406171D+02    4.883910722336D+02`,
	` T =    4     Checksum =    5.545423607415D+02    4.901273169046D+02`,
	` T =    5     Checksum =    5.544255039624D+02    4.917475857993D+02`,
	` T =    6     Checksum =    5.542683411902D+02    4.932597244941D+02`,
	` Result verification successful`,
	``,
	``,
	` FT Benchmark Completed.`,
	` Class           =                        S`,
	` Size            =             64x  64x  64`,
	` Iterations      =                        6`,
	` Time in seconds = SECONDS`,
	` Total processes =                        2`,
	` Active processes=                        2`,
	` Mop/s total     = RATE`,
	` Mop/s/process   = RATE`,
	` Operation type  =           floating point`,
	` Verification    =               SUCCESSFUL`,
	` Version         =               3.4 (weft)`,
}

// The report has the columns of the reference; the last digits of a checksum may be others.
func TestSingle_prints_the_report(t *testing.T) {
	if small() {
		t.Skip("it is that of all iterations: run without -short and -race")
	}
	code, out, complaints := execute("-class S -ranks 2 -workers 1 -variant slabs", nil)
	require.Zero(t, code, complaints)
	for i, line := range block {
		pattern := regexp.QuoteMeta(line)
		pattern = strings.Replace(pattern, "TIME", ` {2,8}\d+\.\d{4}`, 1)
		pattern = strings.Replace(pattern, "SECONDS", ` {15,21}\d+\.\d\d`, 1)
		pattern = strings.Replace(pattern, "RATE", ` {10,20}\d+\.\d\d`, 1)
		pattern = regexp.MustCompile(`\d{4}D\\\+02`).ReplaceAllString(pattern, `\d{4}D\+02`)
		block := regexp.MustCompile("(?m)^" + pattern + "$")
		assert.Regexp(t, block, out, "line %d", i)
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, " = ") && strings.HasPrefix(line, " ") && strings.Index(line, "=") == 17 {
			assert.Len(t, line, 18+25, line)
		}
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	assert.True(t, strings.HasPrefix(lines[0], "machine: "))
	pairs, ok := report.Parse(lines[len(lines)-1])
	require.True(t, ok)
	assert.Equal(t, "true", pairs["verified"])
	assert.Equal(t, "slabs", pairs["variant"])
	assert.Equal(t, "2", pairs["ranks"])
	assert.Equal(t, 1, strings.Count(out, "\nresult"))
	for _, key := range []string{"seconds_best", "mops_best", "mops_median", "error", "communication_seconds", "messages", "bytes", "workers"} {
		assert.Contains(t, pairs, key)
	}
}

func TestSingle_variants(t *testing.T) {
	for _, args := range []string{
		"-ranks 1 -workers 2", "-ranks 4 -variant exchange -layout 2d", "-ranks 2 -layout 2d -pad 8 -variant pencils",
		"-ranks 2 -onesided -stage 2 -reps 2", "-ranks 4 -onesided -variant slabs -layout 2d", "-ranks 3 -variant slabs -net ib,progress=nic",
	} {
		code, out, complaints := execute("-class S "+args, nil)
		require.Zero(t, code, "%s: %s", args, complaints)
		assert.Contains(t, out, " Verification    =               SUCCESSFUL", args)
		assert.Contains(t, out, "verified=true", args)
		if small() {
			return
		}
	}
}

func TestCompare(t *testing.T) {
	args := "-class S -ranks 2 -workers 1 -net ib -compare -onesided -reps 2"
	if small() {
		args = "-class S -ranks 2 -workers 1 -net ib -compare -reps 1"
	}
	variants := nas.Variants(!small())
	code, out, complaints := execute(args, nil)
	require.Zero(t, code, complaints)
	assert.Equal(t, len(variants), strings.Count(out, "\nresult "))
	ratios := report.Figures(out, "ratio")
	require.Len(t, ratios, len(variants))
	assert.Equal(t, 1.0, ratios[0], "the exchange against itself")
	for _, v := range variants {
		assert.Regexp(t, `(?m)^`+v.String()+` +\d+\.\d+ .* yes$`, out)
	}
	for _, transport := range []string{"sent and received", "one-sided"}[:len(variants)/4] {
		assert.Regexp(t, `(?m)^`+transport+` +\d+\.\d+, +\d+\.\d+ +\d+\.\d+, +\d+\.\d+$`, out)
	}
	stages := report.Figures(out, "stage")
	assert.Equal(t, [2]float64{0, 16}, [2]float64{stages[len(stages)-1], stages[len(stages)/2]}, "tasks keep all planes over a network")
}

func TestRun_trace(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run.json", "run.txt"} {
		path := filepath.Join(dir, name)
		code, _, complaints := execute("-class S -ranks 2 -workers 1 -variant tasks -trace "+path, nil)
		require.Zero(t, code, complaints)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(text), "send")
	}
}

// The negative control: other initial values, or another equation, end with code 1.
func TestRun_wrong_checksums_fail(t *testing.T) {
	seed := func(c *config) { c.class.Seed += 2 }
	alpha := func(c *config) { c.class.Alpha *= 1.001 }
	for _, change := range []func(*config){seed, alpha} {
		code, out, complaints := execute("-class S -ranks 2", change)
		assert.Equal(t, 1, code)
		assert.Contains(t, complaints, "verification failed: nas: class S, iteration 1")
		assert.Contains(t, out, " Result verification failed\n")
		assert.Contains(t, out, " Verification    =             UNSUCCESSFUL\n")
		assert.Contains(t, out, "verified=false")
	}
	code, out, complaints := execute("-class S -ranks 2 -compare -reps 1", seed)
	assert.Equal(t, 1, code)
	assert.Contains(t, complaints, "exchange: verification failed")
	assert.Equal(t, 4, strings.Count(out, " NO\n"))
}

// A class that does not fit is refused; the error names its memory and the classes that fit.
func TestRun_memory(t *testing.T) {
	for args, says := range map[string]string{
		"-class C":                            "class C needs 4.0 GiB for the 1 ranks of this machine, and 1.0 GiB of its memory are available: class B fits, in 1.0 GiB",
		"-class B -ranks 2 -variant exchange": "class B needs 1.2 GiB",
		"-class f":                            "class F needs 4096.0 GiB",
		"-class D -ranks 4 -variant slabs -layout 2d": "class A fits",
	} {
		code, out, complaints := execute(args, nil)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, complaints, says, args)
		assert.NotContains(t, out, "result")
	}
	var out bytes.Buffer
	little := func() (int, bool) { return 1000, true }
	err := program{stdout: &out, stderr: &out, available: little}.run([]string{"-class", "S"})
	assert.ErrorContains(t, err, "and 1000 bytes of its memory are available: no class fits")
}

func TestRun_usage(t *testing.T) {
	for args, says := range map[string]string{
		"-class G":                        "the classes are S, W, A, B, C, D, E and F",
		"-class":                          "class",
		"-variant bulk":                   "exchange, slabs, pencils, tasks",
		"-layout 3d":                      "1d or 2d",
		"-pad -1":                         "-pad -1",
		"-stage -1":                       "-stage -1",
		"-stage 2 -variant exchange":      "sends when all planes are done",
		"-workers 0":                      "-workers 0",
		"-reps 0":                         "-reps 0",
		"-compare -variant slabs":         "drop -variant",
		"-compare -trace x.json":          "drop -compare",
		"-lease maybe":                    "neither on nor off",
		"-trace x.pdf":                    "-trace: trace: no format for \"x.pdf\"",
		"-trace no-such-folder/x.json":    "-trace: trace: open no-such-folder/x.json",
		"-net slow":                       "slow",
		"-nonsense":                       "not defined",
		"more":                            "unexpected argument",
		"-ranks 0 -class S":               "0",
		"-ranks 65 -class S":              "64 planes",
		"-ranks 2000":                     "128 planes",
		"-ranks 4001 -class F":            "threads",
		"-ranks -2 -class S -workers 1":   "-2",
		"-class S -ranks 2 -variant ''":   "no form",
		"-class S -eager -7 -ranks 2 -h2": "not defined",
	} {
		code, out, complaints := execute(args, nil)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, complaints, says, args)
		assert.NotContains(t, out, "result")
	}
}

func TestRun_help(t *testing.T) {
	code, out, complaints := execute("-h", nil)
	assert.Zero(t, code)
	assert.Empty(t, complaints)
	for _, word := range []string{"-class", "-variant", "-onesided", "-ranks", "-workers", "-net", "-trace", "-compare", "-layout", "-pad", "tasks", "256x 256x 128", "Exit codes"} {
		assert.Contains(t, out, word)
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 3 << 20: "3.0 MiB", 5 << 29: "2.5 GiB"} {
		assert.Equal(t, want, size(bytes))
	}
}
