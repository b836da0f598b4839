package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// constant is a side that always has one figure, and notes its runs.
func constant(name string, v float64, ran *[]string) *side {
	return &side{name: name, cores: 1, run: func(*bench) (sample, error) {
		*ran = append(*ran, name)
		return sample{value: v}, nil
	}}
}

func TestContend_takes_turns(t *testing.T) {
	var ran []string
	b := testBench(t, &fake{}, 3)
	o := b.contend(&subject{}, contest{sides: []*side{constant("a", 1, &ran), constant("b", 2, &ran), constant("c", 3, &ran)}})
	require.NoError(t, o.err)
	assert.Equal(t, "a b c a b c a b c", strings.Join(ran, " "))
	for i := range o.samples {
		assert.Len(t, o.samples[i], 3)
	}
}

func TestContend_ends_with_the_first_error(t *testing.T) {
	broken := errors.New("broken")
	for name, bad := range map[string]*side{
		"failed run":    {name: "bad", run: func(*bench) (sample, error) { return sample{}, broken }},
		"no figure":     {name: "bad", run: func(*bench) (sample, error) { return sample{}, nil }},
		"failed kernel": {name: "bad", run: func(*bench) (sample, error) { return sample{value: 1}, nil }, kernel: kernel{measure: func(*bench) (float64, error) { return 0, broken }}},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []string
			o := testBench(t, &fake{}, 3).contend(&subject{name: "s"}, contest{name: "c", sides: []*side{constant("a", 1, &ran), bad}})
			require.ErrorContains(t, o.err, "bad, round 1")
			assert.Equal(t, []string{"a"}, ran)
			r := &result{subject: &subject{name: "s"}, outcomes: []*outcome{o}}
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, finish(&stdout, &stderr, []*result{r}))
			assert.Empty(t, stdout.String(), "no result line of a failed contest")
			assert.Contains(t, stderr.String(), "bad, round 1")
			var page strings.Builder
			r.markdown(&page)
			assert.Contains(t, page.String(), "**failed**")
			assert.False(t, r.drawn())
		})
	}
}

func TestKernel_is_measured_after_each_run(t *testing.T) {
	rate := 0.0
	s := &side{name: "a", run: func(*bench) (sample, error) { return sample{value: 1}, nil }, kernel: kernel{name: "k", measure: func(*bench) (float64, error) { rate++; return rate, nil }}}
	o := testBench(t, &fake{}, 3).contend(&subject{}, contest{sides: []*side{s, s}})
	require.NoError(t, o.err)
	assert.Equal(t, 6.0, rate)
	assert.Equal(t, 3.0, o.kernelRate(0), "the median of 1, 3 and 5")
}

// On a machine without any peer every subject says what is missing and how to get it, and
// builds nothing of ours.
func TestEverySubject_names_missing_peers(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			machine := &fake{}
			r := testBench(t, machine, 1).play(s)
			require.NoError(t, r.err)
			assert.Empty(t, r.outcomes)
			require.NotEmpty(t, r.missing)
			for _, m := range r.missing {
				assert.NotEmpty(t, m.name)
				assert.NotEmpty(t, m.reason)
				assert.Regexp(t, `apt-get install \S|build |download `, m.command)
			}
			assert.NotContains(t, machine.ran, "go")
			var page strings.Builder
			r.markdown(&page)
			assert.Contains(t, page.String(), "No peer is installed")
		})
	}
}

// A compiler without the library is a missing peer, too, with what the compiler said.
func TestEverySubject_survives_missing_libraries(t *testing.T) {
	b := testBench(t, &fake{programs: []string{"cc", "mpicc", "mpirun"}, answer: func(name string, c command) (string, error) {
		return "", errors.New("fatal error: cblas.h: No such file or directory")
	}}, 1)
	for _, s := range []*subject{&blasSubject, &fftSubject, &tasksSubject, &pingpongSubject} {
		r := b.play(s)
		require.NoError(t, r.err, s.name)
		require.NotEmpty(t, r.missing, s.name)
		assert.Contains(t, r.missing[0].reason, "cblas.h")
	}
}

// With all peers there, each subject has contests in which every side has its figures.
func TestEverySubject_plays(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			r := testBench(t, everything(), 2).play(s)
			require.NoError(t, r.err)
			assert.Empty(t, r.missing)
			require.NotEmpty(t, r.outcomes)
			for _, o := range r.outcomes {
				require.NoError(t, o.err)
				require.GreaterOrEqual(t, len(o.sides), 2)
				assert.True(t, strings.HasPrefix(o.sides[0].name, "weft"), "ours is the first")
				for i, side := range o.sides {
					assert.Len(t, o.samples[i], 2)
					assert.Positive(t, side.cores)
					assert.NotEmpty(t, side.version)
					assert.NotEmpty(t, side.layout)
				}
			}
			assert.True(t, r.drawn() || s == &tasksSubject)
		})
	}
}

// Wrong results of peers, and of ours, are failures and never figures.
func TestWrongResults_fail(t *testing.T) {
	wrong := errors.New("exit status 1")
	for program, s := range map[string]*subject{"xhpl": &hplSubject, "hpcc": &hplSubject, "weft-xhpl": &hplSubject, "ft.S.x": &ftSubject, "nasft": &ftSubject, "weft-npbft": &ftSubject, "weft-fft": &fftSubject, "weft-osu-mpi": &pingpongSubject} {
		t.Run(program, func(t *testing.T) {
			machine := everything()
			machine.answer = func(name string, c command) (string, error) {
				switch {
				case name != program:
					return right(name, c)
				case name == "xhpl":
					return oneHPL("FAILED"), nil
				case name == "hpcc":
					return "", writeHPCC(c.dir, "FAILED")
				case name == "nasft":
					return sums(func(int, complex128) complex128 { return 1 }), nil
				case name == "ft.S.x":
					return npb("UNSUCCESSFUL"), nil
				}
				return "", wrong
			}
			assert.NotEmpty(t, testBench(t, machine, 1).play(s).failures())
		})
	}
}

func TestOurSide_that_does_not_build_is_a_failure(t *testing.T) {
	machine := everything()
	machine.answer = func(name string, c command) (string, error) {
		if name == "go" {
			return "", errors.New("no Go files")
		}
		return right(name, c)
	}
	for _, s := range subjects {
		r := testBench(t, machine, 1).play(s)
		require.ErrorContains(t, r.err, "cannot be built", s.name)
		assert.Len(t, r.failures(), 1)
	}
}

func TestReport(t *testing.T) {
	b := testBench(t, everything(), 2)
	var all []*result
	for _, s := range subjects {
		all = append(all, b.play(s))
	}
	all[1].missing = []missing{{"NPB", "not in PATH", "apt-get install luck"}}
	require.NoError(t, writeReport(b, all))
	text, err := os.ReadFile(reportPath(b.out))
	require.NoError(t, err)
	for _, want := range []string{"machine: ", "quick run", "2 rounds", "## LINPACK", "## What a message costs", "weft avx512", "**Different kernels**", "Different layouts", "**× ", "apt-get install luck", "![LINPACK](hpl.svg)"} {
		require.Contains(t, string(text), want)
	}
	assert.NotContains(t, string(text), "NaN")
	for _, name := range []string{"hpl.svg", "ft.svg", "fft.svg", "tasks.svg", "pingpong.svg", "blas.svg"} {
		assert.FileExists(t, filepath.Join(b.out, name))
	}
	runs, err := os.ReadFile(filepath.Join(b.out, "runs.csv"))
	require.NoError(t, err)
	want := 1
	for _, r := range all {
		for _, o := range r.outcomes {
			want += 2 * len(o.sides)
		}
	}
	assert.Equal(t, want, strings.Count(string(runs), "\n"))
	for _, r := range all {
		var page bytes.Buffer
		r.print(&page)
		assert.Contains(t, page.String(), r.subject.question)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-pairs", "4"}, {"-pairs", "-1"}, {"-only", "hpl,luck"}, {"-only", "hpl,"}, {"-out", ""}, {"x"}, {"-x"}, {"-quick", "-pairs", "-2"}} {
		var stderr bytes.Buffer
		assert.Equal(t, 2, run(args, io.Discard, &stderr), args)
		assert.Contains(t, stderr.String(), "compare -h")
	}
	var help bytes.Buffer
	assert.Equal(t, 0, run([]string{"-h"}, &help, io.Discard))
	for _, s := range subjects {
		assert.Contains(t, help.String(), s.question)
	}
	c, err := parseArgs([]string{"-only", "fft,hpl"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []*subject{&fftSubject, &hplSubject}, c.subjects)
	assert.GreaterOrEqual(t, c.pairs, leastPairs)
}
