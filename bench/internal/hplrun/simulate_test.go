package hplrun

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

// simulated runs the program on a simulated machine and returns the result line of each test.
func simulated(t *testing.T, args string) []map[string]string {
	r := launch(Program{}, args)
	require.Zero(t, r.code, "%s: %s", args, r.errors)
	all := pairs(t, r.out)
	for _, p := range all[:len(all)-1] {
		assert.Equal(t, "unchecked", p["status"])
		assert.Equal(t, "modelled", p["isa"])
		assert.Contains(t, args, p["machine"])
	}
	return all
}

// All drivers run on a simulated machine, on matrices that cannot be touched. Equal runs take
// the same time, and none is faster than the machine.
func TestSimulate(t *testing.T) {
	const peak = 9.2 // of a core of js21
	grids := []string{"-p 1 -q 4", "-p 4 -q 1 -workers 1", "-p 2 -q 2 -workers 2", "-p 3 -q 2"}
	if invariant.Race {
		grids = grids[2:3] // one thread runs at a time: there is little to find
	}
	for _, variant := range Variants {
		for _, grid := range grids {
			args := "-machine js21 -n 1000,1024 -nb 64 -variant " + variant + " " + grid
			first := simulated(t, args)
			assert.Equal(t, first, simulated(t, args), args)
			for _, p := range first[:2] {
				cores := figure(t, p["ranks"]) * figure(t, p["workers"])
				speed := figure(t, p["gflops_best"])
				assert.Less(t, speed, peak*cores, args)
				assert.Greater(t, speed, 0.01*peak*cores, args)
			}
		}
	}
}

func figure(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}

// Any kernels compute on a simulated machine, and the solution is verified.
func TestSimulate_computes(t *testing.T) {
	r := launch(Program{}, "-machine js21 -ranks 4 -p 2 -q 2 -n 300 -nb 32 -isa portable")
	require.Zero(t, r.code, r.errors)
	p := pairs(t, r.out)[0]
	assert.Equal(t, "passed", p["status"])
	assert.Less(t, figure(t, p["residual"]), 1.0)
}

// A matrix on 128 processes; in a long run one of 137 GB on 512.
func TestSimulate_large(t *testing.T) {
	size := "-ranks 128 -p 8 -q 16 -n 2048"
	switch {
	case os.Getenv("WEFT_LONG") == "1":
		size = "-ranks 512 -p 16 -q 32 -n 131072"
	case invariant.Race:
		size = "-ranks 32 -p 4 -q 8 -n 2048"
	}
	p := simulated(t, "-machine js21 -nb 128 -variant lookahead "+size)[0]
	t.Log(p["seconds_best"], p["gflops_best"])
}

func TestSimulate_usage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"nodes": 2, "cores": 2, "network": "gige"}`), 0o600))
	for args, want := range map[string]string{
		"-machine js21":                                  "give -n or -dat",
		"-machine moon -n 100":                           "no such preset",
		"-machine js21 -n 100 -p 32 -q 32":               "do not fit",
		"-machine js21 -n 100 -p 2 -q 2 -workers 16":     "4 ranks with 16 cores each do not fit",
		"-machine js21 -n 100 -net gige":                 "leave -net out",
		"-n 100 -machine " + file:                        "has no kernels",
		"-n 100 -isa portable -ranks 5 -machine " + file: "do not fit",
	} {
		r := launch(Program{}, args)
		assert.Equal(t, 2, r.code, args)
		assert.Contains(t, r.errors, want, args)
	}
}
