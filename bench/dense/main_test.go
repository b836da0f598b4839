package main

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

func bench(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return out.String(), errs.String(), code
}

// Every operation runs, agrees with gonum, and prints a line for each contender and order.
func TestOperations(t *testing.T) {
	orders := "20,90"
	if invariant.Race {
		orders = "20,40"
	}
	for _, op := range slices.Sorted(maps.Keys(operations)) {
		out, errs, code := bench("-op", op, "-n", orders, "-tall", "2", "-reps", "1", "-workers", "1")
		require.Zero(t, code, "%s: %s", op, errs)
		assert.Equal(t, 4, strings.Count(out, "result op="+op+" "), out)
	}
	for _, op := range []string{"applyq", "formq"} {
		_, errs, code := bench("-op", op, "-n", "48", "-reps", "1")
		require.Zero(t, code, "square: %s: %s", op, errs)
	}
	chart := filepath.Join(t.TempDir(), "dense")
	out, errs, code := bench("-op", "together,lu", "-n", "30", "-reps", "2", "-out", chart)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "by=at-once-")
	assert.FileExists(t, chart+".svg")
}

func TestUsageErrors(t *testing.T) {
	for says, args := range map[string][]string{
		"-tall 65: it is at most 64":    {"-tall", "65"},
		"a matrix of 95 GiB: at most 8": {"-n", "20000", "-tall", "32"},
		`unknown operation -op "svd"`:   {"-op", "svd"},
		`-n has the order "0"`:          {"-n", "10,0"},
		`-n has the order "x"`:          {"-n", "x"},
		`no kernels called "sse5"`:      {"-isa", "sse5"},
		"-workers":                      {"-workers", "0"},
		"unexpected argument":           {"lu"},
	} {
		out, errs, code := bench(args...)
		assert.Equal(t, 2, code, says)
		assert.Contains(t, errs, says)
		assert.Empty(t, out, says)
	}
}

// The negative control: a wrong number is found before anything is timed.
func TestWrongResultFails(t *testing.T) {
	for _, op := range slices.Sorted(maps.Keys(operations)) {
		c, err := parseArgs([]string{"-op", op, "-n", "30", "-reps", "1"})
		require.NoError(t, err)
		c.tamper = func(result []float64) { result[len(result)/2] += 1e-3 }
		var out bytes.Buffer
		assert.ErrorContains(t, c.execute(&out), "of the result of weft", op)
		assert.NotContains(t, out.String(), "result")
	}
}
