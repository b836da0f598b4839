package world

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
)

// childVariable is the environment variable that makes this test binary a program, and
// chooses its mode.
const childVariable = "WEFT_WORLD_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "":
		os.Exit(m.Run())
	case "well":
		Exit(Run(func(c *mpi.Comm) error { return c.Barrier() }))
	case "fail":
		Exit(Run(func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return errors.New("rank one is unhappy")
			}
			_, err := c.Recv(mpi.Of(make([]byte, 1)), 1, 0)
			return err
		}))
	case "panic":
		Exit(Run(func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				panic("out of its depth")
			}
			return c.Barrier()
		}))
	case "usage":
		Exit(Run(func(c *mpi.Comm) error { return fmt.Errorf("%w: it needs 77 ranks", ErrUsage) }))
	case "message":
		Exit(Run(func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return nil
			}
			return c.Send(mpi.Of([]byte{1}), 1, 5)
		}))
	case "abort":
		Exit(Run(func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				c.Abort(7, "enough")
			}
			return c.Barrier()
		}))
	}
	os.Exit(99)
}

// child runs this test binary as a program in a mode, and returns its exit code and its
// standard error.
func child(t *testing.T, mode string, env ...string) (int, string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OMPI_") && !strings.HasPrefix(v, "PMI") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, childVariable+"="+mode), env...)
	var out bytes.Buffer
	cmd.Stderr = &out
	err = cmd.Run()
	var code *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &code)
		return code.ExitCode(), out.String()
	}
	return 0, out.String()
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		mode string
		code int
		says string
	}{
		{"well", 0, ""},
		{"fail", 1, "rank one is unhappy"},
		{"panic", 1, "out of its depth"},
		{"usage", 2, "it needs 77 ranks"},
		{"message", 1, "tag 5"},
		{"abort", 7, "enough"},
	} {
		code, text := child(t, c.mode)
		assert.Equal(t, c.code, code, "%s: %s", c.mode, text)
		assert.Contains(t, text, c.says, c.mode)
		if c.says == "" {
			assert.Empty(t, text, c.mode)
		}
		if c.mode == "fail" {
			assert.Equal(t, 1, strings.Count(text, "\n"), text)
		}
	}
}

// A program under the launcher of another MPI, or built without MPI, reports that. It does
// not run as several programs of one rank each.
func TestWrongLauncher(t *testing.T) {
	env := []string{"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0"}
	if strings.HasPrefix(system.Library(), system.LauncherOpenMPI) {
		env = []string{"PMI_SIZE=2", "PMI_RANK=0", "PMI_FD=9"}
	}
	code, text := child(t, "well", env...)
	assert.Equal(t, 2, code)
	assert.Contains(t, text, "go build -tags mpi")
	assert.Contains(t, text, "started by a launcher")

	env[1] = strings.Replace(env[1], "=0", "=1", 1)
	code, text = child(t, "well", env...)
	assert.Equal(t, 2, code)
	assert.Empty(t, text, "rank 0 prints it for all")

	if !system.Available() { // a variable of some launcher, but no rank 0 that would print
		code, text = child(t, "well", "PMIX_RANK=1")
		assert.Equal(t, 2, code)
		assert.Contains(t, text, "started by a launcher (PMIx), but built without MPI")
	}
}
