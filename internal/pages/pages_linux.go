package pages

import "golang.org/x/sys/unix"

func mapPages(n int, huge bool) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil && huge {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // advice: a kernel without huge pages declines it
	}
	return b, err
}

func unmapPages(b []byte) error { return unix.Munmap(b) }
