//go:build race

package deps

// raceFactor is by how much the race detector slows these tests down; samples
// shrink by it.
const raceFactor = 10
