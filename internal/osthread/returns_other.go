//go:build !(amd64 && gc)

package osthread

import "runtime"

// Returns fills pcs with return addresses of the calling goroutine, the innermost first, and
// returns how many there are: an identity of the path of calls. Any goroutine; does not block.
func Returns(pcs []uintptr) int { return runtime.Callers(2, pcs) }
