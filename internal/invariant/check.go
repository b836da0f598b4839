package invariant

import "fmt"

// Check panics with the formatted message if ok is false, in invariant builds
// only. Any goroutine; does not block. Without the tag it compiles to nothing,
// except that arguments with side effects, and those the compiler cannot see
// through, are still evaluated: put those under "if invariant.Enabled".
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		panic("invariant violated: " + fmt.Sprintf(format, args...))
	}
}
