package main

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/invariant"
)

// bench runs the program and returns its output and exit code.
func bench(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return out.String(), errs.String(), code
}

var resultLine = regexp.MustCompile(`(?m)^result op=(\w+) isa=(\w+) m=\d+ n=\d+ k=\d+ reps=\d+ gflops_best=[0-9.]+ gflops_median=[0-9.]+ peak_gflops=[0-9.]+ fraction=[0-9.]+ ratio=[0-9.]+$`)

// Every operation runs, is right, and prints one line per implementation.
func TestOperations(t *testing.T) {
	names := blas.Names()
	for _, op := range slices.Sorted(maps.Keys(operations)) {
		out, errs, code := bench("-op", op, "-m", "75", "-n", "43", "-k", "29", "-reps", "2", "-isa", strings.Join(names, ","))
		require.Zero(t, code, "%s: %s", op, errs)
		assert.True(t, strings.HasPrefix(out, "machine: "), out)
		lines := resultLine.FindAllStringSubmatch(out, -1)
		require.Len(t, lines, len(names), out)
		for i, l := range lines {
			assert.Equal(t, []string{op, names[i]}, l[1:3])
		}
		assert.True(t, strings.HasSuffix(out, "ratio=1.000\n"), "the last is compared with itself: %s", out)
	}
}

func TestDefaults(t *testing.T) {
	c, err := parseArgs(nil)
	require.NoError(t, err)
	assert.Equal(t, []any{"dgemm", 2000, 2000, 192, 15}, []any{c.op, c.m, c.n, c.k, c.reps})
	assert.Equal(t, []blas.Kernels{blas.Default()}, c.isas)
	c, err = parseArgs([]string{"-op", "panel"})
	require.NoError(t, err)
	assert.Equal(t, 192, c.n)
	c, err = parseArgs([]string{"-op", "panel", "-m", "100"})
	require.NoError(t, err)
	assert.Equal(t, 100, c.n)
}

func TestUsageErrors(t *testing.T) {
	for says, args := range map[string][]string{
		`unknown operation -op "dgesv"`:      {"-op", "dgesv"},
		"-m is 0: make it 1 to 16777216":     {"-m", "0"},
		"-n is -3":                           {"-n", "-3"},
		"-k is 99999999":                     {"-k", "99999999"},
		"-reps is 0":                         {"-reps", "0"},
		`no kernels called "sse5"`:           {"-isa", "portable,sse5"},
		`no kernels called ""`:               {"-isa", ""},
		`unexpected argument "2000"`:         {"2000"},
		"flag provided but not defined: -nb": {"-nb", "4"},
		"as many rows as columns":            {"-op", "panel", "-m", "5", "-n", "6"},
		`invalid value "x" for flag -m`:      {"-m", "x"},
	} {
		out, errs, code := bench(args...)
		assert.Equal(t, 2, code, says)
		assert.Contains(t, errs, says)
		assert.Empty(t, out, says)
	}
}

func TestHelp(t *testing.T) {
	out, errs, code := bench("-h")
	assert.Zero(t, code)
	assert.Empty(t, errs)
	for _, says := range []string{"blas measures one kernel", "-isa implementations", "-op operation", "dgemm", "portable", "Exit codes"} {
		assert.Contains(t, out, says)
	}
}

func TestResultsThatCannotBeWritten(t *testing.T) {
	full, err := os.Open(os.DevNull) // not for writing
	require.NoError(t, err)
	defer full.Close()
	var errs bytes.Buffer
	assert.Equal(t, 1, run(strings.Fields("-op daxpy -m 10 -reps 1"), full, &errs))
	assert.Contains(t, errs.String(), "blas: FAILED: write")
}

// The negative control: a wrong number is found before anything is timed.
func TestWrongResultFails(t *testing.T) {
	for _, op := range slices.Sorted(maps.Keys(operations)) {
		c, err := parseArgs([]string{"-op", op, "-m", "40", "-n", "30", "-k", "20", "-reps", "1"})
		require.NoError(t, err)
		c.tamper = func(result []float64) { result[len(result)/2] += 1e-6 }
		var out bytes.Buffer
		assert.ErrorContains(t, c.execute(&out), "by the portable kernels", op)
		assert.NotContains(t, out.String(), "result")
	}
}

func TestNoMemory(t *testing.T) {
	if runtime.GOOS != "linux" || invariant.Race {
		t.Skip("operands are in the Go heap, which ends the program: run this test on Linux, without the race detector")
	}
	_, errs, code := bench("-m", "16777216", "-n", "16777216", "-k", "1", "-reps", "1")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "operands of dgemm")
}

// The factorization is one: L*U is the matrix with its rows exchanged.
func TestPanelFactors(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {5, 5}, {9, 8}, {40, 17}, {64, 64}, {100, 33}} {
		m, n := shape[0], shape[1]
		o := newOperands()
		a := o.matrix(m * n)
		lu, pivots := slices.Clone(a), make([]int, n)
		factor(blas.Portable(), m, n, lu, m, pivots)
		blas.Portable().Dlaswp(n, a, m, pivots, false)
		for j := range n {
			for i := range m {
				sum := 0.0
				for p := range min(i, j+1) {
					sum += lu[i+p*m] * lu[p+j*m]
				}
				if i <= j {
					sum += lu[i+j*m]
				}
				require.InDelta(t, a[i+j*m], sum, 1e-12, "%v: element (%d, %d)", shape, i, j)
			}
		}
		require.NoError(t, o.free())
	}
}

func TestLeading(t *testing.T) {
	for m, want := range map[int]int{1: 8, 8: 8, 2000: 2000, 2001: 2008, 2048: 2056, 250: 264, 192: 192} {
		assert.Equal(t, want, leading(m))
	}
}
