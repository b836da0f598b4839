//go:build !((amd64 || arm64) && gc && !purego)

package osthread

// Pause stands for n times the processor's spin hint, of which this build has
// none: it returns after n empty turns. A spin loop uses [Relax].
//
//go:noinline
func Pause(n int) {
	for i := 0; i < n; i++ {
	}
}

// G returns the identity of the calling goroutine, which this build cannot
// tell: 0.
func G() uintptr { return 0 }
