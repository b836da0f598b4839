package hplrun

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/hpl"
)

// printed returns the output of runs of one test with these results.
func printed(t *testing.T, f *hpldat.File, timing bool, results ...hpl.Result) string {
	t.Helper()
	var b bytes.Buffer
	p := &printer{w: &b, threshold: f.Threshold, timing: timing}
	p.head(f)
	began := time.Date(2026, 3, 7, 14, 5, 9, 0, time.UTC)
	for c := range f.Tests() {
		c.Variant = hpl.LookAhead
		for _, r := range results {
			p.result(c, r, began, began.Add(12*time.Second))
		}
		break
	}
	p.tail()
	require.NoError(t, p.err)
	return b.String()
}

func someFile(t *testing.T) *hpldat.File {
	f, err := hpldat.Read("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	f.N, f.NB = []int{8000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, []int{192}
	f.RFact, f.PFact, f.NBMin = []hpl.Factor{hpl.Right}, []hpl.Factor{hpl.Crout, hpl.Left}, []int{4}
	f.Bcast, f.Depth = []hpl.Broadcast{hpl.RingModified, hpl.Ring, hpl.TwoRing, hpl.TwoRingModified, hpl.Long, hpl.LongModified}, []int{1, 0}
	f.Grids = []hpldat.Grid{{P: 1, Q: 2}}
	return f
}

var (
	good = hpl.Result{Seconds: 3.1234, GFlops: 109.30456, Residual: 2.71828182e-3}
	bad  = hpl.Result{
		Seconds: 3, GFlops: 113.8, Residual: 123456.789,
		NormR: 0.001234, NormAInf: 2034.5, NormA1: 2040.25, NormXInf: 12.5, NormX1: 20000.125, NormB: 0.5,
	}
	notANumber = hpl.Result{
		Seconds: 3, GFlops: math.Inf(1), Residual: math.NaN(),
		NormR: math.NaN(), NormAInf: 1, NormA1: 1, NormXInf: math.Inf(1), NormX1: math.Inf(-1), NormB: 0.5,
	}
	singular = hpl.Result{Seconds: 3, GFlops: 1, Residual: math.NaN(), Singular: 17}
)

// The text that netlib's program prints, line by line, as its source and its real
// output have it.
func TestOutput_is_netlibs(t *testing.T) {
	golden, err := os.ReadFile("testdata/output.txt")
	require.NoError(t, err)
	assert.Equal(t, string(golden), printed(t, someFile(t), false, good, bad, notANumber, singular))
}

func TestOutput_without_a_threshold(t *testing.T) {
	f := someFile(t)
	f.Threshold = 0
	text := printed(t, f, false, good, bad)
	assert.Equal(t, 1, strings.Count(text, "T/V                N"), "the head once")
	for _, none := range []string{"||Ax-b||", "PASSED", "FAILED", "eps", "pass if", "failed"} {
		assert.NotContains(t, text, none)
	}
	assert.Contains(t, text, "ALIGN  : 8 double precision words\n\n"+double+"T/V")
	assert.Contains(t, text, "              2 tests completed without checking,\n              0 tests skipped")
}

func TestOutput_of_details(t *testing.T) {
	r := good
	r.Timing = hpl.Timing{RFact: 1234 * time.Millisecond, Update: 2 * time.Second, BackSolve: 10 * time.Millisecond}
	text := printed(t, someFile(t), true, r)
	assert.Contains(t, text, "\n--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV-\n"+
		"Max aggregated wall time rfact . . . :               1.23\n"+
		"Max aggregated wall time update  . . :               2.00\n"+
		"Max aggregated wall time up tr sv  . :               0.01\n"+single)
	assert.NotContains(t, text, "laswp", "what took no time is left out")
}

func TestCode(t *testing.T) {
	c := hpl.Default(100)
	c.Variant, c.NBMin = hpl.LookAhead, 4
	assert.Equal(t, "WR11R2C4", Code(c))
	c.ColumnMajor, c.Depth, c.Bcast, c.RFact, c.NDiv, c.PFact, c.NBMin = true, 3, hpl.LongModified, hpl.Left, 3, hpl.Right, 16
	assert.Equal(t, "WC35L3R16", Code(c))
	c.Variant = hpl.Task
	assert.Equal(t, "WC95L3R16", Code(c))
	c.Variant = hpl.Blocking
	assert.Equal(t, "WC05L3R16", Code(c))
}

// failing is a writer that has no room.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestOutput_that_cannot_be_written(t *testing.T) {
	p := &printer{w: failing{}, threshold: 16}
	p.head(someFile(t))
	assert.ErrorIs(t, p.err, os.ErrClosed)
}
