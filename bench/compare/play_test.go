package main

import (
	"bytes"
	"context"
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

// On a machine without any peer every subject names the missing peers and how to get them,
// and builds no weft program.
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

// A compiler without the library is a missing peer, too; the report has the compiler's message.
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
		r := b.play(s)
		if s == &ftSubject {
			r.missing = []missing{{"NPB", "not in PATH", "apt-get install luck"}}
		}
		require.NoError(t, b.keep(r))
		all = append(all, r)
	}
	text := read(t, reportPath(b.out))
	for _, want := range []string{"machine: ", "quick run", "2 rounds", "## LINPACK", "## What a message costs", "weft avx512", "**Different kernels**", "Different layouts", "**× ", "apt-get install luck", "![LINPACK](hpl.svg)"} {
		require.Contains(t, text, want)
	}
	assert.NotContains(t, text, "NaN")
	for _, name := range []string{"hpl.svg", "ft.svg", "fft.svg", "tasks.svg", "pingpong.svg", "blas.svg"} {
		assert.FileExists(t, filepath.Join(b.out, name))
	}
	want := 1
	for _, r := range all {
		for _, o := range r.outcomes {
			want += 2 * len(o.sides)
		}
	}
	assert.Equal(t, want, strings.Count(read(t, runsPath(b.out)), "\n"))
	for _, r := range all {
		var page bytes.Buffer
		r.print(&page)
		assert.Contains(t, page.String(), r.subject.question)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// A folder that is filled in parts has the sections and the runs of all of them, in the
// order of the report; the second time a subject is measured replaces the first.
func TestReport_in_parts(t *testing.T) {
	b := testBench(t, everything(), 2)
	b.others = 2 * noise
	require.NoError(t, b.keep(b.play(&fftSubject)))
	assert.Contains(t, read(t, reportPath(b.out)), "## LINPACK\n\nNot measured: `compare -only hpl`")
	fft := read(t, sectionPath(b.out, &fftSubject))

	c := testBench(t, everything(), 3)
	c.out = b.out
	for range 2 {
		require.NoError(t, c.keep(c.play(&hplSubject)))
	}
	text := read(t, reportPath(b.out))
	assert.Contains(t, text, fft, "as it was")
	assert.Equal(t, 1, strings.Count(text, "was not quiet"), "when fft was measured")
	assert.Contains(t, text, read(t, sectionPath(b.out, &hplSubject)))
	assert.Less(t, strings.Index(text, "![LINPACK]"), strings.Index(text, fft))
	for _, s := range subjects {
		assert.Equal(t, 1, strings.Count(text, "\n## "+s.title+"\n"), s.name)
	}
	rows, err := readRuns(runsPath(b.out))
	require.NoError(t, err)
	counts, order := map[string]int{}, ""
	for _, row := range rows {
		counts[row[0]+" "+row[3]]++
		if !strings.HasSuffix(order, row[0]+" ") {
			order += row[0] + " "
		}
	}
	assert.Equal(t, "hpl fft ", order)
	assert.Equal(t, counts["hpl 1"], counts["hpl 3"], "three rounds")
	assert.Positive(t, counts["hpl 3"])
	assert.Positive(t, counts["fft 2"])
	assert.Zero(t, counts["fft 3"])
}

// A file of the name of the table that is something else is not overwritten, and the
// program says so before it measures.
func TestReport_spares_foreign_files(t *testing.T) {
	b := testBench(t, everything(), 2)
	require.NoError(t, os.MkdirAll(b.out, 0o755))
	for _, text := range []string{"", "my,table\n1,2\n", "\"", "subject,contest\n"} {
		require.NoError(t, os.WriteFile(runsPath(b.out), []byte(text), 0o644))
		require.ErrorContains(t, b.keep(b.play(&hplSubject)), "is no table of runs")
		assert.Equal(t, text, read(t, runsPath(b.out)))
		var stderr bytes.Buffer
		assert.Equal(t, 1, run([]string{"-quick", "-only", "hpl", "-out", b.out}, io.Discard, &stderr))
		assert.Contains(t, stderr.String(), "is no table of runs")
	}
}

// What cannot be written to is found before anything is measured.
func TestReport_needs_a_folder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 1, run([]string{"-quick", "-only", "hpl", "-out", file}, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "-out: ")
	assert.NotContains(t, stdout.String(), hplSubject.question)
	b := testBench(t, everything(), 1)
	require.NoError(t, b.tryFolder())
	left, err := os.ReadDir(b.out)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A run without peers costs no figures of a former one; one with peers replaces them.
func TestReport_keeps_what_cannot_be_measured_again(t *testing.T) {
	b := testBench(t, everything(), 1)
	require.NoError(t, b.keep(b.play(&hplSubject)))
	section, runs := read(t, sectionPath(b.out, &hplSubject)), read(t, runsPath(b.out))
	again := testBench(t, &fake{}, 1)
	again.out = b.out
	r := again.play(&hplSubject)
	assert.True(t, again.stands(r))
	require.NoError(t, again.keep(r))
	assert.Equal(t, section, read(t, sectionPath(b.out, &hplSubject)))
	assert.Equal(t, runs, read(t, runsPath(b.out)))
	assert.False(t, again.stands(again.play(&ftSubject)), "it was never measured")
	b.pairs = 2
	r = b.play(&hplSubject)
	assert.False(t, b.stands(r))
	require.NoError(t, b.keep(r))
	assert.NotEqual(t, runs, read(t, runsPath(b.out)))
}

// An interrupted run leaves no processes and no folder, and fails.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	c, err := parseArgs([]string{"-quick", "-only", "hpl", "-out", filepath.Join(t.TempDir(), "out")})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 1, measure(ctx, c, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "compare: interrupted in hpl")
	assert.NoFileExists(t, reportPath(c.out))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	_, err = installed{ctx}.output(command{argv: []string{"true"}})
	assert.ErrorIs(t, err, errInterrupted)
}

func TestPicture_says_where_it_was_measured(t *testing.T) {
	b := testBench(t, everything(), 2)
	r := b.play(&hplSubject)
	require.NoError(t, b.keep(r))
	picture := read(t, filepath.Join(b.out, "hpl.svg"))
	for _, want := range []string{"machine: ", "2 rounds", "each side on 2 cores", "a quick run, no result"} {
		assert.Contains(t, picture, want)
	}
	r.outcomes[0].sides[0].cores = 1
	assert.Zero(t, r.cores())
	assert.NotContains(t, b.note(r), "each side")
	text := read(t, sectionPath(b.out, &hplSubject))
	assert.Contains(t, text, "weft is built from commit a line with changes")
	assert.NotContains(t, text, b.dir)
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-pairs", "4"}, {"-pairs", "-1"}, {"-only", "hpl,luck"}, {"-only", "hpl,"}, {"-out", ""}, {"x"}, {"-x"}, {"-quick", "-pairs", "-2"}} {
		var stderr bytes.Buffer
		assert.Equal(t, 2, run(args, io.Discard, &stderr), args)
		assert.Contains(t, stderr.String(), "compare -h")
	}
	var help bytes.Buffer
	assert.Equal(t, 0, run([]string{"-h"}, &help, io.Discard))
	assert.Contains(t, help.String(), "Exit codes: 0 done, 1 ")
	for _, s := range subjects {
		assert.Contains(t, help.String(), s.question)
	}
	c, err := parseArgs([]string{"-only", "fft,hpl"})
	require.NoError(t, err)
	assert.Equal(t, []*subject{&fftSubject, &hplSubject}, c.subjects)
	twice, err := parseArgs([]string{"-only", "fft, hpl,fft"})
	require.NoError(t, err)
	assert.Equal(t, c.subjects, twice.subjects, "each once")
	assert.GreaterOrEqual(t, c.pairs, leastPairs)
}
