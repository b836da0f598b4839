package pages

import "golang.org/x/sys/unix"

func mapPages(n int, huge bool) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil && huge {
		adviseHuge(b)
	}
	return b, err
}

// adviseHuge gives advice, which a kernel without huge pages declines.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

func unmapPages(b []byte) error { return unix.Munmap(b) }
