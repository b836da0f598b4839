//go:build linux && cgo

// Calls of userfaultfd, and how they fail: EAGAIN while the map changes, EEXIST for a page
// that is mapped already, ESRCH and ENOENT when memory or process vanish. Arming drops
// page-table entries (MADV_DONTNEED_LOCKED: the bytes stay in the memfd); retiring is one
// UFFDIO_CONTINUE per strip, which maps its pages and wakes its readers.

#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 // Linux 5.18
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

int dds_descriptor(int way) {
	int flags = O_CLOEXEC | O_NONBLOCK;
	switch (way) {
	case DDS_DEVICE: {
		int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
		if (device < 0)
			return -1;
		int fd = ioctl(device, USERFAULTFD_IOC_NEW, flags), err = errno;
		close(device);
		errno = err;
		return fd;
	}
	case DDS_USER_ONLY:
		flags |= UFFD_USER_MODE_ONLY;
	}
	return syscall(SYS_userfaultfd, flags);
}

int dds_handshake(int fd) {
	struct uffdio_api api = {.api = UFFD_API,
		.features = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_THREAD_ID};
	return ioctl(fd, UFFDIO_API, &api) ? errno : 0;
}

int dds_register(int fd, char *app, uint64_t bytes) {
	struct uffdio_register r = {.range = {(uintptr_t)app, bytes}, .mode = UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP};
	const uint64_t needs = 1ull << _UFFDIO_CONTINUE | 1ull << _UFFDIO_WRITEPROTECT | 1ull << _UFFDIO_WAKE;
	if (ioctl(fd, UFFDIO_REGISTER, &r))
		return errno;
	return (r.ioctls & needs) == needs ? 0 : EOPNOTSUPP;
}

void dds_unregister(int fd, char *app, uint64_t bytes) {
	struct uffdio_range r = {(uintptr_t)app, bytes};
	ioctl(fd, UFFDIO_UNREGISTER, &r); // wakes all readers; fails if the memory has gone
}

static struct uffdio_range range(dds_thread *k, uint64_t from, uint64_t to) {
	return (struct uffdio_range){(uintptr_t)k->app + from, to - from};
}

void dds_rouse(dds_thread *k, uint64_t from, uint64_t to) {
	struct uffdio_range r = range(k, from, to);
	ioctl(k->fd, UFFDIO_WAKE, &r);
}

void dds_continue(dds_thread *k, uint64_t from, uint64_t to) {
	while (from < to) {
		struct uffdio_continue c = {.range = range(k, from, to)};
		if (ioctl(k->fd, UFFDIO_CONTINUE, &c) == 0)
			return;
		if (c.mapped > 0) { // partly mapped and woken
			from += c.mapped;
			continue;
		}
		switch (errno) {
		case EAGAIN:
			sched_yield();
			continue;
		case EFAULT: // not resident: touch it
			*(volatile char *)(k->comm + from);
			sched_yield();
			continue;
		case EEXIST:
			dds_rouse(k, from, from + k->page);
			from += k->page;
			continue;
		default: // ESRCH, ENOENT: no reader is left
			dds_rouse(k, from, to);
			return;
		}
	}
}

void dds_guard(dds_thread *k, uint64_t from, uint64_t to, int on) {
	struct uffdio_writeprotect w = {.range = range(k, from, to), .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
	while (from < to && ioctl(k->fd, UFFDIO_WRITEPROTECT, &w) && errno == EAGAIN)
		sched_yield();
}

// dds_drop also drops entries of memory that the program has locked (mlock, mlockall).
void dds_drop(dds_thread *k, uint64_t from, uint64_t to) {
	if (from < to)
		madvise(k->app + from, to - from, MADV_DONTNEED_LOCKED);
}

int dds_cost(dds_thread *k, uint64_t at, uint64_t n, int64_t *arm, int64_t *retire) {
	pthread_mutex_lock(&k->mu);
	int64_t began = dds_now();
	dds_drop(k, at, at + n * k->page);
	int64_t middle = dds_now();
	dds_continue(k, at, at + n * k->page);
	*retire = dds_now() - middle;
	*arm = middle - began;
	pthread_mutex_unlock(&k->mu);
	return 0;
}
