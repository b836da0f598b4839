//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weft-hpc/weft/internal/engine"
)

var errTooLong = errors.New("more than 2147483647 elements, which collectives of MPI cannot carry: use several")

// classes maps error classes of the shim to mpi's.
var classes = map[C.int]error{C.WEFT_TRUNCATE: engine.ErrTruncate, C.WEFT_RANK: engine.ErrRank, C.WEFT_TAG: engine.ErrTag, C.WEFT_COUNT: engine.ErrCount,
	C.WEFT_BUFFER: engine.ErrBuffer, C.WEFT_TYPE: engine.ErrKind, C.WEFT_WINDOW: engine.ErrWindow, C.WEFT_GONE: engine.ErrPeerGone}

// failure is the error of a call that ended with r.
func failure(k *engine.Call, r *C.weft_result) error {
	if r.cancelled != 0 {
		return k.Fail(engine.ErrCancelled, 0, 0, "before a message matched")
	}
	if r.err != 0 && C.weft_class(C.int(r.err)) != C.WEFT_TRUNCATE {
		return refused(k, C.int(r.err))
	}
	room, sent := k.Recv.Bytes(), int(r.bytes)
	f := k.Fault(engine.ErrTruncate, "the buffer has room for %d bytes, the message is longer", room)
	f.Want, f.Got = room, sent
	if sent > room {
		f.Text = fmt.Sprintf("the buffer has room for %d bytes, the message has %d", room, sent)
	}
	if r.source >= 0 && k.Kind.Receives() {
		f.Peer, f.Tag = int(r.source), int(r.tag)
	}
	return engine.NewError(f)
}

// refused is the error of a call that MPI refused with rc.
func refused(k *engine.Call, rc C.int) error {
	class := classes[C.weft_class(rc)]
	if class == nil {
		class = engine.ErrEngine
	}
	return k.Fail(class, 0, 0, "%s", errorText(rc))
}

// refusal is the error of a call on a revoked communicator.
func (c *communicator) refusal(k *engine.Call) error {
	if text, differ := strings.CutPrefix(c.reason, disorder); differ {
		return k.Fail(engine.ErrOrder, 0, 0, "%s", text)
	}
	return k.Fail(engine.ErrRevoked, 0, 0, "%s", c.reason)
}
