//go:build linux && cgo && !race

package dds_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
)

const childVariable = "WEFT_DDS_CHILD"

// forbidUserfaultfd installs a filter that answers the system call with EPERM on all
// threads, like the filter of containers.
func forbidUserfaultfd(t *testing.T) {
	const loadNumber, jumpIfEqual, answer = 0x20, 0x15, 0x06
	filter := []unix.SockFilter{
		{Code: loadNumber, K: 0},
		{Code: jumpIfEqual, Jf: 1, K: unix.SYS_USERFAULTFD},
		{Code: answer, K: 0x00050000 | uint32(unix.EPERM)},
		{Code: answer, K: 0x7fff0000},
	}
	runtime.LockOSThread()
	require.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	const setModeFilter, allThreads = 1, 1
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, allThreads, uintptr(unsafe.Pointer(&program)))
	require.Zero(t, errno)
}

// TestChild is the body of the child processes of TestRights.
func TestChild(t *testing.T) {
	kind := os.Getenv(childVariable)
	if kind == "" {
		t.Skip("a child process runs this: see TestRights")
	}
	if strings.Contains(kind, "seccomp") {
		forbidUserfaultfd(t)
	}
	if strings.Contains(kind, "locked") {
		require.NoError(t, unix.Mlockall(unix.MCL_CURRENT|unix.MCL_FUTURE))
	}
	if strings.Contains(kind, "unprivileged") {
		require.NoError(t, syscall.Setgroups(nil))
		require.NoError(t, syscall.Setgid(65534))
		require.NoError(t, syscall.Setuid(65534))
	}
	pair(t, "bw=2Gbit,L=5us", 2<<20, []dds.Hint{dds.Strips(12)}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		x := make64(t, a, 1<<17)
		for round := range len(readings) {
			exchange(t, c, e, x, round)
		}
		if c.Rank() == 1 {
			name, reason := a.Backend()
			t.Logf("back end %s, %d strips: %s", name, a.Counts().Strips, reason)
		}
		return nil
	})
}

func child(t *testing.T, kind string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v", "-test.timeout=60s")
	cmd.Env = append(append(os.Environ(), childVariable+"="+kind), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", kind, out)
	return string(out)
}

// The rights of a process decide its back end, and the results are right with each.
func TestRights(t *testing.T) {
	needUffd(t)
	assert.Contains(t, child(t, "preemption off", "GODEBUG=asyncpreemptoff=1"), "back end uffd")
	assert.Contains(t, child(t, "one P", "GOMAXPROCS=1", "GOGC=1"), "back end uffd")
	if os.Geteuid() != 0 {
		t.Skip("only root can give up rights")
	}
	assert.NotContains(t, child(t, "as it is"), "call dds.Touch", "root has no such limit")
	out := child(t, "unprivileged")
	assert.Contains(t, out, "back end uffd")
	if strings.Contains(out, "faults of user code only") {
		assert.Equal(t, 1, strings.Count(out, "call dds.Touch before them"), out)
	}
	assert.Contains(t, child(t, "locked"), "back end uffd")
	assert.Regexp(t, "back end (uffd, .*/dev/userfaultfd|explicit)", child(t, "seccomp"))
	out = child(t, "unprivileged, seccomp")
	assert.Contains(t, out, "back end explicit, 0 strips")
	assert.Contains(t, out, "userfaultfd: operation not permitted")
}

func TestBackend_probe(t *testing.T) {
	needUffd(t)
	a, err := dds.NewArena(1, dds.ForbidMinor())
	require.NoError(t, err)
	name, reason := a.Backend()
	assert.Equal(t, dds.Explicit, name)
	assert.Contains(t, reason, "MINOR faults")
	require.NoError(t, a.Close())
	_, err = dds.NewArena(1, dds.ForbidMinor(), dds.Backend(dds.Uffd))
	require.ErrorContains(t, err, "MINOR faults")
	a, err = dds.NewArena(1, dds.ForbidWays(true, true, false))
	require.NoError(t, err)
	_, reason = a.Backend()
	assert.Contains(t, reason, "user code only")
	require.NoError(t, a.Close())
}
