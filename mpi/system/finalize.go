//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// drainTime limits Finalize's wait for abandoned operations, and leaveTime its wait for MPI
// if some are left.
const (
	drainTime = time.Second
	leaveTime = 5 * time.Second
)

// Leftovers reports, as [mpi.ErrPending], the pending calls of this rank, and messages to
// it that no call has received. It checks the arrived messages, so ranks must synchronize
// before it. It skips revoked communicators, and apart, on which the caller may still
// communicate; -1 is none.
func (e *rankEngine) Leftovers(apart engine.Handle) error {
	var errs []error
	e.Poll()
	e.settleOrder()
	e.Outstanding(func(k *engine.Call) {
		errs = append(errs, k.Fail(engine.ErrPending, 0, 0, "it was started and never waited for"))
	})
	for h, c := range e.comms {
		if c != nil && c.disorder != nil {
			errs = append(errs, c.disorder)
		}
		if c == nil || c.revoked || engine.Handle(h) == apart {
			continue
		}
		var r C.weft_result
		if C.weft_unmatched(C.int(h), 0, &r) != 0 {
			errs = append(errs, &mpi.Error{Class: engine.ErrPending, Kind: "finalize", Comm: fmt.Sprintf("communicator %d", h), Rank: c.rank,
				Peer: int(r.source), Tag: int(r.tag), Got: int(r.bytes), Text: fmt.Sprintf("a message of %d bytes was sent and never received", r.bytes)})
		}
	}
	return errors.Join(errs...)
}

// Finalize ends the use of MPI. Pending calls complete with mpi.ErrPending; Finalize waits
// a bounded time for operations that MPI cannot cancel. If MPI_Finalize does not return
// after that, the process prints the reason and exits with code 1. If the world has been
// revoked, Finalize does not call MPI_Finalize, because it would wait for ranks that may be
// anywhere: the process then exits with another code than 0, and the launcher ends the
// others.
func (e *rankEngine) Finalize() error {
	if e.closed {
		return fmt.Errorf("mpi: finalize: %w: it has been called already", engine.ErrState)
	}
	err := e.Leftovers(-1)
	e.closed = true
	e.giveUp()
	end := osthread.Nanotime() + int64(drainTime)
	lost := e.comms[0].revoked
	for (e.abandoned > 0 && !lost || e.revoking) && osthread.Nanotime() < end {
		if e.Poll(); e.abandoned > 0 {
			C.weft_nap(C.int64_t(50 * time.Microsecond))
		}
	}
	if e.abandoned > 0 {
		unended = append(unended, e)
	}
	if lost { // other ranks may be anywhere: the launcher ends the remaining ones
		return err
	}
	defer e.watch().Stop()
	err = errors.Join(err, e.closeWindows())
	for _, t := range e.types {
		C.weft_type_free(C.int(t))
	}
	C.weft_before_finalize()
	rc := 0
	finalize := func() { rc = int(C.weft_finalize()) }
	switch {
	case !strings.HasPrefix(Library(), "MPICH"):
		finalize()
	case !within(finalizeTime, finalize):
		stuck.Store(true)
		fmt.Fprintf(os.Stderr, "weft: rank %d: MPI_Finalize of %s has not returned for %v, a fault of MPICH before 4.2 between hosts: all ranks have ended, and leave without it\n",
			e.comms[0].rank, Library(), finalizeTime)
		return err
	}
	if rc != 0 {
		err = errors.Join(err, fmt.Errorf("mpi: finalize: %w: code %d", engine.ErrEngine, rc))
	}
	return err
}

// finalizeTime bounds MPI_Finalize of MPICH, which all ranks have begun together.
const finalizeTime = 5 * time.Second

// stuck is set if MPI_Finalize has not returned.
var stuck atomic.Bool

// within runs f on another goroutine, and reports whether it has returned within d.
func within(d time.Duration, f func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	select {
	case <-ended:
		return true
	case <-time.After(d):
		return false
	}
}

// unended lists the engines finalized with unfinished operations. Their memory stays pinned
// until the process ends; collecting an engine with pins would crash.
var unended []*rankEngine

// Leave makes the launcher end all ranks with this code, on which they have agreed, if it
// would not do so when they exit without MPI_Finalize: MPICH's kills the others when the
// first one has exited, and mixes the signal into its exit code. Rank 0 aborts; on the
// others Leave returns after a while, and at once if there is no need: with code 0 there is
// one only if MPI_Finalize has not returned.
func Leave(code int) {
	if code == 0 && !stuck.Load() || C.weft_begun() == 0 || !strings.HasPrefix(Library(), "MPICH") {
		return
	}
	if LaunchedRank() == 0 {
		awaitForwarding()
		if stuck.Load() {
			abortLauncher(code)
		} else {
			C.weft_abort(C.int(code))
		}
	}
	osthread.Sleep(killing)
}

// abortLauncher makes MPICH's launcher end all ranks with a code, where MPI_Abort no longer can:
// by the command that this would send (PMI, version 1).
func abortLauncher(code int) {
	fd, err := strconv.Atoi(os.Getenv("PMI_FD"))
	if err != nil {
		return
	}
	_, _ = unix.Write(fd, fmt.Appendf(nil, "cmd=abort exitcode=%d\n", code)) // the process ends either way
}

// killing bounds the launcher's time to end a rank after an abort.
const killing = 5 * time.Second

// closeWindows frees the open windows, because MPI does not end before. On revoked
// communicators programs could not free them.
func (e *rankEngine) closeWindows() error {
	var errs []error
	for h, w := range e.windows {
		if w == nil {
			continue
		}
		if !w.comm.revoked {
			errs = append(errs, fmt.Errorf("mpi: finalize: %w: a window of rank %d is open: Free it", engine.ErrPending, e.comms[0].rank))
		}
		errs = append(errs, e.FreeWindow(engine.Handle(h)))
	}
	return errors.Join(errs...)
}

// watch ends the process if MPI does not end because of abandoned operations or open
// windows. Without these, the ranks may legitimately wait for each other.
func (e *rankEngine) watch() *time.Timer {
	left := e.abandoned
	for _, w := range e.windows {
		if w != nil {
			left++
		}
	}
	text := fmt.Sprintf("weft: rank %d: MPI does not end: %d operations that began never complete (on revoked communicators, or without a partner), or windows were left open", e.comms[0].rank, left)
	t := time.AfterFunc(leaveTime, func() {
		fmt.Fprintln(os.Stderr, text)
		C.weft_leave(1)
	})
	if left == 0 {
		t.Stop()
	}
	return t
}

// giveUp abandons all pending calls.
func (e *rankEngine) giveUp() {
	var ended []*engine.Call
	for i := range e.slots {
		if k := e.slots[i].call; k != nil {
			e.abandon(int32(i))
			ended = append(ended, k)
		}
	}
	ended = append(ended, e.polled...)
	e.polled = nil
	for _, k := range ended {
		e.complete(k, engine.Status{}, k.Fail(engine.ErrPending, 0, 0, "the engine has been finalized"))
	}
}
