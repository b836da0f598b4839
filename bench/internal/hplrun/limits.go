package hplrun

import (
	"fmt"
	"os"

	"github.com/weft-hpc/weft/hpl"
)

// rootFS is where /proc and /sys are.
var rootFS = os.DirFS("/")

// CheckMemory refuses a run whose ranks are all inside this process, if this machine
// has not the memory that it needs, and says what would fit. It reads a few small files
// of the system, and believes in the run if they are not there. Any goroutine.
func CheckMemory(c hpl.Config) error {
	bytes, known := available(rootFS)
	if !known {
		return nil
	}
	if fits := largest(c, 1, bytes, maxOrder); c.N > fits {
		return tooLarge(c, bytes, fits)
	}
	return nil
}

// tooLarge is the error of a run that does not fit into a machine with bytes of memory.
func tooLarge(c hpl.Config, bytes int64, fits int) error {
	return fmt.Errorf("order N = %d on %d x %d processes needs %s of memory (here %s are available): with NB = %d at most N = %d fits",
		c.N, c.P, c.Q, gib(float64(hpl.Bytes(c))), gib(float64(bytes)), c.NB, fits)
}
