//go:build linux && !race

package dds

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/pages"
)

// mapViews maps n bytes, whole pages, twice, and makes all of them resident.
func mapViews(n int) (app, comm []byte, unmap func() error, err error) {
	fd, err := unix.MemfdCreate("weft", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, nil, err
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, int64(n)); err != nil {
		return nil, nil, nil, err
	}
	if comm, err = unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, nil, nil, err
	}
	// Fallocate fails if memory runs out; a touch would kill the program.
	if err := reserve(n, func(at, n int) error { return unix.Fallocate(fd, 0, int64(at), int64(n)) }); err != nil {
		return nil, nil, nil, errors.Join(err, unix.Munmap(comm))
	}
	if app, err = unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, nil, nil, errors.Join(err, unix.Munmap(comm))
	}
	for _, view := range [][]byte{comm, app} {
		if unix.Madvise(view, unix.MADV_POPULATE_WRITE) != nil { // older than Linux 5.14
			pages.Prefault(view)
		}
	}
	return app, comm, func() error { return errors.Join(unix.Munmap(app), unix.Munmap(comm)) }, nil
}

// reserve calls f for pieces of n bytes, whole pages. An interrupted piece starts anew
// (always before Linux 6.12), so the next one is shorter.
func reserve(n int, f func(at, n int) error) error {
	const longest = 16 << 20
	for at, piece := 0, longest; at < n; {
		now := min(piece, n-at)
		switch err := f(at, now); err {
		case nil:
			at, piece = at+now, min(2*piece, longest)
		case unix.EINTR:
			piece = max(now/2/pages.Size(), 1) * pages.Size()
		default:
			return err
		}
	}
	return nil
}

// inherit sets whether children forked by C code get the memory.
//
// A child with the arena would lack its registration: it would read missing bytes, and
// write into the parent's messages, because the memory is shared. So with uffd it gets
// neither the arena (MADV_DONTFORK) nor the state of the fault thread, whose thread and
// mutex are the parent's: an access to either view there, or a call of the thread's
// functions, ends it with a segmentation fault (exit code 2 where Go's runtime handles it).
// A child that needs arena data must be forked after a copy. With explicit no bytes are
// missing, and parent and child share the arena. With the race detector the child has a
// copy, as of all of the heap. Programs that Go starts (os/exec) begin with new memory and
// without the descriptors. The parent need not know of its children: no fork event is
// requested, and no wait depends on a descriptor that a child holds, too.
func inherit(yes bool, views ...[]byte) error {
	advice := unix.MADV_DONTFORK
	if yes {
		advice = unix.MADV_DOFORK
	}
	for _, view := range views {
		if err := unix.Madvise(view, advice); err != nil {
			return err
		}
	}
	return nil
}
