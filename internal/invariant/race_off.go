//go:build !race

package invariant

// Race says whether the race detector is built in. It sees neither assembly nor
// memory outside the Go heap.
const Race = false
