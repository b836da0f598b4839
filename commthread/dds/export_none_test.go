//go:build !linux || !cgo

package dds

import "time"

// FaultCost is 0 without faults.
func FaultCost(*Arena) time.Duration { return 0 }
