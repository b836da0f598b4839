//go:build !linux || !cgo

package dds

import (
	"errors"
	"unsafe"

	"github.com/weft-hpc/weft/internal/osthread"
)

const canUffd = false

func newUffd(*Arena, *options) (backend, string, error) {
	return nil, "", errors.New("this build has no userfaultfd: it needs Linux and cgo")
}

func completer(unsafe.Pointer, int) (fn, cookie unsafe.Pointer) { return nil, nil }

func here() osthread.CPUSet { return osthread.Usable() }
