//go:build linux && !nofutex

package osthread

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWaitPrivate = 0 | 128 // FUTEX_WAIT | FUTEX_PRIVATE_FLAG
	futexWakePrivate = 1 | 128 // FUTEX_WAKE | FUTEX_PRIVATE_FLAG
)

// bed is the kernel's queue of sleepers at the address of the word.
type bed struct{}

// sleep is step P2. It returns at once if the word is not PARKED; otherwise when it is
// woken, when d is over (d < 0: never), or for no reason at all. The caller always checks
// the word, so the result of the call does not matter. The conversions are inside the call:
// that keeps word and timeout alive and in place while the kernel has their addresses.
func (bed) sleep(word *atomic.Int32, d time.Duration) {
	expect := parked
	if d < 0 {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(uint32(expect)), 0, 0, 0)
		return
	}
	timeout := unix.NsecToTimespec(int64(d))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(uint32(expect)),
		uintptr(unsafe.Pointer(&timeout)), 0, 0)
}

// wake is step U2. It cannot fail for a valid address, and waking nobody is no
// failure.
func (bed) wake(word *atomic.Int32) {
	unix.RawSyscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, 1)
}
