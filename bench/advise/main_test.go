package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
	"github.com/weft-hpc/weft/mpi/world"
)

// codeOf returns the exit code of an error, as main does.
func codeOf(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, world.ErrUsage):
		return 2
	}
	return 1
}

// lab is a program in a folder of its own, inside the module by an overlay: the go command
// sees testdata/border with the source that is in the folder.
type lab struct {
	t       *testing.T
	dir     string
	program string
}

// source of the program that is advised.
const border = "testdata/border/main.go"

// original is the program as it is in testdata, built once.
var original string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "advise")
	if err == nil {
		original = filepath.Join(dir, "border.exe")
		var out []byte
		if out, err = exec.Command("go", "build", "-ldflags=-s -w", "-o", original, "./testdata/border").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func newLab(t *testing.T) *lab { return &lab{t: t, dir: t.TempDir(), program: original} }

// build compiles the program with another source.
func (l *lab) build(source []byte) {
	l.t.Helper()
	name, err := filepath.Abs(border)
	require.NoError(l.t, err)
	changed, overlay := filepath.Join(l.dir, "main.go"), filepath.Join(l.dir, "overlay.json")
	require.NoError(l.t, os.WriteFile(changed, source, 0o666))
	table, err := json.Marshal(map[string]any{"Replace": map[string]string{name: changed}})
	require.NoError(l.t, err)
	require.NoError(l.t, os.WriteFile(overlay, table, 0o666))
	l.compile("-overlay", overlay, "./testdata/border")
}

// compile builds the program that the lab runs.
func (l *lab) compile(args ...string) {
	l.t.Helper()
	l.program = filepath.Join(l.dir, "border.exe")
	out, err := exec.Command("go", append([]string{"build", "-ldflags=-s -w", "-o", l.program}, args...)...).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
}

// run runs the program under the tool, and returns its output and the results file.
func (l *lab) run(size int, args ...string) (output, file string) {
	l.t.Helper()
	file = filepath.Join(l.dir, fmt.Sprintf("run%d.json", size))
	cmd := exec.Command(l.program, append(args, "-n", fmt.Sprint(size))...)
	cmd.Env = append(os.Environ(), advise.FileVariable+"="+file, fmt.Sprintf("%s=%d", advise.SizeVariable, size), advise.RehearseVariable+"=100ms")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(l.t, err, problems.String())
	require.Contains(l.t, problems.String(), "for bench/advise")
	return string(out), file
}

// advised runs advise.
func advised(args ...string) (out, complaints string, code int) {
	var stdout, stderr bytes.Buffer
	err := run(args, &stdout, &stderr)
	if err != nil {
		fmt.Fprintln(&stderr, err)
	}
	return stdout.String(), stderr.String(), codeOf(err)
}

// A program is run, advised, changed and run again: it gives the same bytes.
func TestAdvise(t *testing.T) {
	l := newLab(t)
	before, file := l.run(64)
	out, complaints, code := advised("-min", "0", "-diff", file)
	require.Zero(t, code, complaints)
	for _, s := range []string{"#1  main.go:", "start all, then wait once", "mpi.Batch", ".Wait()", "measured with messages of", "@@ -", "Together: "} {
		assert.Contains(t, out, s)
	}
	assert.Regexp(t, "replayed|rehearsed|estimated", out)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	pairs, ok := report.Parse(lines[len(lines)-1])
	require.True(t, ok)
	assert.Equal(t, "1", pairs["advice"])
	assert.Equal(t, "0", pairs["races"])
	assert.Equal(t, "64", pairs["size"])

	out, complaints, code = advised("-min", "0", "-json", file)
	require.Zero(t, code, complaints)
	var d document
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	require.Len(t, d.Runs[0].Items, 1)
	it := d.Runs[0].Items[0]
	assert.Equal(t, 4, it.Calls)
	for _, s := range d.Runs[0].Refused {
		assert.Contains(t, s.Reason, "it is collective", "all calls of the exchange can be changed")
	}

	source, err := os.ReadFile(border)
	require.NoError(t, err)
	changed := bytes.Replace(source, []byte(it.Before), []byte(it.After), 1)
	require.NotEqual(t, source, changed)
	l.build(changed)
	after, _ := l.run(64)
	assert.Equal(t, before, after)
	assert.Contains(t, before, "sum ")

	out, _, code = advised("-min", "100", file)
	require.Zero(t, code)
	assert.Contains(t, out, "Nothing to advise", "the control: no change saves all of the program")
}

// -fix writes what -diff shows, once; after that the results are out of date, and say so.
func TestFix(t *testing.T) {
	l := newLab(t)
	dir := filepath.Join("testdata", fmt.Sprintf("fix%d", os.Getpid()))
	require.NoError(t, os.Mkdir(dir, 0o777))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	source, err := os.ReadFile(border)
	require.NoError(t, err)
	name := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(name, source, 0o644))
	l.compile("./" + dir)
	before, file := l.run(32)

	text, complaints, code := advised("-min", "0", "-diff", "-fix", file)
	require.Zero(t, code, complaints)
	assert.Contains(t, complaints, "changed testdata/fix")
	assert.Contains(t, text, "+++ b/testdata/fix")
	changed, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.NotEqual(t, string(source), string(changed))
	assert.Equal(t, 4, bytes.Count(source, []byte(" c.Sendrecv("))-bytes.Count(changed, []byte(" c.Sendrecv(")), "those of one function")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
	out, err := exec.Command("go", "vet", "./"+dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	l.compile("./" + dir)

	text, complaints, code = advised("-min", "0", "-fix", file)
	require.Zero(t, code)
	assert.Contains(t, text, "has changed since the run")
	assert.Contains(t, complaints, "nothing to change")
	again, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(changed), string(again))

	results, err := os.ReadFile(file)
	require.NoError(t, err)
	kept := filepath.Join(t.TempDir(), "before.json") // the next run has the same name
	require.NoError(t, os.WriteFile(kept, results, 0o644))
	after, second := l.run(32)
	assert.Equal(t, before, after)
	text, complaints, code = advised("-min", "0", "-after", second, kept)
	require.Zero(t, code, complaints)
	assert.Contains(t, text, "Its changes have been made (-fix). They were predicted to save")
	saving := report.Figures(text, "speedup_predicted")
	require.Len(t, saving, 1, text)
	assert.Greater(t, saving[0], 1.0, "the prediction of the run before the change")
	text, _, code = advised("-min", "0", second)
	require.Zero(t, code)
	assert.Contains(t, text, "Nothing to advise")
}

// What depends on the call before is never advised away.
func TestDependences(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, kind := range []string{"corners", "shift", "unpack"} {
		_, file := l.run(32, "-kind", kind)
		out, complaints, code := advised("-min", "0", file)
		require.Zero(t, code, complaints)
		assert.Contains(t, out, "Nothing to advise", kind)
		assert.NotContains(t, out, "mpi.Batch", kind)
	}
}

func TestRaces(t *testing.T) {
	l := newLab(t)
	_, file := l.run(32, "-kind", "race")
	out, complaints, code := advised(file)
	assert.Equal(t, 1, code)
	assert.Contains(t, complaints, "see the races above")
	source, err := os.ReadFile(border)
	require.NoError(t, err)
	for i, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "// race") {
			assert.Contains(t, out, fmt.Sprintf("main.go:%d", i+1))
		}
	}
	assert.Contains(t, out, "RACE: Isend at ")
}

// A set of runs: projection, comparison with runs of the changed program, and a picture.
func TestSet(t *testing.T) {
	l := newLab(t)
	var files []string
	for _, n := range []int{16, 32, 64} {
		_, file := l.run(n)
		files = append(files, file)
	}
	picture := filepath.Join(l.dir, "speedup.svg")
	two, _, code := advised("-min", "0", "-project", "128", files[0], files[1])
	require.Zero(t, code)
	assert.Contains(t, two, "how near is not known")
	assert.Contains(t, two, "error_percent=unknown")
	assert.NotContains(t, two, "Inf")
	args := append([]string{"-min", "0", "-project", "128,256@9", "-after", files[0], "-after", files[2], "-svg", picture}, files...)
	out, complaints, code := advised(args...)
	require.Zero(t, code, complaints)
	assert.Contains(t, out, "Size 128 on 4 ranks")
	assert.Contains(t, out, "nothing is known about 9")
	assert.Contains(t, out, "lies outside the measured ones, 16 to 64")
	kinds := map[string]int{}
	for _, line := range strings.Split(out, "\n") {
		if pairs, ok := report.Parse(line); ok {
			kinds[pairs["kind"]]++
			if pairs["kind"] == "outcome" {
				assert.Equal(t, "1", pairs["speedup_measured"], "the same files before and after")
			}
		}
	}
	assert.Equal(t, map[string]int{"advice": 3, "projection": 2, "outcome": 2}, kinds)
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	for _, label := range []string{"predicted", "measured", "projected", "<svg"} {
		assert.Contains(t, string(svg), label)
	}
}

func TestSize(t *testing.T) {
	l := newLab(t)
	_, file := l.run(16)
	_, complaints, code := advised("-size", "77", file)
	require.Zero(t, code, complaints)
	r, err := advise.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, 77.0, r.Size)
}

func TestUsage(t *testing.T) {
	garbage := filepath.Join(t.TempDir(), "garbage.json")
	require.NoError(t, os.WriteFile(garbage, []byte(`{"format":"weft-advise","version":1,"ru`), 0o666))
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "no results file"},
		{"-no-such-flag x", 2, "advise -h"},
		{"-min 200 x", 2, "percentage"},
		{"-size -1 x", 2, "above 0"},
		{"-size 3 x y", 2, "one file"},
		{"-project 3 x", 2, "at least two sizes"},
		{"-project x@y x y", 2, "no size"},
		{"-project 7@y x y", 2, "number of ranks"},
		{"no-such-file.json", 1, "no such file"},
		{garbage, 1, "cut short"},
	} {
		_, complaints, code := advised(strings.Fields(c.args)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, complaints, c.says, c.args)
	}
	out, _, code := advised("-h")
	assert.Zero(t, code)
	assert.Contains(t, out, "WEFT_ADVISE=run.json")
}
