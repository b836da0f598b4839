package deps

// Mode says how an access touches its region.
type Mode uint8

// The tracker orders two accesses to overlapping regions as submitted, unless both are In
// or Lazy, both are Concurrent, or both are Commutative accesses to the same region (these
// exclude each other, in any order). A reduction works on a private copy, so its task waits
// for nothing; the node that combines the copies is ordered, as an Inout. Reductions of the
// same region with the same operation share that node, unless another access comes between.
const (
	None        Mode = iota // not an access
	In                      // reads the result of the last writer
	Out                     // overwrites every byte, reads none
	Inout                   // reads and writes
	Concurrent              // runs beside other Concurrent accesses; the bodies synchronize
	Commutative             // one at a time, in any order
	Reduction               // accumulates into a private copy, combined before another access
	Lazy                    // reads, and waits where bytes are missing: see Tracker.Arriving
)

var modeNames = [...]string{"none", "in", "out", "inout", "concurrent", "commutative", "reduction", "lazy"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "invalid mode"
}

// Writes reports whether an access of mode m may change its region.
func (m Mode) Writes() bool { return m > In && m != Lazy }
