package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

// A rate that one of twenty exceeds is the full speed, even if the core is slow most of the time.
func TestPace(t *testing.T) {
	p := &pace{}
	for i := range 100 {
		rate := 6.0
		if i%4 == 0 {
			rate = 8
		}
		p.add(rate)
	}
	assert.InDelta(t, 1, p.add(8), 1e-9)
	assert.InDelta(t, 0.75, p.add(6), 1e-9)
	assert.InDelta(t, 1, p.add(20), 1e-9, "once is no measure")
	assert.InDelta(t, 0.75, p.add(6), 1e-9)
	for range paceRates {
		p.add(3)
	}
	assert.InDelta(t, 1, p.add(3), 1e-9, "what was long ago is forgotten")
}

// A timing counts if the core has its full speed; the others are repeated, as long as that is allowed,
// and then taken as parts.
func TestTimer_once(t *testing.T) {
	k := blas.Default()
	p := productPace(k)
	for range 100 {
		p.add(1e9) // far above what there is
	}
	timer := &timer{kernels: k, pace: p, repeats: 2}
	for range 2 {
		_, counts := timer.once(func() {})
		assert.False(t, counts)
	}
	took, counts := timer.once(func() { osthread.Sleep(time.Millisecond) })
	assert.True(t, counts)
	assert.Less(t, took, 1e5, "of a millisecond")
}

// Messages over a network take the time of those between threads, too.
func TestBeyond(t *testing.T) {
	threads := local.Net{Latency: 2000, Overhead: 1000, Bandwidth: 1e13}
	assert.Equal(t, threads, beyond(threads, local.Net{}))
	net, err := local.ParseNet("gige")
	require.NoError(t, err)
	with := beyond(threads, net)
	assert.Equal(t, net.Latency+2000, with.Latency)
	assert.Equal(t, net.Overhead+1000, with.Overhead)
	assert.Equal(t, net.Bandwidth, with.Bandwidth)
}

// The speeds of a run are those of the first cores, in steps.
func TestBetween(t *testing.T) {
	assert.Equal(t, [checkedCores]float64{0.9, 1}, between([]float64{1, 1, 0.1}, []float64{0.79, 1, 0.1}))
}

// The fit finds the two numbers of the model.
func TestSaturation(t *testing.T) {
	top, half := saturation(func(d int) float64 { return 50 * float64(d) / (float64(d) + 7) })
	assert.InDelta(t, 50, top, 1e-9)
	assert.InDelta(t, 7, half, 1e-9)
}

// A calibration makes a machine file, whose numbers are possible.
func TestRun(t *testing.T) {
	if invariant.Race || testing.Short() {
		t.Skip("it takes some seconds of all cores, and minutes under the race detector")
	}
	file := filepath.Join(t.TempDir(), "here.json")
	o, err := parse([]string{"-out", file})
	require.NoError(t, err)
	o.shortest, o.repeats = shortestTiming/20, 0 // other tests may have the cores
	sizes, ofTransforms := cacheSizes, transformGrids
	cacheSizes, transformGrids = []int{1 << 10, 4 << 10, 32 << 10}, [][3]int{{16, 32, 32}, {32, 64, 64}}
	ofNoise, ofMessages, ofExchanges, ofRows, ofPace := noiseTime, shortMessages, exchangeBatches, rowMoves, paceRates
	noiseTime, shortMessages, exchangeBatches, rowMoves, paceRates = ofNoise/20, ofMessages/20, 3, 10, 40
	defer func() {
		cacheSizes, transformGrids = sizes, ofTransforms
		noiseTime, shortMessages, exchangeBatches, rowMoves, paceRates = ofNoise, ofMessages, ofExchanges, ofRows, ofPace
	}()
	measured, err := measure(o, newWatch(o.kernels))
	require.NoError(t, err)
	require.NoError(t, write(o, measured, nil))
	m, err := cluster.Load(file)
	require.NoError(t, err)
	assert.Equal(t, 1, m.Cores)
	k := m.Kernels
	assert.Greater(t, k.GFlops, 0.1)
	assert.Greater(t, k.Cached, k.Memory/2)
	assert.Greater(t, k.FFT, 0.1)
	assert.Positive(t, k.Handed)
	assert.Positive(t, k.Claimed)
	assert.Positive(t, m.Spawn.Duration)
	assert.Positive(t, m.Task.Duration)
	assert.Positive(t, m.Network.Latency)
	assert.Positive(t, m.Network.Bandwidth)
}

// A calibration undoes what the noise had of the time.
func TestQuicken(t *testing.T) {
	k := quicken(cluster.Kernels{GFlops: 9, Memory: 18, Line: 10, Half: 7}, 0.1)
	assert.InDelta(t, 10, k.GFlops, 1e-9)
	assert.InDelta(t, 20, k.Memory, 1e-9)
	assert.InDelta(t, 9, k.Line, 1e-9)
	assert.InDelta(t, 7, k.Half, 1e-9)
}

// Of three measurements of noise, that with the median of the parts counts.
func TestMedianNoise(t *testing.T) {
	quiet, usual, loud := noise{}, noise{every: 1000, length: 50}, noise{every: 100, length: 20}
	assert.Equal(t, usual, medianNoise(loud, quiet, usual))
	assert.Equal(t, usual, medianNoise(usual, loud, usual))
}

// The fit finds the cache of the model.
func TestFitCache(t *testing.T) {
	times := map[int]float64{}
	for _, size := range cacheSizes {
		times[size] = 1 + 9*max(0, 1-12<<10/float64(size))
	}
	near, far, shared := fitCache(times)
	assert.InDelta(t, 1, near, 1e-9)
	assert.InDelta(t, times[256<<10], far, 1e-9)
	assert.InEpsilon(t, 12*1.048576, shared, 0.1)
}

// Pairs of a group that differ enough count, in their order and not.
func TestOrdered(t *testing.T) {
	at := func(group string, measured, predicted float64) *subject {
		return &subject{group: group, measured: []float64{measured}, predicted: []float64{predicted}}
	}
	all := []*subject{
		at("hpl a", 1, 1), at("hpl a", 1.04, 0.5), at("hpl a", 2, 3), // the first two do not differ
		at("hpl b", 1, 2), at("hpl b", 2, 1), // wrong
		at("ft a", 1, 1), at("ft a", 2, 2), // another program
	}
	right, pairs := ordered(all, "hpl")
	assert.Equal(t, [2]int{2, 3}, [2]int{right, pairs})
	right, pairs = ordered(all, "ft")
	assert.Equal(t, [2]int{1, 1}, [2]int{right, pairs})

	all = []*subject{
		{group: "hpl", measured: []float64{1, 1, 3}, predicted: []float64{1}}, // was slower once
		{group: "hpl", measured: []float64{2, 2, 2}, predicted: []float64{1}},
	}
	_, pairs = ordered(all, "hpl")
	assert.Zero(t, pairs)

	all = []*subject{at("hpl a", 1, 2), at("hpl a", 2, 1)} // one driver under two names
	all[0].same, all[1].same = true, true
	_, pairs = ordered(all, "hpl")
	assert.Zero(t, pairs)
}

// The eager limit of the engine is found, and messages take time of their host.
func TestProcesses(t *testing.T) {
	const eager = 4096
	err := local.Run(2, func(c *mpi.Comm) error {
		limit, err := eagerLimit(c, 1e9)
		if assert.NoError(t, err) {
			assert.Equal(t, eager, limit)
		}
		rate, err := hostRate(c)
		if assert.NoError(t, err) {
			assert.Greater(t, rate, 0.0)
			assert.Less(t, rate, 1000.0)
		}
		return nil
	}, local.Eager(eager))
	assert.NoError(t, err)
}

// A check predicts and measures every subject, and prints a line of each and the results.
func TestCheck(t *testing.T) {
	if invariant.Race || testing.Short() || os.Getenv("WEFT_LONG") == "" {
		t.Skip("it takes half a minute of all cores: WEFT_LONG=1")
	}
	var out strings.Builder
	require.NoError(t, run([]string{"-check", "-quick", "-rounds", "1"}, &out))
	for _, want := range []string{"hpl N=500 2x1 gige", "ft S none", "result check=hpl points=21 rounds=1 error_median=", "result check=ft points=12"} {
		assert.Contains(t, out.String(), want)
	}
}

func TestRun_usage(t *testing.T) {
	for args, want := range map[string]string{
		"-net moon":         "no preset",
		"-isa moon":         "no kernels called",
		"x":                 "x",
		"-quick":            "-check",
		"-only ft":          "-check",
		"-check -only moon": "no problem and driver",
		"-rounds 3":         "-check",
		"-check -net gige":  "leave -out and -net out",
		"-check -rounds 0":  "at least 1",
	} {
		err := run(strings.Fields(args), os.Stdout)
		require.True(t, errors.Is(err, world.ErrUsage), args)
		assert.ErrorContains(t, err, want)
	}
	err := run([]string{"-net", "gige", "-out", "no/such/folder.json"}, nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
