//go:build linux && !race

package dds

// Reserve is reserve.
var Reserve = reserve
