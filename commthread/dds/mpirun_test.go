//go:build mpi

package dds_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two processes under either library, over shared memory and TCP, in a storm of
// collections: messages are read while they arrive.
func TestUnderLauncher(t *testing.T) {
	needUffd(t)
	for _, l := range []struct {
		name, compiler, launcher string
		args                     []string
	}{
		{"Open MPI", "mpicc.openmpi", "mpirun.openmpi", []string{"--oversubscribe"}},
		{"Open MPI, TCP", "mpicc.openmpi", "mpirun.openmpi", []string{"--oversubscribe", "--mca", "btl", "self,tcp"}},
		{"MPICH", "mpicc.mpich", "mpirun.mpich", []string{"-launcher", "fork"}},
		{"MPICH, TCP", "mpicc.mpich", "mpirun.mpich", []string{"-launcher", "fork", "-env", "MPIR_CVAR_NOLOCAL", "1"}},
	} {
		t.Run(l.name, func(t *testing.T) {
			for _, program := range []string{l.compiler, l.launcher, "go"} {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not in the path", program)
				}
			}
			program := filepath.Join(t.TempDir(), "lazy")
			build := exec.Command("go", "build", "-tags", "mpi", "-o", program, "./testdata/lazy")
			build.Env = append(os.Environ(), "CGO_ENABLED=1", "CC="+l.compiler)
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, l.launcher, append(l.args, "-np", "2", program)...)
			sessions, err := os.MkdirTemp("", "ompi") // of its own: launchers that start together fail at times to make the usual one
			require.NoError(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(sessions) })
			run.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_orte_tmpdir_base="+sessions)
			run.WaitDelay = 5 * time.Second
			out, err = run.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Regexp(t, `result backend=uffd strips=[1-9]\d* faults=[1-9]`, string(out))
			t.Logf("%s", out)
		})
	}
}
