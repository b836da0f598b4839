//go:build mpi

package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi/system"
)

// library is an MPI that may be installed.
type library struct {
	name, compiler, launcher string
	args                     []string
	env                      []string
}

var libraries = []library{
	{"Open MPI", "mpicc.openmpi", "mpirun.openmpi", []string{"--oversubscribe"},
		[]string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}},
	{"MPICH", "mpicc.mpich", "mpirun.mpich", []string{"-launcher", "fork"}, nil},
}

// require skips the test if the library is not there.
func (l *library) require(t *testing.T) {
	t.Helper()
	for _, program := range []string{l.compiler, l.launcher, "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not in the path: install %s to test with it", program, l.name)
		}
	}
}

// build builds a program of testdata.
func (l *library) build(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	const soon = "-X github.com/weft-hpc/weft/mpi/system.askAfter=200ms" // deadlocks are looked for
	cmd := exec.Command("go", "build", "-tags", "mpi", "-ldflags", soon, "-o", program, "./testdata/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "CC="+l.compiler)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// run starts ranks of a program and returns the exit code and the output.
func (l *library) run(t *testing.T, ranks int, program string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	all := append(append([]string{}, l.args...), "-np", fmt.Sprint(ranks), program)
	cmd := exec.CommandContext(ctx, l.launcher, append(all, args...)...)
	cmd.Env = append(append(os.Environ(), l.env...), "OMPI_MCA_orte_tmpdir_base="+sessions(t))
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	require.NoError(t, ctx.Err(), "%v hangs: %s", args, &out)
	var code *exec.ExitError
	if errors.As(err, &code) {
		return code.ExitCode(), out.String()
	}
	require.NoError(t, err)
	return 0, out.String()
}

// sessions returns a folder for what Open MPI keeps of a run: launchers that start and end at the same
// time fail at times to make the usual one. Its name is short, because sockets are in it.
func sessions(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ompi")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

const anyFailure = -1

func TestUnderLauncher(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			l.require(t)
			program := l.build(t, "program")
			for _, c := range []struct {
				args  []string
				ranks int
				code  int
				says  []string
			}{
				{[]string{"sum"}, 2, 0, []string{"sum 3,", l.name}},
				{[]string{"-ranks", "3", "sum"}, 3, 0, []string{"sum 6,"}},
				{[]string{"fail"}, 2, 1, []string{"rank 1: rank one is unhappy"}},
				{[]string{"fail-send"}, 2, 1, []string{"rank 1: rank one is unhappy"}},
				{[]string{"fail-reduce"}, 3, 1, []string{"rank 1: rank one is unhappy"}},
				{[]string{"fail-all"}, 2, 1, []string{"everybody is unhappy"}},
				{[]string{"panic"}, 2, 1, []string{"out of its depth"}},
				{[]string{"usage"}, 2, 2, []string{"it needs 77 ranks"}},
				{[]string{"message"}, 2, 1, []string{"peer 0, tag 7", "24 bytes"}},
				{[]string{"receive"}, 2, 1, []string{"recv on world, rank 1, peer 0, tag 9"}},
				{[]string{"stuck"}, 2, 1, []string{"rank one is unhappy", "rank 0 has not ended"}},
				{[]string{"elsewhere"}, 2, 1, []string{"rank one is unhappy"}},
				{[]string{"head-to-head"}, 2, 1, []string{"a deadlock: ", "rank 0 waits for send on world to rank 1, tag 5", "rank 1 waits for send on world to rank 0, tag 5"}},
				{[]string{"circle"}, 3, 1, []string{"a deadlock: ", "rank 2 waits for recv on world from rank 0, tag 5"}},
				{[]string{"barrier-circle"}, 2, 1, []string{"a deadlock: ", "rank 1 waits for barrier on world"}},
				{[]string{"two-receives"}, 2, 1, []string{"a deadlock: "}},
				{[]string{"any-of-two"}, 2, 0, []string{"weft: rank 1 has waited 6s for recv on world from rank 0, tag 5", "weft: rank 1 has waited 6s for recv on world from rank 0, tag 6"}},
				{[]string{"slow"}, 2, 0, nil},
				{[]string{"thread-head-to-head"}, 2, 1, []string{"a deadlock: ", "rank 0 waits for recv on world from rank 1, tag 5", "rank 1 waits for recv on world from rank 0, tag 5"}},
				{[]string{"thread-barrier"}, 2, 1, []string{"a deadlock: ", "rank 0 waits for recv on world from rank 1, tag 5", "rank 1 waits for barrier on world"}},
				{[]string{"thread-slow"}, 2, 0, nil},
				{[]string{"thread-leaver"}, 2, 1, []string{"peer is gone: rank 1 of the world has finished"}},
				{[]string{"leaver"}, 2, 1, []string{"rank 0: mpi: recv on world, rank 0, peer 1, tag 5: peer is gone: rank 1 of the world has finished"}},
				{[]string{"leaver-barrier"}, 2, 1, []string{"rank 0: mpi: barrier on world, rank 0: peer is gone: rank 1 of the world has finished"}},
				{[]string{"leaver-plain-barrier"}, 2, 1, []string{"rank 0: mpi: barrier on world, rank 0: peer is gone: rank 1 of the world has finished"}},
				{[]string{"two-goroutines"}, 1, anyFailure, []string{"two goroutines of this rank make calls at the same time"}},
				{[]string{"dies"}, 2, anyFailure, nil}, // its own code, or the code of an abort
				{[]string{"-ranks", "3", "sum"}, 2, 2, []string{"leave -ranks out"}},
				{[]string{"-net", "gige", "sum"}, 2, 2, []string{"-net is for ranks inside one process"}},
			} {
				t.Run(strings.Join(c.args, " "), func(t *testing.T) {
					t.Parallel() // launchers mostly sleep
					code, text := l.run(t, c.ranks, program, c.args...)
					// The check may miss a short overlap, and then the library may crash.
					for again := 0; again < 4 && c.args[0] == "two-goroutines" && !strings.Contains(text, c.says[0]); again++ {
						require.NotZero(t, code, text)
						code, text = l.run(t, c.ranks, program, c.args...)
					}
					if c.code == anyFailure {
						assert.NotZero(t, code, text)
					} else {
						assert.Equal(t, c.code, code, text)
					}
					for _, s := range c.says {
						assert.Equal(t, 1, strings.Count(text, s), "%q is said once: %s", s, text)
					}
				})
			}
		})
	}
}

// With CheckVariable in the environment, collective calls that differ between ranks are
// errors, even if MPI lets them pass; equal ones are not.
func TestCollectivesAreCompared(t *testing.T) {
	t.Setenv(system.CheckVariable, "1")
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			l.require(t)
			program := l.build(t, "program")
			for mode, says := range map[string]string{"other-roots": "calls bcast (root 1) of 8 bytes of int64", "bcast-or-allreduce": "calls allreduce (sum) of 8 bytes of int64"} {
				code, text := l.run(t, 2, program, mode)
				assert.Equal(t, 1, code, "%s: %s", mode, text)
				assert.Contains(t, text, says)
				assert.Contains(t, text, "ranks call different collective operations")
			}
			code, text := l.run(t, 2, program, "sum")
			assert.Zero(t, code, text)
		})
	}
}

// Programs for one MPI do not run under the launcher of the other.
func TestUnderWrongLauncher(t *testing.T) {
	for i, l := range libraries {
		t.Run("built for "+l.name, func(t *testing.T) {
			other := libraries[1-i]
			l.require(t)
			other.require(t)
			code, text := other.run(t, 2, l.build(t, "program"), "sum")
			assert.Equal(t, 2, code, text)
			assert.Contains(t, text, "started by a launcher of "+other.name+", but built for "+l.name)
		})
	}
}

func TestCompletionInC(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			l.require(t)
			code, text := l.run(t, 2, l.build(t, "completer"))
			assert.Zero(t, code, text)
		})
	}
}

// The conformance suite, with ranks that are processes. With more of them the program
// bench/conformance runs it.
func TestConformance(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			l.require(t)
			code, text := l.run(t, 2, l.build(t, "program"), "conform")
			assert.Zero(t, code, text)
		})
	}
}
