//go:build (amd64 || arm64) && gc

package osthread

// Pause executes the processor's spin hint n times (PAUSE on amd64, YIELD on
// arm64), and nothing if n <= 0. Any goroutine. It cannot be interrupted by the Go
// scheduler, so n is small; a spin loop uses [Relax].
//
//go:noescape
func Pause(n int)

// G returns the identity of the calling goroutine: equal in all calls of one
// goroutine, different for two that are alive at the same time, and used again
// after a goroutine has ended. It is an identity and nothing else: the number is
// never turned into a pointer, and not 0. Any goroutine; does not block; 2 ns.
//
//go:noescape
func G() uintptr
