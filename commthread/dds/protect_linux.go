//go:build linux && !race

package dds

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const canProtect = true

// protect opens pages, or takes all rights from them.
func protect(b []byte, open bool) {
	rights := unix.PROT_NONE
	if open {
		rights = unix.PROT_READ | unix.PROT_WRITE
	}
	if err := unix.Mprotect(b, rights); err != nil { // no more mappings: vm.max_map_count
		panic(fmt.Sprintf("dds: mprotect of %d bytes: %v: raise vm.max_map_count", len(b), err))
	}
}
