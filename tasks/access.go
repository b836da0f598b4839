package tasks

import (
	"github.com/weft-hpc/weft/deps"
)

// Access says how a task touches a parameter. The constants of [Mode] are
// accesses; [Lazy], [Weak], [Each] and [Reduction] make further ones.
type Access interface{ access() spec }

// Mode is a plain access.
type Mode uint8

// The plain accesses. Two tasks that touch a common byte run in the order of
// their spawns, unless both are Input, both are Concurrent, or both are
// Commutative or reductions of the same region.
const (
	Value       Mode = iota // no access: the argument is passed on as it is
	Input                   // reads what the last writer left
	Output                  // writes every byte, reads none: may be renamed (Buffer)
	Inout                   // reads and writes
	Concurrent              // runs beside other Concurrent accesses; the bodies synchronize
	Commutative             // one at a time, in any order
)

var depMode = [...]deps.Mode{deps.None, deps.In, deps.Out, deps.Inout, deps.Concurrent, deps.Commutative}

func (m Mode) access() spec { return spec{mode: depMode[m]} }

// spec is what an Access amounts to.
type spec struct {
	mode deps.Mode
	lazy bool
	weak bool
	each bool
	op   reducer // of a reduction
}

func (s spec) access() spec { return s }

// Lazy lets a task that reads a region (Input) start before the bytes have all arrived
// from another rank: when the first have, and the rest is on its way. It then waits
// where it touches missing ones. That needs a message that is received into memory
// of an arena (package commthread/dds); otherwise, and around other accesses, Lazy
// is the access itself. If the rest of the message never comes, the task fails when it
// ends, whatever it has returned; missing bytes are then NaN.
func Lazy(a Access) Access {
	s := a.access()
	s.lazy = true
	return s
}

// Weak says that the task itself does not touch the region; its children may,
// with the same access. The task does not wait for the region, its children do,
// and later tasks wait for the children.
//
// A weak access is released when the task and all its children have ended.
// Weak commutative accesses and weak reductions of several tasks are ordered by
// submission among each other.
func Weak(a Access) Access {
	s := a.access()
	s.weak = true
	return s
}

// Each makes every element of a slice parameter an access of its own
// (OmpSs: multidependence). The elements may be slices, pointers, tiles,
// buffers, or have a Region method.
func Each(a Access) Access {
	s := a.access()
	s.each = true
	return s
}
