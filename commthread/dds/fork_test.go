//go:build linux && !race && (amd64 || arm64)

package dds_test

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// Exit codes of a child that reads one byte.
const sawTrue, sawStale = 0, 3

// forked forks this process and returns how the child ends if it reads the byte at p, which
// should be want. The child makes system calls and uses nothing else of Go's runtime.
//
//go:noinline
func forked(t *testing.T, p *byte, want byte) syscall.WaitStatus {
	t.Helper()
	var none [4]uint64 // the default action of a signal
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(unix.SIGSEGV), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
		code := uintptr(sawStale)
		if *p == want {
			code = sawTrue
		}
		for {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, code, 0, 0)
		}
	}
	require.Zero(t, errno)
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(int(pid), &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		require.NoError(t, err)
		return status
	}
}

func killed(s syscall.WaitStatus) bool { return s.Signaled() && s.Signal() == syscall.SIGSEGV }

// advise advises the kernel about the memory of x, in both views.
func advise(t *testing.T, x []byte, advice int) {
	t.Helper()
	require.NoError(t, unix.Madvise(x, advice))
	require.NoError(t, unix.Madvise(dds.CommView(x), advice))
}

// A forked child dies when it accesses memory that may be armed, in either view, before,
// during and after a transfer. As the negative control, a child that inherits the memory
// reads missing bytes, and lives.
func TestFork_dies_at_touch(t *testing.T) {
	size := pages.Size()
	for name, opts := range map[string][]dds.Option{
		"uffd": nil, "trace": {lazypages.Trace().(dds.Option)}, "user code only": {dds.ForbidWays(true, true, false)},
	} {
		a, x := lazily(t, 12, opts...)
		for range 2 { // memory that is reused, and still registered
			dies := func(when string) {
				t.Helper()
				for i, view := range [][]byte{x, dds.CommView(x)} {
					s := forked(t, &view[5*size], 9)
					assert.True(t, killed(s), "%s, %s, view %d: wait status %#x", name, when, i, s)
				}
			}
			dies("before the transfer")
			for _, order := range []dds.Direction{dds.AnyOrder, dds.Down} {
				p := dds.NewPretend(a, x, order, size, 4*size, 7*size)
				require.True(t, p.Arm())
				dies("during the transfer")
				advise(t, x[4*size:7*size], unix.MADV_DOFORK)
				s := forked(t, &x[5*size], 9)
				assert.True(t, s.Exited() && s.ExitStatus() == sawStale, "%s: wait status %#x", name, s)
				advise(t, x[4*size:7*size], unix.MADV_DONTFORK)
				for i := range dds.CommView(x)[4*size : 7*size] {
					dds.CommView(x)[4*size+i] = 9
				}
				p.Land(1)
				dies("when it has arrived")
				soon(t, "reading, "+name, func() { assert.True(t, accesses["loop"](x[4*size:7*size])) })
				p.Land(0)
				require.NoError(t, p.End())
				clear(x)
			}
			require.NoError(t, dds.Free(a, x))
			var err error
			x, err = dds.Make[byte](a, 12*size)
			require.NoError(t, err)
		}
		assert.NotZero(t, a.Counts().Strips)
	}
}

// With back end explicit no bytes are missing, and a child shares the memory, also if
// explicit is a fallback.
func TestFork_explicit(t *testing.T) {
	noSuchCore := dds.Cores(osthread.CPUSetOf(osthread.MaxCPUs - 1)) // the thread does not start
	for _, opt := range []dds.Option{dds.Backend(dds.Explicit), dds.ForbidMinor(), noSuchCore} {
		a, err := dds.NewArena(1<<16, opt)
		require.NoError(t, err)
		name, reason := a.Backend()
		require.Equal(t, dds.Explicit, name, reason)
		x, err := dds.Make[byte](a, 1<<16)
		require.NoError(t, err)
		x[10] = 9
		for _, view := range [][]byte{x, dds.CommView(x)} {
			s := forked(t, &view[10], 9)
			assert.True(t, s.Exited() && s.ExitStatus() == sawTrue, "wait status %#x", s)
		}
		require.NoError(t, a.Close())
	}
}
