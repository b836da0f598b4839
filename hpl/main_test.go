package hpl

import (
	"os"
	"runtime/debug"
	"testing"
)

// Matrices lie outside of Go's heap, which is so small that a collection would begin after each 4 MB. In
// programs world.Run prevents that.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	os.Exit(m.Run())
}
