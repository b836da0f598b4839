package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// The whole way, small: advice, change, build, runs, tables.
func TestMeasure(t *testing.T) {
	if os.Getenv("WEFT_LONG") != "1" {
		t.Skip("WEFT_LONG=1 runs it: it builds and runs programs")
	}
	name := filepath.Join(t.TempDir(), "study")
	out, complaints, code := advised("-measure", "-quick", "-dims", "1", "-reps", "1", "-loop", "0.02", "-others=false", "-out", name)
	require.Zero(t, code, complaints)
	assert.Len(t, report.Figures(out, "predicted_seconds"), 2, out)
	f, err := os.Open(name + ".csv")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	table, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	assert.Len(t, table, 3)
	assert.FileExists(t, name+"-speedup.svg")
}

// So with mini-applications: the changed ones give the bytes of the originals.
func TestMeasure_apps(t *testing.T) {
	if os.Getenv("WEFT_LONG") != "1" {
		t.Skip("WEFT_LONG=1 runs it: it builds and runs programs")
	}
	name := filepath.Join(t.TempDir(), "apps")
	out, complaints, code := advised("-measure", "-apps", "-quick", "-reps", "1", "-loop", "0.05", "-out", name)
	require.Zero(t, code, complaints)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	pairs, ok := report.Parse(lines[len(lines)-1])
	require.True(t, ok, out)
	assert.Equal(t, "0", pairs["other_results"], out)
	assert.FileExists(t, name+".csv")
}

// A set of runs with more and fewer peers is changed as the run says that has the most messages.
func TestChanged(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.compile("./testdata/miniapps")
	var files []string
	for _, ranks := range []string{"2", "4"} {
		file := filepath.Join(l.dir, ranks+".json")
		cmd := exec.Command(l.program, "-app", "jacobi", "-n", "64", "-ranks", ranks, "-net", "gige", "-steps", "200")
		cmd.Env = append(os.Environ(), advise.FileVariable+"="+file, advise.RehearseVariable+"=100ms")
		problems, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", problems)
		files = append(files, file)
	}
	count := func(files ...string) int {
		out, complaints, code := advised(append([]string{"-min", "0", "-diff"}, files...)...)
		require.Zero(t, code, complaints)
		return strings.Count(out, "+\tbatch")
	}
	two, four := count(files[0]), count(files[1])
	assert.Less(t, two, four, "the control: on two ranks nobody is left or right")
	assert.Equal(t, four, count(files...))
	assert.Equal(t, four, count(files[1], files[0]))
}

// A prediction is judged where the saving is a tenth of the step, and advice is false where
// it slows most rounds down.
func TestVerdict(t *testing.T) {
	x := &cell{Advised: true, Predicted: 25, Before: []float64{100, 110, 100}, After: []float64{80, 90, 80}, Tool: []float64{102, 112, 102}}
	e, judged := x.miss(x.Predicted)
	assert.True(t, judged)
	assert.InDelta(t, 0.25, e, 1e-12)
	assert.InDelta(t, 0.02, x.overhead(), 1e-12)
	assert.False(t, x.isFalse())
	x.After = []float64{95, 105, 95}
	_, judged = x.miss(x.Predicted)
	assert.False(t, judged, "5 % of the step")
	x.After = []float64{103, 113, 99}
	assert.True(t, x.isFalse())
	x.Advised = false
	assert.False(t, x.isFalse(), "nobody advised it")
	y := &innocent{Before: []float64{1, 1, 1}, After: []float64{1.1, 1.1, 0.9}}
	assert.True(t, y.isFalse())
	y.After = []float64{1.01, 1.01, 1.01}
	assert.False(t, y.isFalse())
}

// Flags that do not go together are usage errors.
func TestMeasure_usage(t *testing.T) {
	for _, args := range [][]string{{"-measure", "x.json"}, {"-measure", "-dims", "4"}, {"-measure", "-ranks", "2,2"}, {"-measure", "-ranks", "2,2,1"}, {"-measure", "-reps", "0"}, {"-measure", "-loop", "0"}, {"-apps"}, {"-apps", "x.json"}} {
		_, _, code := advised(args...)
		assert.Equal(t, 2, code, args)
	}
}
