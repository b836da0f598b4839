//go:build linux && cgo

package dds

/*
#include "thread.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/lazypages"
)

// watch reads the events that the fault thread writes into a pipe, without waiting for
// their reader.
func (u *uffd) watch(f func(lazypages.Sleep)) (stop func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil, errors.New("dds: Watch of a closed arena")
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("dds: Watch: no pipe: %w", err)
	}
	from, done := os.NewFile(uintptr(ends[0]), "faults"), make(chan struct{})
	C.dds_watch(u.k, C.int(ends[1]))
	go func() {
		defer close(done)
		var events [64]C.dds_event
		b := unsafe.Slice((*byte)(unsafe.Pointer(&events[0])), unsafe.Sizeof(events))
		for {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			for i := range events[:n/C.sizeof_dds_event] {
				e := &events[i]
				f(lazypages.Sleep{Thread: int(e.tid), Strip: int(e.strip), Ended: e.kind != 0, At: int64(e.at)})
			}
		}
	}()
	return sync.OnceFunc(func() {
		u.mu.Lock()
		if !u.closed {
			C.dds_watch(u.k, -1)
		}
		u.mu.Unlock()
		_ = from.Close() // ends the reader, even if a forked child could still write
		<-done
		_ = syscall.Close(ends[1]) // no data was buffered
	}), nil
}
