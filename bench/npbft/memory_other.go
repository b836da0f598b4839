//go:build !linux

package main

// available does not know what other systems have.
func available() (n int, known bool) { return 0, false }

// peak does not know, either.
func peak() (n int, known bool) { return 0, false }
