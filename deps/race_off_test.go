//go:build !race

package deps

const raceFactor = 1
