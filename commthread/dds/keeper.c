//go:build linux && cgo

// The keeper: one thread per arena, which never runs Go. It copies bytes as soon as it
// is given them, retires strips when they are due, and answers faults.

#include "state.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PIECE = 256 << 10, // bytes copied between two looks at the clock
	LEAD = 60000,      // ns before a due time from which on the thread spins if a reader waits
	SHORT = 5000,      // the same if none does
	SLICE = 100000,    // ns of the thread's turns on a core
	WORDS = 1 << 16    // moves under way, at most
};

static int64_t epoch; // when the clock of Go began

void dds_set_clock(int64_t now) {
	epoch = 0;
	epoch = dds_now() - now;
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int64_t dds_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec - epoch;
}

// words tell Go that bytes are in place: each is counted up when a move has ended. They
// are never freed, so that whoever looks late sees that its number has passed.
static pthread_mutex_t words_mu = PTHREAD_MUTEX_INITIALIZER;
static uint32_t words[WORDS];
static int free_words[WORDS];
static int nfree, nwords;

static uint32_t *word_take(void) {
	uint32_t *w = NULL;
	pthread_mutex_lock(&words_mu);
	if (nfree > 0)
		w = &words[free_words[--nfree]];
	else if (nwords < WORDS)
		w = &words[nwords++];
	pthread_mutex_unlock(&words_mu);
	return w;
}

static void word_done(uint32_t *w) {
	__atomic_add_fetch(w, 1, __ATOMIC_ACQ_REL);
	pthread_mutex_lock(&words_mu);
	free_words[nfree++] = w - words;
	pthread_mutex_unlock(&words_mu);
}

// push adds to the heap by due time; it returns 0 without memory.
static int push(dds_keeper *k, dds_due d) {
	if (k->due == k->room) {
		int room = k->room ? 2 * k->room : 256;
		dds_due *heap = realloc(k->heap, room * sizeof *heap);
		if (heap == NULL)
			return 0;
		k->heap = heap, k->room = room;
	}
	int i = k->due++;
	for (; i > 0 && k->heap[(i - 1) / 2].at > d.at; i = (i - 1) / 2)
		k->heap[i] = k->heap[(i - 1) / 2];
	k->heap[i] = d;
	return 1;
}

static dds_due pop(dds_keeper *k) {
	dds_due first = k->heap[0], last = k->heap[--k->due];
	int i = 0;
	for (int c = 1; c < k->due; c = 2 * i + 1) {
		if (c + 1 < k->due && k->heap[c + 1].at < k->heap[c].at)
			c++;
		if (k->heap[c].at >= last.at)
			break;
		k->heap[i] = k->heap[c];
		i = c;
	}
	k->heap[i] = last;
	return first;
}

// arrived has bytes land now, or when they are due.
static void arrived(dds_keeper *k, dds_due d) {
	if (d.at > dds_now() && push(k, d))
		return;
	dds_settle_bytes(d.t, d.strip, d.bytes);
	dds_unpend(d.t);
}

static void expire(dds_keeper *k) {
	while (k->due > 0 && k->heap[0].at <= dds_now()) {
		dds_due d = pop(k);
		dds_settle_bytes(d.t, d.strip, d.bytes);
		dds_unpend(d.t);
	}
}

// left tells the sender's keeper that bytes of it have been copied. No mutex is held.
static void left(dds_keeper *from, uint64_t src, uint64_t n) {
	dds_transfer *t;
	pthread_mutex_lock(&from->mu);
	int i = dds_find(from, src, n, 1, &t);
	if (i >= 0)
		dds_settle_bytes(t, i, n);
	pthread_mutex_unlock(&from->mu);
}

// copy_some copies a piece of the first of the queue. The mutex is held, but not
// meanwhile.
static void copy_some(dds_keeper *k) {
	dds_copy *c = k->head;
	uint64_t n = c->n < PIECE ? c->n : PIECE;
	uint64_t dst = c->dst, src = c->src;
	dds_keeper *from = c->from;
	pthread_mutex_unlock(&k->mu);
	memcpy(k->comm + dst, from->comm + src, n);
	left(from, src, n);
	pthread_mutex_lock(&k->mu);
	k->counts.moved += n;
	c->dst += n, c->src += n, c->n -= n;
	if (c->n > 0)
		return;
	k->head = c->next;
	if (k->head == NULL)
		k->tail = NULL;
	word_done(c->word);
	arrived(k, (dds_due){c->at, c->t, c->strip, c->bytes});
	c->next = k->copies;
	k->copies = c;
}

// read_faults answers what is in the descriptor. The mutex is held.
static void read_faults(dds_keeper *k) {
	struct uffd_msg m[16];
	ssize_t n;
	while ((n = read(k->fd, m, sizeof m)) > 0) {
		for (size_t i = 0; i < n / sizeof m[0]; i++)
			if (m[i].event == UFFD_EVENT_PAGEFAULT)
				dds_fault(k, m[i].arg.pagefault.address - (uintptr_t)k->app,
					(m[i].arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) != 0, m[i].arg.pagefault.feat.ptid);
	}
}

// doze waits for a fault, for something to do, or for the next due time: it sleeps, and
// for the last stretch only looks. The mutex is held, but not meanwhile.
static void doze(dds_keeper *k) {
	struct pollfd p[2] = {{.fd = k->fd, .events = POLLIN}, {.fd = k->wake, .events = POLLIN}};
	struct timespec limit, *timeout = NULL;
	if (k->due > 0) {
		int64_t d = k->heap[0].at - dds_now() - (k->waiting > 0 ? LEAD : SHORT);
		d = d > 0 ? d : 0;
		limit = (struct timespec){d / 1000000000, d % 1000000000};
		timeout = &limit;
	}
	k->asleep = 1;
	pthread_mutex_unlock(&k->mu);
	int n = ppoll(p, 2, timeout, NULL);
	if (n > 0 && p[1].revents) {
		uint64_t count;
		if (read(k->wake, &count, sizeof count) < 0)
			sched_yield(); // nobody else reads: the next turn does
	}
	pthread_mutex_lock(&k->mu);
	k->asleep = 0;
	if (n > 0 && p[0].revents)
		read_faults(k);
}

static void *run(void *arg) {
	dds_keeper *k = arg;
	struct { // sched_setattr
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} turns = {.size = 48, .runtime = SLICE};
	syscall(SYS_sched_setattr, 0, &turns, 0); // a kernel without turns of its own length ignores it
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	prctl(PR_SET_NAME, "weft-keeper", 0, 0, 0);
	pthread_mutex_lock(&k->mu);
	while (!k->stop) {
		expire(k);
		if (k->head != NULL)
			copy_some(k);
		else
			doze(k);
	}
	pthread_mutex_unlock(&k->mu);
	return NULL;
}

// promise takes bytes of a strip as promised: everything else is done here. The mutex of
// the keeper is held.
static void promise(dds_strip *s, uint64_t n) {
	if ((s->to_promise -= n) <= 0)
		__atomic_or_fetch(&s->state, DDS_PROMISED, __ATOMIC_ACQ_REL);
}

static void promise_source(dds_keeper *from, uint64_t src, uint64_t n) {
	dds_transfer *t;
	pthread_mutex_lock(&from->mu);
	int i = dds_find(from, src, n, 1, &t);
	if (i >= 0)
		promise(&t->strips[i], n);
	pthread_mutex_unlock(&from->mu);
}

static dds_copy *new_copy(dds_keeper *k) {
	dds_copy *c = k->copies;
	if (c == NULL)
		return malloc(sizeof *c);
	k->copies = c->next;
	return c;
}

// enqueue has the thread copy.
static void enqueue(dds_keeper *k, dds_copy *c) {
	c->next = NULL;
	if (k->head == NULL)
		k->head = c;
	else
		k->tail->next = c;
	k->tail = c;
}

static void rouse(dds_keeper *k) {
	uint64_t one = 1;
	if (k->asleep && write(k->wake, &one, sizeof one) < 0)
		k->asleep = 0; // the counter is full: it will be read
}

static uint32_t in_place = 1; // the word of moves that have nothing to copy

uint32_t *dds_move(dds_keeper *k, uint64_t dst, dds_keeper *from, uint64_t src, uint64_t n, int64_t due, uint32_t *was) {
	dds_transfer *t;
	uint32_t *word = NULL;
	dds_copy *c = NULL;
	pthread_mutex_lock(&k->mu);
	int i = dds_find(k, dst, n, 0, &t);
	if (i >= 0 && from == NULL) {
		word = &in_place;
		*was = 0;
	} else if (i >= 0 && (c = new_copy(k)) != NULL && (word = word_take()) != NULL) {
		*was = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		*c = (dds_copy){.dst = dst, .src = src, .n = n, .bytes = n, .from = from, .t = t, .strip = i, .at = due, .word = word};
		enqueue(k, c);
	} else if (c != NULL) {
		c->next = k->copies;
		k->copies = c;
	}
	if (word != NULL) {
		int64_t first = k->due > 0 ? k->heap[0].at : INT64_MAX;
		t->pending++;
		promise(&t->strips[i], n);
		if (from == NULL)
			arrived(k, (dds_due){due, t, i, n});
		if (from != NULL || (k->due > 0 && k->heap[0].at < first)) // it sleeps until the first is due
			rouse(k);
	}
	pthread_mutex_unlock(&k->mu);
	if (word != NULL && from != NULL)
		promise_source(from, src, n);
	return word;
}

// start starts the thread: all signals blocked, since Go has no stack for them there,
// and with a mask of its own, since it would inherit that of a pinned creator.
static int start(dds_keeper *k, const uint64_t *mask, int words64) {
	pthread_attr_t attr;
	sigset_t all, old;
	cpu_set_t *set = CPU_ALLOC(64 * words64 + 1);
	size_t size = CPU_ALLOC_SIZE(64 * words64 + 1);
	int cores = 0;
	if (set == NULL)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	for (int i = 0; i < 64 * words64; i++)
		if (mask[i / 64] >> (i % 64) & 1) {
			CPU_SET_S(i, size, set);
			cores++;
		}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	if (cores > 0)
		pthread_attr_setaffinity_np(&attr, size, set);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&k->thread, &attr, run, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return err;
}

static void release(dds_keeper *k) {
	if (k->fd >= 0)
		close(k->fd);
	if (k->wake >= 0)
		close(k->wake);
	if (k->self >= 0)
		close(k->self);
	free(k->pages);
	free(k->times);
	free(k->heap);
	for (dds_copy *c = k->copies, *next; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	for (dds_transfer *t = k->spare, *next; t != NULL; t = next) {
		next = t->next;
		free(t);
	}
	if (k->transfers == 0)
		free(k); // otherwise a completion function may come late
}

int dds_open(char *app, char *comm, uint64_t bytes, int way, const uint64_t *mask, int words64, int trace, dds_keeper **out) {
	dds_keeper *k = calloc(1, sizeof *k);
	if (k == NULL)
		return ENOMEM;
	k->app = app, k->comm = comm, k->bytes = bytes, k->page = sysconf(_SC_PAGESIZE), k->watch = -1;
	pthread_mutex_init(&k->mu, NULL);
	k->self = syscall(SYS_pidfd_open, getpid(), 0);
	k->fd = dds_descriptor(way);
	int err = k->fd < 0 ? errno : dds_handshake(k->fd);
	k->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (err == 0 && k->wake < 0)
		err = errno;
	if (err == 0 && trace) {
		k->trace = DDS_TRACE;
		k->pages = calloc(DDS_TRACE, sizeof *k->pages);
		k->times = calloc(DDS_TRACE, sizeof *k->times);
		err = k->pages && k->times ? 0 : ENOMEM;
	}
	if (err == 0)
		err = dds_register(k->fd, app, bytes);
	if (err == 0)
		err = start(k, mask, words64);
	if (err != 0) {
		release(k);
		return err;
	}
	*out = k;
	return 0;
}

void dds_close(dds_keeper *k) {
	uint64_t one = 1;
	pthread_mutex_lock(&k->mu);
	k->stop = 1;
	if (write(k->wake, &one, sizeof one) < 0)
		k->asleep = 0; // full: it wakes the thread as well
	pthread_mutex_unlock(&k->mu);
	pthread_join(k->thread, NULL);
	pthread_mutex_lock(&k->mu);
	while (k->head != NULL)
		copy_some(k);
	while (k->due > 0) {
		dds_due d = pop(k);
		dds_settle_bytes(d.t, d.strip, d.bytes);
		dds_unpend(d.t);
	}
	pthread_mutex_unlock(&k->mu);
	dds_unregister(k->fd, k->app, k->bytes);
	release(k);
}

void dds_watch(dds_keeper *k, int fd) {
	pthread_mutex_lock(&k->mu);
	k->watch = fd;
	pthread_mutex_unlock(&k->mu);
}

void dds_count(dds_keeper *k, dds_counts *c) {
	pthread_mutex_lock(&k->mu);
	*c = k->counts;
	pthread_mutex_unlock(&k->mu);
}

int dds_touched(dds_keeper *k, uint64_t *pages, int64_t *at, int n) {
	pthread_mutex_lock(&k->mu);
	n = n < k->touched ? n : k->touched;
	memcpy(pages, k->pages, n * sizeof *pages);
	memcpy(at, k->times, n * sizeof *at);
	k->touched -= n;
	memmove(k->pages, k->pages + n, k->touched * sizeof *pages);
	memmove(k->times, k->times + n, k->touched * sizeof *at);
	pthread_mutex_unlock(&k->mu);
	return n;
}
