package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/machine"
)

func TestDefaults_are_the_original_ones(t *testing.T) {
	c, err := parseArgs(nil)
	require.NoError(t, err)
	require.Len(t, c.graphs, 1)
	p := c.graphs[0]
	assert.Equal(t, shape{pattern: trivial, steps: 4, width: 4, radix: 3, period: -1, fraction: 0.25}, p.shape)
	assert.Equal(t, kernel{kind: empty, iter: 0, samples: 16, imbalance: 0}, p.kernel)
	assert.Equal(t, []int{16, 0, 2}, []int{p.output, p.scratch, p.fields})
	assert.Equal(t, []int{machine.Cores(), 1}, []int{c.workers, c.reps})
	assert.True(t, c.pin)
	assert.False(t, c.metg)
}

func TestFlags_of_several_graphs(t *testing.T) {
	c, err := parseArgs(strings.Fields("-steps 7 --width=9 -type spread -period 2 -workers 3 -and -type fft -kernel busy_wait -iter 5 --and -reps 4 -field 3 -pin=false"))
	require.NoError(t, err)
	require.Len(t, c.graphs, 3)
	assert.Equal(t, []int{7, 4, 4}, []int{c.graphs[0].steps, c.graphs[1].steps, c.graphs[2].steps}, "each graph starts from the defaults")
	assert.Equal(t, []pattern{spread, fft, trivial}, []pattern{c.graphs[0].pattern, c.graphs[1].pattern, c.graphs[2].pattern})
	assert.Equal(t, []int{0, 1, 2}, []int{c.graphs[0].index, c.graphs[1].index, c.graphs[2].index})
	assert.Equal(t, busyWait, c.graphs[1].kind)
	assert.Equal(t, []int{3, 4, 3}, []int{c.workers, c.reps, c.graphs[2].fields})
	assert.False(t, c.pin)
}

func TestMETG_defaults(t *testing.T) {
	c, err := parseArgs(strings.Fields("-metg -type stencil_1d -workers 3"))
	require.NoError(t, err)
	p := c.graphs[0]
	assert.Equal(t, []int{1000, 3, 5}, []int{p.steps, p.width, c.reps})
	assert.Equal(t, computeBound, p.kind)
	c, err = parseArgs(strings.Fields("-metg -steps 10 -width 6 -reps 2 -kernel load_imbalance -imbalance 1"))
	require.NoError(t, err)
	p = c.graphs[0]
	assert.Equal(t, []int{10, 6, 2}, []int{p.steps, p.width, c.reps})
	assert.Equal(t, loadImbalance, p.kind)
}

// TestUsage_errors wants exit code 2, nothing on stdout, and a message that says what,
// where and what to do.
func TestUsage_errors(t *testing.T) {
	for args, want := range map[string]string{
		"-stesp 3":                              `graph 0: flag provided but not defined: -stesp (taskbench -h lists the flags)`,
		"-steps":                                `graph 0: flag needs an argument: -steps`,
		"-type -and -width 3":                   `graph 0: flag needs an argument: -type`,
		"-steps 3 -and -width x":                `graph 1: invalid value "x" for flag -width`,
		"-steps 1.5":                            `invalid value "1.5" for flag -steps`,
		"-steps 99999999999999999999":           `invalid value`,
		"hello":                                 `unexpected argument "hello"`,
		"-steps 3 4":                            `unexpected argument "4"`,
		"-type star":                            `unknown dependence type "star": choose one of trivial, no_comm`,
		"-kernel gpu":                           `unknown kernel "gpu": choose one of empty`,
		"-steps 0":                              `graph 0: -steps 0: must be at least 1`,
		"-width 0":                              `-width 0: must be at least 1`,
		"-width -3":                             `-width -3: must be at least 1`,
		"-output 15":                            `-output 15: must be at least 16`,
		"-field 1":                              `-field 1: must be at least 2`,
		"-radix -1":                             `-radix -1`,
		"-period -1":                            `-period -1`,
		"-fraction 1.5":                         `-fraction 1.5: must be between 0 and 1`,
		"-fraction NaN":                         `-fraction NaN`,
		"-imbalance 2.5":                        `-imbalance 2.5: must be between 0 and 2`,
		"-iter -1":                              `-iter -1`,
		"-sample 0":                             `-sample 0`,
		"-scratch -8":                           `-scratch -8`,
		"-kernel memory_bound":                  `-scratch 0: -kernel memory_bound copies`,
		"-kernel memory_bound -scratch 31":      `-scratch 31`,
		"-type spread":                          `-type spread needs a -period of at least 1`,
		"-type random_nearest -period 0":        `-type random_nearest needs a -period of at least 1`,
		"-type spread -period 1 -width 2":       `-radix 3: -type spread with -width 2 has at most 2`,
		"-type nearest -radix 5":                `-radix 5: -type nearest with -width 4`,
		"-type spread -period 3":                `-period 3: -type spread with -width 4 and -radix 3 repeats after 2 sets`,
		"-workers 0":                            `-workers 0: must be 1 to 1024`,
		"-workers 1025":                         `-workers 1025: must be 1 to 1024`,
		"-trace x.pdf":                          `-trace: trace: no format for "x.pdf"`,
		"-reps 0":                               `-reps 0: must be at least 1`,
		"-reps -2 -metg":                        `-reps -2`,
		"-type all_to_all -width 100000":        `lower -width`,
		"-output 1000000000000000":              `lower -width`,
		"-steps 10000000000 -iter 100000000":    `more than the counters hold`,
		"-metg -and -width 4":                   `-metg measures one graph`,
		"-metg -kernel empty":                   `-kernel empty: -metg needs a FLOP rate`,
		"-metg -iter 5":                         `-iter has no meaning with -metg`,
		"-metg -trace x":                        `-trace records one run`,
		"-metg -type all_to_all -width 6000":    `-metg also measures 4 x width = 24000`,
		"-pin=perhaps":                          `invalid boolean value "perhaps" for -pin`,
		"-steps 3 -and -steps 3 -and -field 0 ": `graph 2: -field 0`,
	} {
		var out, errs bytes.Buffer
		code := program{stdout: &out, stderr: &errs}.run(strings.Fields(args))
		assert.Equal(t, 2, code, args)
		assert.Empty(t, out.String(), args)
		assert.Contains(t, errs.String(), want, args)
		assert.Equal(t, 1, strings.Count(errs.String(), "\n"), "%s: one line: %s", args, errs.String())
		assert.True(t, strings.HasPrefix(errs.String(), "wrong usage of taskbench: "), args)
	}
}

func TestAccepted_corners(t *testing.T) {
	for _, args := range []string{
		"-type nearest -width 2", // the default radix is cut by the edges
		"-type nearest -radix 0", "-type spread -radix 0 -period 5", "-type stencil_1d -period 3 -radix 9",
		"-type fft -width 1", "-type tree -steps 100", "-type dom -steps 3 -width 9", "-output 17", "-field 100", "-scratch 5",
		"-kernel memory_bound -scratch 32", "-type spread -period 2",
	} {
		_, err := parseArgs(strings.Fields(args))
		assert.NoError(t, err, args)
	}
}

func TestHelp(t *testing.T) {
	_, err := parseArgs([]string{"-h"})
	assert.ErrorIs(t, err, flag.ErrHelp)
	var out, errs bytes.Buffer
	assert.Zero(t, program{stdout: &out, stderr: &errs}.run(strings.Fields("-steps 3 -and -h")))
	assert.Empty(t, errs.String())
	c := config{}
	c.line(&params{}).VisitAll(func(f *flag.Flag) {
		assert.Contains(t, out.String(), "\n  -"+f.Name+" ", "every flag is described")
	})
	for _, name := range append(append([]string{"-and"}, patternNames...), kernelNames...) {
		assert.Contains(t, out.String(), name)
	}
}
