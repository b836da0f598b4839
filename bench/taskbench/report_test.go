package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
)

func TestReport_lines(t *testing.T) {
	c, err := parseArgs(strings.Fields("-steps 10 -kernel compute_bound -iter 3 -workers 2 -field 3"))
	require.NoError(t, err)
	var out bytes.Buffer
	printReport(&out, c, totals{tasks: 40, dependences: 90, flops: 17920, bytes: 1 << 40}, []float64{0.25})
	assert.Equal(t, `Total Tasks 40
Total Dependencies 90
Total FLOPs 17920
Total Bytes 1099511627776
Elapsed Time 2.500000e-01 seconds
FLOP/s 7.168000e+04
B/s 4.398047e+12
result seconds_best=0.25 seconds_median=0.25 us_per_task=6250 us_per_task_median=6250 gflops_best=0.00007168 gflops_median=0.00007168 gbytes_per_s=4398.047 bytes=1099511627776 flops=17920 tasks=40 dependences=90 graphs=1 field=3 workers=2 ranks=1 reps=1
`, out.String())

	out.Reset()
	printReport(&out, c, totals{tasks: 40}, []float64{3, 1, 2, 8})
	assert.Contains(t, out.String(), "4 runs: best 1.000000, median 2.500000, worst 8.000000 seconds")
	assert.Contains(t, out.String(), "Elapsed Time 1.000000e+00 seconds")
	assert.Contains(t, out.String(), " us_per_task=25000 us_per_task_median=62500 ")
}

func TestHeader_says_what_changes_the_work(t *testing.T) {
	c, err := parseArgs(strings.Fields("-type random_nearest -period 2 -kernel memory_bound -scratch 64 -iter 2 -pin=false -and -metg=false -kernel load_imbalance -imbalance 0.5"))
	require.NoError(t, err)
	var out bytes.Buffer
	printHeader(&out, c)
	text := out.String()
	assert.Contains(t, text, "\nmachine: ")
	assert.Contains(t, text, "pinning off")
	assert.Contains(t, text, "graph 0: type random_nearest, steps 4, width 4, radix 3, period 2, fraction 0.25, kernel memory_bound, iter 2, output 16 bytes, field 2 buffers per point, scratch 64 bytes per buffer in 16 samples\n")
	assert.Contains(t, text, "graph 1: type trivial, steps 4, width 4, kernel load_imbalance, iter 0, imbalance 0.5, output 16 bytes, field 2 buffers per point\n")
	assert.NotContains(t, text, "\nresult")
}

func TestProgress_shows_and_clears(t *testing.T) {
	var screen lockedBuffer
	p := startProgress(report.ProgressOn(&screen), time.Millisecond, time.Millisecond)
	p.phase("run 1 of 2", 50)
	p.step(20)
	require.Eventually(t, func() bool { return strings.Contains(screen.String(), "run 1 of 2: 20 of 50 timesteps submitted") }, time.Minute, time.Millisecond)
	p.close()
	assert.True(t, strings.HasSuffix(screen.String(), "\r\x1b[K"))
	p.clear()

	assert.Nil(t, newProgress(&bytes.Buffer{}))
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	off := newProgress(file)
	require.Nil(t, off, "a file is no terminal")
	off.phase("x", 1)
	off.step(1)
	off.clear()
	off.close()
}
