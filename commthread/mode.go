package commthread

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
)

// DDS says whether the messages of a library or program are read while they arrive
// (demand-driven synchronization, package dds). It is a flag.Value.
type DDS int

// The choices, the same on all ranks.
const (
	DDSOff   DDS = iota // readers wait for whole messages
	DDSAuto             // lazily where memory can make readers wait, and the message is worth it
	DDSForce            // always lazily, in strips even where that costs more than it hides
)

var ddsNames = []string{DDSOff: "off", DDSAuto: "auto", DDSForce: "force"}

// String returns the name that Set reads.
func (d DDS) String() string {
	if d < 0 || int(d) >= len(ddsNames) {
		return fmt.Sprintf("DDS(%d)", int(d))
	}
	return ddsNames[d]
}

// Set reads off, auto or force.
func (d *DDS) Set(name string) error {
	i := slices.Index(ddsNames, name)
	if i < 0 {
		return fmt.Errorf("%q is none of %s", name, strings.Join(ddsNames, ", "))
	}
	*d = DDS(i)
	return nil
}

// LeaseFlag returns what reads "on" or "off" of a command line for the option Lease.
func LeaseFlag(off *bool) func(string) error {
	return func(text string) error {
		if text != "on" && text != "off" {
			return fmt.Errorf("%q is neither on nor off", text)
		}
		*off = text == "off"
		return nil
	}
}

// LeaseHelp says what the flag does.
const LeaseHelp = "tasks: whether workers with nothing to do make the MPI calls where each has a core to itself, `on` or off: the communication thread makes all (default on)"

// forcedStrips is how many strips a long message has with DDSForce: enough for readers to
// start early, few enough for the sender.
const forcedStrips = 8

// Open returns the endpoint for the lazy messages of c, whose readers have their
// buffers in the arenas of this rank; nil, with no error, if messages are to be plain
// ones: off, one rank only, or auto where an arena of some rank cannot make readers
// wait. The answer is the same on all ranks. Collective over c; it blocks, and with
// DDSAuto calibrates (dds.Calibrate). Errors: those of dds.Open.
func (d DDS) Open(c *mpi.Comm, arenas ...*dds.Arena) (*dds.Endpoint, error) {
	if d == DDSOff || c == nil || c.Size() == 1 {
		return nil, nil
	}
	waits := 1 // whether readers can be made to wait
	for _, a := range arenas {
		if name, _ := a.Backend(); name == dds.Explicit {
			waits = 0
		}
	}
	if err := c.Allreduce(mpi.InPlace, mpi.One(&waits), mpi.Min); err != nil {
		return nil, err
	}
	switch {
	case d == DDSForce:
		return dds.Open(c, dds.Force(), dds.Strips(forcedStrips), dds.Fixed(dds.Constants{}))
	case waits == 0:
		return nil, nil
	}
	return dds.Open(c)
}
