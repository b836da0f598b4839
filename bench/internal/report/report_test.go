package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLine_is_read_back(t *testing.T) {
	var b bytes.Buffer
	Line(&b, Text("engine", "Open MPI 4.1.4"), Decimal("latency_us", 0.25), Integer("bytes", 8), Text("net", ""))
	assert.Equal(t, "result engine=Open_MPI_4.1.4 latency_us=0.25 bytes=8 net=none\n", b.String())
	pairs, ok := Parse(b.String())
	require.True(t, ok)
	assert.Equal(t, map[string]string{"engine": "Open_MPI_4.1.4", "latency_us": "0.25", "bytes": "8", "net": "none"}, pairs)
}

func TestParse_refuses_other_lines(t *testing.T) {
	for _, line := range []string{"", "result", "8  0.25", "results a=1", "result =1", "result a"} {
		_, ok := Parse(line)
		assert.False(t, ok, line)
	}
}

func TestDecimal_has_no_exponent(t *testing.T) {
	assert.Equal(t, "x=0.000000001234568", Decimal("x", 1.2345678e-9))
	assert.Equal(t, "x=12345680000", Decimal("x", 12345678901))
	assert.Equal(t, "x=0", Decimal("x", 0))
}

func TestFigures(t *testing.T) {
	text := "8 1.0\nresult a=1 b=x\nresult b=2\nresult a=3\n"
	assert.Equal(t, []float64{1, 3}, Figures(text, "a"))
	assert.Equal(t, []float64{2}, Figures(text, "b"), "what is no number is skipped")
	assert.Empty(t, Figures(text, "c"))
}

func TestMedian_and_Mean(t *testing.T) {
	v := []float64{9, 1, 2}
	assert.Equal(t, 2.0, Median(v))
	assert.Equal(t, []float64{9, 1, 2}, v, "the argument keeps its order")
	assert.Equal(t, 2.5, Median([]float64{4, 1, 2, 3}))
	assert.Equal(t, 4.0, Mean(v))
	assert.Zero(t, Median(nil))
	assert.Zero(t, Mean(nil))
}

func TestProgress(t *testing.T) {
	assert.Nil(t, NewProgress(&bytes.Buffer{}), "no file")
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer f.Close()
	p := NewProgress(f)
	assert.Nil(t, p, "no terminal")
	p.Say("nothing")
	p.Clear()

	var b bytes.Buffer
	p = &Progress{w: &b}
	p.Say("size %d", 8)
	p.Say("too early for another")
	assert.Contains(t, b.String(), "size 8")
	assert.NotContains(t, b.String(), "early")
	b.Reset()
	p.Clear()
	p.Clear()
	assert.Equal(t, "\r\x1b[K", b.String(), "once")
}
