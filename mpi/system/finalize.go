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
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// drainTime is how long Finalize waits for what was abandoned, and leaveTime how long
// for MPI's own end if some of it is left.
const (
	drainTime = time.Second
	leaveTime = 5 * time.Second
)

// Leftovers reports, as [mpi.ErrPending], the calls of this rank that have not
// completed, and messages to it that nobody has received. It asks what has arrived:
// ranks synchronize before it. Revoked communicators are not looked at, nor is apart,
// on which the caller may still talk to other ranks; -1 is none.
func (e *engine) Leftovers(apart mpi.Handle) error {
	var errs []error
	e.Poll()
	e.settleOrder()
	e.Outstanding(func(k *mpi.Call) {
		errs = append(errs, k.Fail(mpi.ErrPending, 0, 0, "it was started and never waited for"))
	})
	for h, c := range e.comms {
		if c != nil && c.disorder != nil {
			errs = append(errs, c.disorder)
		}
		if c == nil || c.revoked || mpi.Handle(h) == apart {
			continue
		}
		var r C.weft_result
		if C.weft_unmatched(C.int(h), 0, &r) != 0 {
			errs = append(errs, &mpi.Error{Class: mpi.ErrPending, Kind: "finalize", Comm: fmt.Sprintf("communicator %d", h), Rank: c.rank,
				Peer: int(r.source), Tag: int(r.tag), Got: int(r.bytes), Text: fmt.Sprintf("a message of %d bytes was sent and never received", r.bytes)})
		}
	}
	return errors.Join(errs...)
}

// Finalize ends the use of MPI. Calls under way complete with mpi.ErrPending; what MPI
// cannot take back is waited for for a bounded time. If MPI_Finalize does not return
// after that, the process ends with a line that says why, and code 1. If the world has
// been revoked, MPI_Finalize is not called, because it would wait for ranks that may
// be anywhere: the process then exits with another code than 0, and the launcher
// ends the others.
func (e *engine) Finalize() error {
	if e.closed {
		return fmt.Errorf("mpi: finalize: %w: it has been called already", mpi.ErrState)
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
	if lost { // other ranks may be anywhere: the launcher ends what is left
		return err
	}
	defer e.watch().Stop()
	err = errors.Join(err, e.closeWindows())
	for _, t := range e.types {
		C.weft_type_free(C.int(t))
	}
	if rc := C.weft_finalize(); rc != 0 {
		err = errors.Join(err, fmt.Errorf("mpi: finalize: %w: code %d", mpi.ErrEngine, int(rc)))
	}
	return err
}

// unended are the engines that were finalized with operations that have not ended. The
// memory of those stays pinned until the process ends; a collected engine with pins would
// end it at once.
var unended []*engine

// Leave has the launcher end all ranks with this code, which they have agreed on, if
// it would not do so when they end by themselves without MPI_Finalize: MPICH's kills
// the others when the first one has ended, and mixes the signal into its own code.
// Rank 0 aborts; it returns on the others after a while, and where there is no need.
func Leave(code int) {
	if C.weft_begun() == 0 || !strings.HasPrefix(Library(), "MPICH") {
		return
	}
	if LaunchedRank() == 0 {
		osthread.Sleep(forwarding)
		C.weft_abort(C.int(code))
	}
	osthread.Sleep(killing)
}

// killing is how long the launcher may take to end a rank after an abort.
const killing = 5 * time.Second

// closeWindows frees the windows that are open, because MPI does not end before. On
// revoked communicators programs could not do it themselves.
func (e *engine) closeWindows() error {
	var errs []error
	for h, w := range e.windows {
		if w == nil {
			continue
		}
		if !w.comm.revoked {
			errs = append(errs, fmt.Errorf("mpi: finalize: %w: a window of rank %d is open: Free it", mpi.ErrPending, e.comms[0].rank))
		}
		errs = append(errs, e.FreeWindow(mpi.Handle(h)))
	}
	return errors.Join(errs...)
}

// watch ends the process if MPI does not, because of what was left to it. Without any
// such thing, the ranks may well wait for each other.
func (e *engine) watch() *time.Timer {
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

// giveUp abandons all calls under way.
func (e *engine) giveUp() {
	var ended []*mpi.Call
	for i := range e.slots {
		if k := e.slots[i].call; k != nil {
			e.abandon(int32(i))
			ended = append(ended, k)
		}
	}
	ended = append(ended, e.polled...)
	e.polled = nil
	for _, k := range ended {
		e.complete(k, mpi.Status{}, k.Fail(mpi.ErrPending, 0, 0, "the engine has been finalized"))
	}
}
