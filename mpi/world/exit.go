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

// Exit ends the process as all programs of weft do: with code 0 if err is nil (or the
// flag package's ErrHelp), 2 if it is an error of usage, 1 otherwise. It prints err to
// standard error, unless it has been printed, or another rank prints it. Under MPICH's
// launcher a failure that the ranks have agreed on ends by an abort with that code, because
// the launcher would mix up those of the ranks.
func Exit(err error) {
	code := report(os.Stderr, err, speaker())
	if agreed := (*printed)(nil); errors.As(err, &agreed) {
		system.Leave(code)
	}
	os.Exit(code)
}

// speaker returns the rank of this process among those that print what is wrong with the
// usage: 0 speaks for all, if the launcher tells that there is one; otherwise all do.
func speaker() int {
	if _, size, _ := system.Launched(); size > 0 {
		return system.LaunchedRank()
	}
	return 0
}

// printed is an error that the user has seen, or will see from another rank.
type printed struct {
	err  error
	code int
}

func (p *printed) Error() string { return p.err.Error() }
func (p *printed) Unwrap() error { return p.err }

// head is the start that rank 0 has to print an error before others exit.
const head = 200 * time.Millisecond

// report prints err if that is due on this rank, and returns the exit code.
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
	} else { // wrong usage is the same on all ranks, and the first that exits ends all
		osthread.Sleep(head)
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
