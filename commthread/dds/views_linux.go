//go:build linux && !race

package dds

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/pages"
)

// mapViews maps n bytes, whole pages, twice, and brings all of them into memory.
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
	// Fallocate fails where memory runs out; a touch would kill the program.
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

// reserve calls f for pieces of n bytes, whole pages. A piece that a signal has interrupted is
// begun anew, before Linux 6.12 at least: a shorter one is the next.
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

// inherit says whether children that C forks get the memory too. Those that do share it with
// this process, as it is from then on; the others die when they touch it.
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
