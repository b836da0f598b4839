//go:build !amd64 || !gc || purego

package main

// peakOf returns nil: there is no loop for this processor.
func peakOf(string) *peak { return nil }
