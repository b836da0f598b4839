//go:build invariants

package invariant

// Enabled says whether this is an invariant build.
const Enabled = true
