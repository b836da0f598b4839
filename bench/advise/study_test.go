package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// The whole way, small: advice, change, build, runs, tables.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs programs")
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
	for _, args := range [][]string{{"-measure", "x.json"}, {"-measure", "-dims", "4"}, {"-measure", "-ranks", "2,2"}, {"-measure", "-ranks", "2,2,1"}, {"-measure", "-reps", "0"}, {"-measure", "-loop", "0"}} {
		_, _, code := advised(args...)
		assert.Equal(t, 2, code, args)
	}
}
