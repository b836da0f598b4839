//go:build linux && cgo

// The probe performs the operations of the fault thread on two pages of its own: only a
// fault that was reported, resolved and ended proves that the kernel and its rules permit
// it.

#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TIMEOUT = 5000 }; // ms for a thread to run at all

typedef struct {
	dds_thread k; // only the fields that uffd.c uses
	volatile char *at;
	int writes;
} trial;

// access_byte accesses one byte; the value read proves that the thread went on.
static void *access_byte(void *arg) {
	trial *p = arg;
	if (p->writes)
		*p->at = 7;
	return (void *)(intptr_t)*p->at;
}

// answer waits for a fault with the flag and resolves it.
static int answer(trial *p, uint64_t flag) {
	struct uffd_msg m;
	struct pollfd f = {.fd = p->k.fd, .events = POLLIN};
	int n;
	do // the runtime of Go interrupts its threads
		n = poll(&f, 1, TIMEOUT);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return ETIMEDOUT;
	if (n < 0 || read(p->k.fd, &m, sizeof m) != sizeof m)
		return errno ? errno : EIO;
	if (m.event != UFFD_EVENT_PAGEFAULT || !(m.arg.pagefault.flags & flag))
		return EPROTO;
	if (flag == UFFD_PAGEFAULT_FLAG_WP)
		dds_guard(&p->k, 0, p->k.page, 0);
	else
		dds_continue(&p->k, 0, p->k.page);
	return 0;
}

// attempt accesses a byte on another thread and answers the fault. If that fails, closing
// the descriptor frees the thread.
static int attempt(trial *p, uint64_t flag, int want) {
	pthread_t thread;
	sigset_t all, old;
	void *saw;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&thread, NULL, access_byte, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return err;
	err = answer(p, flag);
	if (err) {
		dds_unregister(p->k.fd, p->k.app, p->k.bytes);
		close(p->k.fd);
		p->k.fd = -1;
	}
	pthread_join(thread, &saw);
	return err ? err : (intptr_t)saw == want ? 0 : EBADMSG;
}

static int views(trial *p) {
	int fd = memfd_create("weft-probe", MFD_CLOEXEC);
	if (fd < 0)
		return errno;
	int err = ftruncate(fd, p->k.bytes) ? errno : 0;
	p->k.comm = mmap(NULL, p->k.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p->k.app = mmap(NULL, p->k.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return err ? err : p->k.comm == MAP_FAILED || p->k.app == MAP_FAILED ? ENOMEM : 0;
}

static int steps(trial *p, int way, int no_minor, const char **step) {
	int err;
	*step = "two views of a memfd";
	if ((err = views(p)))
		return err;
	*step = "userfaultfd";
	if ((p->k.fd = dds_descriptor(way)) < 0)
		return errno;
	*step = "MINOR faults of shared memory, and write-protection";
	if ((err = no_minor ? EINVAL : dds_handshake(p->k.fd)))
		return err;
	memset(p->k.comm, 5, p->k.bytes);
	*step = "registration";
	if ((err = dds_register(p->k.fd, p->k.app, p->k.bytes)))
		return err;
	*step = "a MINOR fault and CONTINUE";
	dds_drop(&p->k, 0, p->k.bytes); // all memory of the process may be locked and resident
	p->at = p->k.app;
	if ((err = attempt(p, UFFD_PAGEFAULT_FLAG_MINOR, 5)))
		return err;
	*step = "a MINOR fault after MADV_DONTNEED_LOCKED";
	dds_drop(&p->k, 0, p->k.page);
	p->k.comm[0] = 6;
	if ((err = attempt(p, UFFD_PAGEFAULT_FLAG_MINOR, 6)))
		return err;
	*step = "a write-protected page";
	dds_guard(&p->k, 0, p->k.page, 1);
	p->writes = 1;
	return attempt(p, UFFD_PAGEFAULT_FLAG_WP, 7);
}

int dds_probe(int way, int no_minor, char *what, int n) {
	const char *step = "";
	trial p = {.k = {.fd = -1, .page = sysconf(_SC_PAGESIZE), .bytes = 2 * sysconf(_SC_PAGESIZE)}};
	int err = steps(&p, way, no_minor, &step);
	snprintf(what, n, "%s", step);
	if (p.k.fd >= 0) {
		dds_unregister(p.k.fd, p.k.app, p.k.bytes);
		close(p.k.fd);
	}
	if (p.k.app != NULL && p.k.app != MAP_FAILED)
		munmap(p.k.app, p.k.bytes);
	if (p.k.comm != NULL && p.k.comm != MAP_FAILED)
		munmap(p.k.comm, p.k.bytes);
	return err;
}
