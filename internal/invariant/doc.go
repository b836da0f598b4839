// Package invariant holds the checks that only invariant builds make.
//
// An invariant is a statement that is true at a point of the code unless the
// code itself is wrong; a mistake of the user is an error or an ordinary panic
// instead. Building with the tag invariants turns [Enabled] on and makes [Check]
// panic; without the tag both vanish from the program. Because Enabled is a
// constant, everything under "if invariant.Enabled" vanishes with it: that is the
// place for checks whose arguments cost something to compute, for poisoned outputs
// and for tiny queues.
//
// Nothing here has state, and everything may be called by any goroutine.
package invariant
