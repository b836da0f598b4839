//go:build mpi && cgo

package system

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/osthread"
)

// MPICH's launcher ends a program that aborts without printing what it has not read yet.
const (
	forwardStep  = 10 * time.Millisecond
	forwardSteps = 20 // for the launcher to print what it has read
	forwardLimit = 5 * time.Second
)

// awaitForwarding gives the launcher time to print what this process has written: until it has
// read it, and 0.2 s more. That time passes in short sleeps, because a long one ends at once
// after a pause of the whole machine, before the launcher has run again.
func awaitForwarding() {
	end := osthread.Nanotime() + int64(forwardLimit)
	for unread(os.Stderr)+unread(os.Stdout) > 0 && osthread.Nanotime() < end {
		osthread.Sleep(forwardStep)
	}
	for range forwardSteps {
		osthread.Sleep(forwardStep)
	}
}

// unread returns how many bytes the reader of a pipe has not read yet; 0 for another file.
func unread(f *os.File) int {
	fd := int(f.Fd())
	var s unix.Stat_t
	if unix.Fstat(fd, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFIFO {
		return 0
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
