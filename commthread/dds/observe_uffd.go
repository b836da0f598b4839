//go:build linux && cgo

package dds

import "golang.org/x/sys/unix"

// observe drops page-table entries: the next touch is a stray fault, which is resolved at
// once and recorded.
func (u *uffd) observe(from, to int) bool {
	return u.observes && unix.Madvise(u.a.app[from:to], unix.MADV_DONTNEED_LOCKED) == nil
}
