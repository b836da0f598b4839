package reserved

import "golang.org/x/sys/unix"

// reserve maps as much address space as the system gives.
func reserve() (_ []byte, err error) {
	for bits := 44; bits >= 36; bits-- {
		all, err = unix.Mmap(-1, 0, 1<<bits, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err == nil {
			_ = unix.Madvise(all, unix.MADV_NOHUGEPAGE) // a touched byte costs a small page
			return all, nil
		}
	}
	return nil, err
}

func open(b []byte) error { return unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE) }

func forget(b []byte) error { return unix.Madvise(b, unix.MADV_DONTNEED) }
