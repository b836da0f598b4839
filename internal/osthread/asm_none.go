//go:build !((amd64 || arm64) && gc)

package osthread

import "runtime"

// Pause returns after n empty turns: this build has no spin hint of the processor. A spin
// loop uses [Relax].
//
//go:noinline
func Pause(n int) {
	for i := 0; i < n; i++ {
	}
}

// G returns the identity of the calling goroutine: its number, never 0. This build
// reads it from the head of a stack trace, which takes about a microsecond.
func G() (id uintptr) {
	const head = "goroutine "
	var buf [len(head) + 20]byte
	n := runtime.Stack(buf[:], false)
	for _, c := range buf[min(len(head), n):n] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uintptr(c-'0')
	}
	return id
}
