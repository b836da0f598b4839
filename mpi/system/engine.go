//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi/internal/schedule"
)

// Go and C. C holds all MPI objects: communicators, datatypes, windows, requests. Go knows
// them by numbers; no MPI type is named in Go, and only integers and pointers pass between
// the two (shim.h). C never calls Go. The shim makes no decisions: Go decides the meaning of
// an operation and the class of its failure.
//
// A call in progress has a slot, a number chosen by Go; C keeps its request, the memory of
// its counts and perhaps a completion function beside the slot. Post fills up to 256 records
// in memory of C, and starts them by one call into C. Poll is one call too: it lets MPI make
// progress and leaves the results in shared memory. Do, used by blocking calls, starts and
// waits in one call, which tests one request. PostWait is a Post that waits in C for the
// ends, for exchanges of short messages.
//
// The goroutine inside the engine, one at a time, owns records, results, slots,
// communicators, windows and types; any goroutine may wake the Parker of Sleep.
//
// A call into C that waits gives up its P, so a collection never waits for MPI; and no call
// into C waits while Go holds a lock. Buffers in the Go heap are pinned from Post to the end
// of the MPI request, even if the call has completed earlier.

// rankEngine is the engine of this process. The goroutine inside it owns all fields, except park
// and mover.
type rankEngine struct {
	mem    *C.weft_shared
	name   string
	host   string
	limits engine.Limits

	comms   []*communicator // by handle; nil if there is none
	windows []*window       // by handle
	types   map[layout]int32
	// unsignedOrder is true if MPI compares unsigned integers as unsigned, which MPICH 4.0
	// does not. Immutable.
	unsignedOrder bool

	slots     []slot
	unused    []int32 // slots
	batch     int     // records filled and not posted
	abandoned int     // operations whose call has completed before them
	completed int     // calls so far
	polled    []*engine.Call
	runner    *schedule.Runner
	schedules int // in progress in it
	one       [1]*engine.Call

	revoking bool              // notices may still be in transit
	early    map[uint64]string // notices about communicators that do not exist here yet
	stall    stall
	left     bool // this rank has finished normally
	checks   bool // collective calls are compared; immutable
	closed   bool
	inC      bool // a goroutine waits or polls inside MPI

	park  osthread.Parker              // any goroutine wakes it
	mover atomic.Pointer[engine.Mover] // any goroutine sets it
}

// communicator is Go's record of a communicator.
type communicator struct {
	rank      int
	world     []int
	key       uint64 // the same on all ranks
	revoked   bool
	reason    string
	scheduled int              // collectives by schedule so far
	called    int              // collectives so far
	ordinals  map[int]*ordinal // by number; on rank 0, if calls are compared
	disorder  error            // the error of its ranks' different collectives, found here; nil once the program has revoked it
}

func (e *rankEngine) Name() string                       { return e.name }
func (e *rankEngine) Host() string                       { return e.host }
func (e *rankEngine) Limits() engine.Limits              { return e.limits }
func (e *rankEngine) Group(h engine.Handle) (int, []int) { return e.comms[h].rank, e.comms[h].world }

// enter records a communicator under its number in C.
func (e *rankEngine) enter(h int, c *communicator) {
	for h >= len(e.comms) {
		e.comms = append(e.comms, nil)
	}
	e.comms[h] = c
}

// Create makes a communicator and its twin. It blocks until all members call it.
func (e *rankEngine) Create(parent engine.Handle, members []int, seq uint32) (engine.Handle, error) {
	p := e.comms[parent]
	c := &communicator{rank: -1}
	key := p.key*31 + uint64(seq)
	ranks := make([]C.int, len(members))
	for i, m := range members {
		if m == p.rank {
			c.rank = i
		}
		ranks[i] = C.int(m)
		c.world = append(c.world, p.world[m])
		key = (key ^ uint64(p.world[m]+1)) * 1099511628211 // FNV-1a
	}
	c.key = key
	if p.revoked {
		return 0, fmt.Errorf("%w: %s", engine.ErrRevoked, p.reason)
	}
	var h C.int
	if rc := C.weft_comm_create(C.int(parent), C.int(len(ranks)), &ranks[0], C.int(seq%tagsOfCreate), &h); rc != 0 {
		return 0, fmt.Errorf("%w: %s", engine.ErrEngine, errorText(rc))
	}
	e.enter(int(h), c)
	if reason, yes := e.early[key]; yes {
		c.revoked, c.reason = true, reason
		delete(e.early, key)
	}
	return engine.Handle(h), nil
}

const tagsOfCreate = 1 << 15 // every library has as many

// Free frees a communicator. Collective.
func (e *rankEngine) Free(h engine.Handle) error {
	e.comms[h] = nil
	if rc := C.weft_comm_free(C.int(h)); rc != 0 {
		return fmt.Errorf("mpi: free: %w: %s", engine.ErrEngine, errorText(rc))
	}
	return nil
}

// Sleep waits for Wake. MPI does not signal arrivals, so Sleep is short.
func (e *rankEngine) Sleep(d time.Duration) {
	const nap, idle = time.Millisecond, 10 * time.Millisecond
	if len(e.slots) > len(e.unused) || len(e.polled) > 0 {
		d = min(d, nap)
	}
	e.park.ParkTimeout(min(d, idle))
}

// Wake ends Sleep. Any goroutine.
func (e *rankEngine) Wake() { e.park.Unpark() }

// Abort prints the reason and ends the program on all ranks. Any goroutine.
func (e *rankEngine) Abort(code int, reason string) {
	fmt.Fprintf(os.Stderr, "weft: rank %d: %s\n", e.comms[0].rank, reason)
	awaitForwarding()
	C.weft_abort(C.int(code))
}
