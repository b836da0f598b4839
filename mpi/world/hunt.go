package world

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/advise"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// HuntVariable is the environment variable that chooses a mode of [Config.Hunt], if that is
// empty.
const HuntVariable = "WEFT_HUNT"

// Modes of Hunt.
const (
	huntOff   = "off"
	huntAuto  = "auto"
	huntForce = "force"
)

// hunt is the mode of a run in which blocking operations return early.
type hunt struct {
	force  bool
	memory huntMemory
	say    func(format string, args ...any)
}

// hunting returns the hunt of this run; nil if it is off.
func (c *Config) hunting() (*hunt, error) {
	mode, from := c.Hunt, "-hunt"
	if mode == "" {
		mode, from = os.Getenv(HuntVariable), HuntVariable
	}
	switch mode {
	case "", huntOff:
		return nil, nil
	case huntAuto, huntForce:
	default:
		return nil, usage("%s %q: there are off, auto and force", from, mode)
	}
	if c.Machine != "" {
		return nil, usage("%s %s: on a simulated machine there are no page faults: leave it or -machine out", from, mode)
	}
	if os.Getenv(advise.FileVariable) != "" {
		return nil, usage("%s %s: %s measures the program as it is: leave one of them out", from, mode, advise.FileVariable)
	}
	h := &hunt{force: mode == huntForce, say: func(format string, args ...any) { fmt.Fprintf(os.Stderr, "weft: hunt: "+format+"\n", args...) }}
	h.memory.begin()
	return h, nil
}

// around returns body with the mode around it.
func (h *hunt) around(body func(*mpi.Comm) error) func(*mpi.Comm) error {
	return func(c *mpi.Comm) error {
		if c.Size() == 1 {
			return body(c)
		}
		hint := dds.Adaptive()
		if h.force {
			hint = dds.Force()
		}
		w, err := dds.Wrap(c, hint)
		if err != nil {
			return err
		}
		if on := h.choose(c, w.Constants()); !on {
			if err := w.Close(); err != nil {
				return err
			}
			return body(c)
		}
		return h.run(w, body)
	}
}

// choose reports whether early returns can pay on this network: the same on all ranks.
func (h *hunt) choose(c *mpi.Comm, k dds.Constants) bool {
	least, pays := k.Pays()
	if !h.force && !pays {
		if c.Rank() == 0 {
			h.say("off: no message of up to 64 MiB is in flight for long enough (%.3f ns per byte; a fault takes %v)", k.Gap, k.Fault)
		}
		return false
	}
	if c.Rank() == 0 && pays && !h.force {
		h.say("on for messages from %d KiB (%.3f ns per byte; a fault takes %v)", least>>10, k.Gap, k.Fault)
	}
	h.memory.open(h.force, least)
	return true
}

// run runs body on the wrapped communicator.
func (h *hunt) run(w *dds.Wrapped, body func(*mpi.Comm) error) error {
	from := osthread.Nanotime()
	err := protect(w.Comm, body)
	if err != nil {
		return errors.Join(err, w.Abandon(err))
	}
	if err := w.Close(); err != nil {
		return err
	}
	if w.Rank() == 0 {
		h.report(w, time.Duration(osthread.Nanotime()-from))
	}
	return nil
}

// report says what rank 0 has gained.
func (h *hunt) report(w *dds.Wrapped, took time.Duration) {
	g, off, kinds := w.Gain()
	n := h.memory.counts()
	h.say("rank 0, in %v: %v; strips %d, faults %d, stalls %d in this process", took.Round(time.Millisecond), g, n.Strips, n.Faults, n.Stalls)
	if off > 0 {
		h.say("rank 0 switched off %d of %d kinds of messages, which cost more than they hid", off, kinds)
	}
}

// end ends the mode, after all ranks of this process.
func (h *hunt) end() {
	if err := h.memory.end(); err != nil {
		h.say("%v", err)
	}
}
