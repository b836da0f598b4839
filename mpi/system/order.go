//go:build mpi && cgo

package system

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/internal/signature"
)

// The check of collective calls: every rank sends a notice of its call to rank 0 of the
// communicator, and goes on. Rank 0 compares, and revokes the communicator if two calls of
// one number differ. An error is known soon, but calls may have ended by then.

// CheckVariable, if it is 1 in the environment of all ranks, turns on the comparison of all
// ranks' collective calls: for development, because it costs a message each.
const CheckVariable = "WEFT_CHECK_COLLECTIVES"

// disorder begins the reason of a revocation for different calls.
const disorder = "ranks call different collective operations: "

// checksOrder reads the environment.
func checksOrder() (bool, error) {
	switch v := os.Getenv(CheckVariable); v {
	case "":
		return invariant.Enabled, nil
	case "0", "1":
		return v == "1", nil
	default:
		return false, fmt.Errorf("mpi/system: %s=%s: it is 0 or 1", CheckVariable, v)
	}
}

// ordinal is the record of one collective of a communicator, on its rank 0.
type ordinal struct {
	signature.Signature
	rank int // first rank that called
	seen int
}

// declare sends a collective call to rank 0 of its communicator.
func (e *rankEngine) declare(c *communicator, k *engine.Call) {
	s := signature.Of(k)
	if c.rank == 0 {
		e.compare(c, c.called, 0, s)
	} else {
		e.notify(c.world[0], strings.Join([]string{"call", fmt.Sprint(c.key), fmt.Sprint(c.called), fmt.Sprint(c.rank), s.Encode()}, apart))
	}
}

// declared receives the call of another rank.
func (e *rankEngine) declared(fields []string) {
	if len(fields) != 4 {
		return
	}
	key, _ := strconv.ParseUint(fields[0], 10, 64)
	number, _ := strconv.Atoi(fields[1])
	rank, _ := strconv.Atoi(fields[2])
	s, ok := signature.Decode(fields[3])
	for _, c := range e.comms {
		if ok && c != nil && c.key == key {
			e.compare(c, number, rank, s)
		}
	}
}

// compare compares a call with the earlier calls of other ranks. On rank 0 of c.
func (e *rankEngine) compare(c *communicator, number, rank int, s signature.Signature) {
	if c.ordinals == nil {
		c.ordinals = map[int]*ordinal{}
	}
	o := c.ordinals[number]
	if o == nil {
		o = &ordinal{Signature: s, rank: rank}
		c.ordinals[number] = o
	}
	if !o.Fits(s) && !c.revoked {
		e.differ(c, fmt.Sprintf("rank %d calls %v, rank %d calls %v, as collective number %d", o.rank, o.Signature, rank, s, number-1))
	}
	if o.Elem == engine.KindNone {
		o.Elem = s.Elem
	}
	if o.seen++; o.seen == len(c.world) {
		delete(c.ordinals, number)
	}
}

// differ revokes a communicator whose ranks do not agree.
func (e *rankEngine) differ(c *communicator, text string) {
	for h, x := range e.comms {
		if x == c {
			e.Revoke(engine.Handle(h), disorder+text)
			c.disorder = &mpi.Error{Class: engine.ErrOrder, Kind: "collective", Comm: fmt.Sprintf("communicator %d", h),
				Rank: c.rank, Peer: engine.NoPeer, Tag: engine.AnyTag, Text: text}
		}
	}
}

// settleOrder waits a little for the calls of other ranks, when all have ended.
func (e *rankEngine) settleOrder() {
	const most = 200 * time.Millisecond
	open := func() bool {
		for _, c := range e.comms {
			if c != nil && !c.revoked && len(c.ordinals) > 0 {
				return true
			}
		}
		return false
	}
	for start := osthread.Nanotime(); e.checks && open() && osthread.Nanotime()-start < int64(most); {
		e.Poll()
	}
}
