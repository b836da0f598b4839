package world

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/system"
)

// Exit ends the process: with code 0 if err is nil or flag.ErrHelp, 2 if it is [ErrUsage],
// the code of an Abort, 1 otherwise. It prints err to standard error, unless that has been
// done or another rank does it. Under MPICH's launcher, ranks that have agreed on a failure
// end by an abort, because the launcher would combine their exit codes; so do ranks whose
// MPI_Finalize has not returned.
func Exit(err error) {
	code := report(os.Stderr, err, printingRank())
	if agreed := (*printed)(nil); errors.As(err, &agreed) || code == 0 {
		system.Leave(code)
	}
	os.Exit(code)
}

// printingRank returns the rank of this process for report: only rank 0 prints an error of
// usage. It is 0 on all ranks if the launcher does not give their number.
func printingRank() int {
	if _, size, _ := system.Launched(); size > 0 {
		return system.LaunchedRank()
	}
	return 0
}

// printed is an error that this or another rank prints.
type printed struct {
	err  error
	code int
}

func (p *printed) Error() string { return p.err.Error() }
func (p *printed) Unwrap() error { return p.err }

// printTime is the time that rank 0 has to print an error before the other ranks exit.
const printTime = 200 * time.Millisecond

// report prints err, unless another rank prints it, and returns the exit code.
func report(w io.Writer, err error, rank int) int {
	var seen *printed
	var aborted *local.AbortError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &seen):
		return seen.code
	}
	code := codeOf(err)
	if code == 1 || rank <= 0 {
		fmt.Fprintln(w, "weft:", err)
	} else { // all ranks have the same error of usage, and the first exit ends all of them
		osthread.Sleep(printTime)
	}
	if errors.As(err, &aborted) {
		return aborted.Code
	}
	return code
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUsage):
		return 2
	}
	return 1
}
