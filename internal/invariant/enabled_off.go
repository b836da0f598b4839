//go:build !invariants

package invariant

// Tiny is 1 in invariant builds: an array that is to be short there, so that its
// overflow is common in tests, takes a length of that many less.
const Tiny = 0

// Enabled says whether this is an invariant build.
const Enabled = false
