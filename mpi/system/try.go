//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"github.com/weft-hpc/weft/internal/engine"
)

// try attempts a call for which MPI has no request, and reports whether it has completed.
func (e *rankEngine) try(k *engine.Call) bool {
	switch k.Kind {
	case engine.CallLock:
		return e.tryLock(k)
	case engine.CallUnlock:
		e.unlock(k)
	case engine.CallAwaitNotify:
		return e.tryNotified(k)
	case engine.CallAccumulate:
		e.accumulateHere(k)
	default:
		return e.tryProbe(k)
	}
	return true
}

// conclude completes k with the result of MPI.
func (e *rankEngine) conclude(k *engine.Call, rc C.int) bool {
	if rc != 0 {
		e.complete(k, engine.Status{}, refused(k, rc))
	} else {
		e.complete(k, engine.Status{}, nil)
	}
	return true
}

func (e *rankEngine) tryProbe(k *engine.Call) bool {
	var found, message, hidden C.int
	var r C.weft_result
	if k.Hidden {
		hidden = 1
	}
	take := k.Kind == engine.CallMprobe || k.Kind == engine.CallImprobe
	rc := C.weft_probe(C.int(k.Comm.Handle()), hidden, C.int(k.Peer), C.int(k.Tag), truth(take), &found, &message, &r)
	if rc != 0 {
		return e.conclude(k, rc)
	}
	k.Found = found != 0
	waits := k.Kind == engine.CallProbe || k.Kind == engine.CallMprobe
	if !k.Found {
		if !waits {
			e.complete(k, engine.Status{}, nil)
		}
		return !waits
	}
	if take {
		k.Message = &engine.Message{Slot: int(message)}
	}
	e.complete(k, engine.Status{Source: int(r.source), Tag: int(r.tag), Bytes: int(r.bytes)}, nil)
	return true
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
