//go:build linux && !race

package dds

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/pages"
)

// mapViews maps n bytes, whole pages, twice, and brings all of them into memory.
func mapViews(n int, huge bool) (app, comm []byte, unmap func() error, err error) {
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
	if huge {
		_ = unix.Madvise(comm, unix.MADV_HUGEPAGE) // advice: a kernel without huge pages declines it
	}
	// Fallocate fails where memory runs out; a touch would kill the program.
	if err := unix.Fallocate(fd, 0, 0, int64(n)); err != nil {
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
