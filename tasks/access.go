package tasks

import (
	"github.com/weft-hpc/weft/deps"
)

// Access declares how a task accesses a parameter. The constants of [Mode] are accesses;
// [Lazy], [Weak], [Each] and [Reduction] make further ones.
type Access interface{ access() spec }

// Mode is a plain access.
type Mode uint8

// The plain accesses. Two tasks that access a common byte run in the order of their spawns,
// unless both are Input, both are Concurrent, or both are Commutative or reductions of the
// same region.
const (
	Value       Mode = iota // no access: the body gets the argument unchanged
	Input                   // reads the result of the last writer
	Output                  // writes every byte, reads none: may be renamed (Buffer)
	Inout                   // reads and writes
	Concurrent              // runs beside other Concurrent accesses; the bodies synchronize
	Commutative             // one at a time, in any order
)

var depMode = [...]deps.Mode{deps.None, deps.In, deps.Out, deps.Inout, deps.Concurrent, deps.Commutative}

func (m Mode) access() spec { return spec{mode: depMode[m]} }

// spec is the internal form of an Access.
type spec struct {
	mode deps.Mode
	lazy bool
	weak bool
	each bool
	op   reducer // of a reduction

	missing bool // the access is nil
}

func (s spec) access() spec { return s }

// specOf returns the internal form of a, which may be nil.
func specOf(a Access) spec {
	if a == nil {
		return spec{missing: true}
	}
	return a.access()
}

// Lazy lets a task that reads a region (Input) start before all bytes have arrived from
// another rank: once the first have arrived and the rest is in flight. The task then waits
// where it touches missing bytes. This needs a message received into memory of an arena
// (package commthread/dds); otherwise, and around other accesses, Lazy(a) is a. If the rest
// of the message never comes, the task fails at its end, whatever it returns; missing bytes
// are then NaN.
func Lazy(a Access) Access {
	s := specOf(a)
	s.lazy = true
	return s
}

// Weak declares that the task itself does not access the region; its children may, with the
// same access. The task does not wait for the region, its children do, and later tasks wait
// for the children.
//
// A weak access is released when the task and all its children have ended. Weak commutative
// accesses and weak reductions of several tasks are ordered by submission.
func Weak(a Access) Access {
	s := specOf(a)
	s.weak = true
	return s
}

// Each makes every element of a slice parameter a separate access (OmpSs: multidependence).
// The elements may be slices, pointers, tiles, buffers, or have a Region method.
func Each(a Access) Access {
	s := specOf(a)
	s.each = true
	return s
}
