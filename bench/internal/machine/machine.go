// Package machine describes the machine and the program of a measurement, for
// the header of every bench program: a number without its machine is not a
// measurement.
package machine

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// Line returns the machine line of a bench header, without a line end:
// processor, cores this process may use, Go version, GOMAXPROCS, system and
// the commit of the program, see Commit.
//
// Any goroutine may call it. GOMAXPROCS is read at the call: a runtime that
// raises it while it lives shows only if Line is called inside its life.
func Line() string {
	return fmt.Sprintf("machine: %s, %d cores usable, %s %s/%s, GOMAXPROCS %d, commit %s",
		processor(), Cores(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), Commit())
}

// Cores returns the number of cores that the process was allowed to use when
// it started: the inherited affinity mask counts, not the machine.
func Cores() int { return runtime.NumCPU() }

// processor returns the name of the CPU model, or its architecture where the
// system keeps the name to itself.
func processor() string {
	if name := strings.Join(strings.Fields(cpuid.CPU.BrandName), " "); name != "" {
		return name
	}
	return runtime.GOARCH + " processor"
}
