package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
)

// childVariable makes the test binary be the program itself: its value names a damage
// that is done to every graph, or is "none".
const childVariable = "WEFT_TASKBENCH_CHILD"

func TestMain(m *testing.M) {
	name, child := os.LookupEnv(childVariable)
	if !child {
		os.Exit(m.Run())
	}
	os.Exit(program{stdout: os.Stdout, stderr: os.Stderr, tamper: damages[name].damage}.run(os.Args[1:]))
}

// runChild runs the program in a child process.
func runChild(t *testing.T, damage, args string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(os.Args[0], strings.Fields(args)...)
	cmd.Env = append(os.Environ(), childVariable+"="+damage)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// runHere runs the program in this process and wants success.
func runHere(t *testing.T, args string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := program{stdout: &out, stderr: &errs}.run(strings.Fields(args))
	require.Zero(t, code, "%s: %s", args, errs.String())
	return out.String()
}

// TestPatterns_on_the_runtime runs every pattern with its checks on 1, 2 and 4
// workers, several times on one runtime, with few and many buffers per point.
func TestPatterns_on_the_runtime(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint("workers", workers), func(t *testing.T) {
			err := dataflow.Run(func(rt *dataflow.Runtime) error {
				for kind := range patternNames {
					for _, fields := range []int{2, 3, 8} {
						for _, width := range []int{1, 4, 7} {
							p := standard(pattern(kind), 40, width)
							p.fields = fields
							b, err := newBench(rt, []params{p}, nil, nil)
							require.NoError(t, err)
							_, err = b.repeat("test", 2)
							require.NoError(t, err, "%v", &p)
						}
					}
				}
				return nil
			}, dataflow.Workers(workers))
			require.NoError(t, err)
		})
	}
}

func TestProgram_reports_and_exits_with_0(t *testing.T) {
	out := runHere(t, "-steps 100 -type stencil_1d -workers 2 -reps 3")
	assert.Contains(t, out, "\nTotal Tasks 400\nTotal Dependencies 990\nTotal FLOPs 0\nTotal Bytes 0\nElapsed Time ")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	assert.Regexp(t, `^result seconds_best=[\d.]+ seconds_median=[\d.]+ us_per_task=[\d.]+ .*workers=2 ranks=1 reps=3$`, lines[len(lines)-1])
	assert.Equal(t, 1, strings.Count(out, "\nresult "))

	out = runHere(t, "-workers 2 -type fft -kernel busy_wait -iter 10 -and -steps 9 -type tree -kernel compute_bound -iter 4 -and -type dom -steps 30 -kernel memory_bound -scratch 64 -iter 3 -and -kernel load_imbalance -imbalance 1 -iter 5 -pin=false")
	assert.Contains(t, out, "graph 3: type trivial")
	assert.Contains(t, out, "\nTotal Tasks "+fmt.Sprint(16+(1+2+4*7)+(6+4*24+6)+16)+"\n")
}

func TestProgram_writes_a_trace_of_the_last_run(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.txt")
	out := runHere(t, "-steps 20 -type stencil_1d -workers 2 -reps 2 -trace "+file)
	assert.Contains(t, out, "trace of the last run: "+file+"\n")
	summary, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, `point +80 `, string(summary), "one run of 80 tasks, not three")

	var errs bytes.Buffer
	code := program{stdout: io.Discard, stderr: &errs}.run([]string{"-trace", filepath.Join(t.TempDir(), "no", "such", "run.json")})
	assert.Equal(t, 2, code)
	assert.Contains(t, errs.String(), "-trace: trace: open ")
}

func TestProgram_metg(t *testing.T) {
	code, out, errs := runChild(t, "none", "-metg -steps 20 -reps 1 -type stencil_1d -workers 1")
	if code == 1 && strings.Contains(errs, errUnsteady.Error()) {
		t.Skip("the machine is too busy for a steady efficiency; run this test alone")
	}
	require.Zero(t, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	assert.Regexp(t, `^METG\(50%\) \d+\.\d+ us$`, lines[len(lines)-1])
	assert.Regexp(t, `^result metg50_us=[\d.]+ metg50_4x_us=[\d.]+ .*workers=1 `, lines[len(lines)-2])
	assert.Regexp(t, regexp.MustCompile(`(?m)^METG4\(50%\) \d+\.\d+ us$`), out)
	assert.Contains(t, out, ", iter swept,")
}

// TestDamage_ends_the_run_with_exit_code_1 is the negative control of the whole
// program.
func TestDamage_ends_the_run_with_exit_code_1(t *testing.T) {
	for name, c := range damages {
		for _, workers := range []int{1, 2} {
			code, out, errs := runChild(t, name, fmt.Sprint("-steps 50 -type stencil_1d -workers ", workers))
			assert.Equal(t, 1, code, name)
			assert.NotContains(t, out, "result", name)
			assert.Contains(t, errs, "taskbench: FAILED: warm-up: graph 0, timestep ", name)
			message := strings.TrimSuffix(strings.TrimPrefix(c.message, "^"), "$")
			assert.Regexp(t, message, errs, name)
		}
	}
	code, out, errs := runChild(t, "none", "-steps 50 -type stencil_1d -workers 2")
	assert.Zero(t, code, errs)
	assert.Contains(t, out, "\nresult ")
	code, _, _ = runChild(t, "none", "-steps 0")
	assert.Equal(t, 2, code)
}

// TestSpawn_allocates_nothing per task: all that a task needs was built before.
func TestSpawn_allocates_nothing(t *testing.T) {
	if invariant.Enabled {
		t.Skip("invariant builds check every output, which allocates")
	}
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		b, err := newBench(rt, []params{standard(stencil1D, 1000, 4)}, nil, nil)
		require.NoError(t, err)
		_, err = b.repeat("test", 3)
		require.NoError(t, err)
		perRun := testing.AllocsPerRun(3, func() { _, err = b.run("test") })
		assert.Less(t, perRun/4000, 0.01)
		return err
	}, dataflow.Workers(1))
	require.NoError(t, err)
}

// BenchmarkTask answers: what does a task of each pattern cost on weft, from
// submission through its checks to completion?
func BenchmarkTask(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, kind := range []pattern{trivial, noComm, stencil1D, allToAll} {
			b.Run(fmt.Sprint(kind, "/workers", workers), func(b *testing.B) {
				err := dataflow.Run(func(rt *dataflow.Runtime) error {
					return benchmarkTask(b, rt, standard(kind, 10_000, 4))
				}, dataflow.Workers(workers))
				require.NoError(b, err)
			})
		}
	}
}

func benchmarkTask(b *testing.B, rt *dataflow.Runtime, p params) error {
	run, err := newBench(rt, []params{p}, nil, nil)
	require.NoError(b, err)
	_, err = run.run("warm-up")
	require.NoError(b, err)
	var seconds float64
	b.ReportAllocs()
	for b.Loop() {
		elapsed, err := run.run("timed")
		require.NoError(b, err)
		seconds += elapsed.Seconds()
	}
	b.ReportMetric(seconds*1e9/float64(b.N)/float64(p.steps*p.width), "ns/task")
	return nil
}
