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

	"github.com/weft-hpc/weft/mpi"
)

var errTooLong = errors.New("more than 2147483647 elements, which collectives of MPI cannot carry: use several")

// classes maps error classes of the shim to mpi's.
var classes = map[C.int]error{C.WEFT_TRUNCATE: mpi.ErrTruncate, C.WEFT_RANK: mpi.ErrRank, C.WEFT_TAG: mpi.ErrTag, C.WEFT_COUNT: mpi.ErrCount,
	C.WEFT_BUFFER: mpi.ErrBuffer, C.WEFT_TYPE: mpi.ErrKind, C.WEFT_WINDOW: mpi.ErrWindow, C.WEFT_GONE: mpi.ErrPeerGone}

// failure is the error of a call that ended with r.
func failure(k *mpi.Call, r *C.weft_result) error {
	if r.cancelled != 0 {
		return k.Fail(mpi.ErrCancelled, 0, 0, "before a message matched")
	}
	if r.err != 0 && C.weft_class(C.int(r.err)) != C.WEFT_TRUNCATE {
		return refused(k, C.int(r.err))
	}
	room, sent := k.Recv.Bytes(), int(r.bytes)
	err := k.Fail(mpi.ErrTruncate, room, sent, "the buffer has room for %d bytes, the message is longer", room)
	if sent > room {
		err.Text = fmt.Sprintf("the buffer has room for %d bytes, the message has %d", room, sent)
	}
	if r.source >= 0 && k.Kind.Receives() {
		err.Peer, err.Tag = int(r.source), int(r.tag)
	}
	return err
}

// refused is the error of a call that MPI refused with rc.
func refused(k *mpi.Call, rc C.int) *mpi.Error {
	class := classes[C.weft_class(rc)]
	if class == nil {
		class = mpi.ErrEngine
	}
	return k.Fail(class, 0, 0, "%s", errorText(rc))
}

// refusal is the error of a call on a revoked communicator.
func (c *communicator) refusal(k *mpi.Call) error {
	if text, differ := strings.CutPrefix(c.reason, disorder); differ {
		return k.Fail(mpi.ErrOrder, 0, 0, "%s", text)
	}
	return k.Fail(mpi.ErrRevoked, 0, 0, "%s", c.reason)
}
