//go:build linux && cgo

package dds

import "time"

// FaultCost measures a fault in an arena without transfers.
func FaultCost(a *Arena) time.Duration { return a.back.(*uffd).faultCost() }
