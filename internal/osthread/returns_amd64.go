//go:build amd64 && gc

package osthread

// Returns fills pcs with return addresses of the calling goroutine, the innermost first, and
// returns how many there are: an identity of the path of calls, from the caller of the function
// that calls Returns on. Unlike runtime.Callers it follows frame pointers, and knows nothing of
// inlined calls; 10 ns for twelve instead of a microsecond. Any goroutine; does not block.
func Returns(pcs []uintptr) int {
	if len(pcs) == 0 {
		return 0
	}
	return returns(&pcs[0], len(pcs))
}

//go:noescape
func returns(pcs *uintptr, n int) int
