//go:build linux && cgo

// The fault thread: one per arena, it never runs Go. It copies bytes as soon as it gets
// them, retires strips when they are due, and answers faults.

#include "state.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
	PIECE = 256 << 10, // bytes copied between two checks of the clock
	LEAD = 60000, // ns before a due time from which on the thread spins if a reader waits
	GRACE = 4000000, // ns of delay for strips whose reader has not waited yet
	SLICE = 100000, // ns of the thread's time slice
	WORDS = 1 << 16 // largest number of moves in flight
};

static int64_t epoch = INT64_MAX; // start of Go's clock

static int64_t monotonic(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void dds_set_clock(int64_t now) {
	int64_t e = monotonic() - now; // includes the time of the call
	epoch = e < epoch ? e : epoch;
}

int64_t dds_now(void) { return monotonic() - epoch; }

// words tell Go that bytes are in place: a finished move increments its word. They are
// never freed, so that a late reader still sees a changed number.
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

// stalled reports whether a reader waits for the strip of d.
static int stalled(const dds_due *d) {
	return __atomic_load_n(&d->t->strips[d->strip].state, __ATOMIC_ACQUIRE) & DDS_STALLED;
}

// needed returns the time at which the thread must handle a landing, if no other thread
// does earlier. An unarmed strip makes no reader wait, and the end of its calls reports it.
// A reader that has not waited yet is far behind or busy elsewhere: its strips are opened
// together, and late. The same holds if the thread runs on the reader's core: it would
// interrupt the reader for each strip, by a timer that costs more to set (9 us on a virtual
// machine) than the fault in which the reader finds the landed strips.
static int64_t needed(const dds_due *d) {
	dds_transfer *t = d->t;
	if (!t->armed && t->leader == NULL)
		return DDS_NEVER;
	if (stalled(d) || (t->leader != NULL && t->leader->awaited))
		return d->at;
	return t->awaited && !t->k->shares ? d->at : d->at + GRACE;
}

// wake_in_time sets the alarm for the next time at which the thread is needed, or earlier:
// an early alarm is cheaper than a new setting.
static void wake_in_time(dds_thread *k) {
	int64_t at = k->soonest;
	if (k->urgent != DDS_NEVER && k->urgent - LEAD < at)
		at = k->urgent - LEAD;
	if (k->set <= at)
		return;
	int64_t t = at + epoch > 1 ? at + epoch : 1;
	struct itimerspec when = {.it_value = {t / 1000000000, t % 1000000000}};
	timerfd_settime(k->alarm, TFD_TIMER_ABSTIME, &when, NULL);
	k->set = at;
}

void dds_reckon(dds_thread *k) {
	k->soonest = k->urgent = DDS_NEVER;
	for (int i = 0; i < k->due; i++) {
		const dds_due *d = &k->dues[i];
		int64_t n = needed(d);
		if (n < k->soonest)
			k->soonest = n;
		if (stalled(d) && d->at < k->urgent)
			k->urgent = d->at;
	}
	if (k->asleep) // otherwise it sets its alarm before it sleeps
		wake_in_time(k);
}

// push adds a later landing; it returns 0 without memory.
static int push(dds_thread *k, dds_due d) {
	if (k->due == k->room) {
		int room = k->room ? 2 * k->room : 256;
		dds_due *dues = realloc(k->dues, room * sizeof *dues);
		if (dues == NULL)
			return 0;
		k->dues = dues, k->room = room;
	}
	k->dues[k->due++] = d;
	if (needed(&d) < k->soonest)
		dds_reckon(k);
	return 1;
}

// settle records landed bytes, and opens nothing yet.
static void settle(const dds_due *d) {
	dds_settle_bytes(d->t, d->strip, d->bytes, d->at);
	dds_unpend(d->t);
}

// arrived records landed bytes now, or when they are due.
static void arrived(dds_thread *k, dds_due d) {
	int64_t now = dds_now();
	if (d.at > now && !d.t->ended && push(k, d))
		return;
	d.at = now;
	settle(&d);
	if (d.t->ready)
		dds_open_ready(d.t);
}

void dds_land_due(dds_thread *k) {
	int64_t now = k->due > 0 ? dds_now() : 0;
	int n = 0, before = k->due;
	for (int i = 0; i < before; i++) {
		dds_due *d = &k->dues[i];
		if (d->at <= now)
			settle(d);
		else
			k->dues[n++] = *d;
	}
	if (n == before)
		return;
	k->due = n;
	for (dds_transfer *t = k->live; t != NULL; t = t->next)
		if (t->ready)
			dds_open_ready(t);
	dds_reckon(k);
}

void dds_forget_due(dds_transfer *t) {
	dds_thread *k = t->k;
	int n = 0, before = k->due;
	for (int i = 0; i < before; i++)
		if (k->dues[i].t == t)
			t->pending--;
		else
			k->dues[n++] = k->dues[i];
	if (n == before)
		return;
	k->due = n;
	dds_reckon(k);
}

void dds_help(dds_thread *k) {
	pthread_mutex_lock(&k->mu);
	dds_land_due(k);
	pthread_mutex_unlock(&k->mu);
}

// left reports copied bytes to the sender's fault thread. No mutex is held.
static void left(dds_thread *from, uint64_t src, uint64_t n) {
	dds_transfer *t;
	pthread_mutex_lock(&from->mu);
	int i = dds_find(from, src, n, 1, &t);
	if (i >= 0)
		dds_settle_bytes(t, i, n, dds_now());
	if (i >= 0 && t->ready)
		dds_open_ready(t);
	pthread_mutex_unlock(&from->mu);
}

// copy_some copies a piece of the first copy in the queue. The mutex is held on entry and
// exit, but not during the copy.
static void copy_some(dds_thread *k) {
	dds_copy *c = k->head;
	uint64_t n = c->n < PIECE ? c->n : PIECE;
	uint64_t dst = c->dst, src = c->src;
	dds_thread *from = c->from;
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

// read_faults answers the faults in the descriptor. The mutex is held, but not while it
// reads.
static void read_faults(dds_thread *k) {
	struct uffd_msg m[16];
	ssize_t n = sizeof m;
	while (n == (ssize_t)sizeof m) {
		pthread_mutex_unlock(&k->mu);
		n = read(k->fd, m, sizeof m);
		pthread_mutex_lock(&k->mu);
		for (ssize_t i = 0; i < n / (ssize_t)sizeof m[0]; i++)
			if (m[i].event == UFFD_EVENT_PAGEFAULT)
				dds_fault(k, m[i].arg.pagefault.address - (uintptr_t)k->app,
					(m[i].arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) != 0, m[i].arg.pagefault.feat.ptid);
	}
}

// sleep_on waits for a fault, for work, or for the alarm. The mutex is held, but not during
// the wait.
static void sleep_on(dds_thread *k) {
	struct pollfd p[3] = {{.fd = k->fd, .events = POLLIN}, {.fd = k->wake, .events = POLLIN}, {.fd = k->alarm, .events = POLLIN}};
	k->asleep = 1;
	wake_in_time(k);
	pthread_mutex_unlock(&k->mu);
	int n = ppoll(p, 3, NULL, NULL);
	uint64_t count;
	if (n > 0 && p[1].revents && read(k->wake, &count, sizeof count) < 0)
		sched_yield(); // no other thread reads: the next turn does
	pthread_mutex_lock(&k->mu);
	k->asleep = 0;
	if (n > 0 && p[2].revents && read(k->alarm, &count, sizeof count) > 0)
		k->set = DDS_NEVER;
	if (n > 0 && p[0].revents)
		read_faults(k);
}

// doze sleeps, unless a strip with a waiting reader is due soon: then it only polls for
// faults.
static void doze(dds_thread *k) {
	if (k->urgent == DDS_NEVER || k->urgent - dds_now() > LEAD)
		sleep_on(k);
	else
		read_faults(k);
}

static void *run(void *arg) {
	dds_thread *k = arg;
	struct { // sched_setattr
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} turns = {.size = 48, .runtime = SLICE};
	syscall(SYS_sched_setattr, 0, &turns, 0); // kernels without custom slices ignore it
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	prctl(PR_SET_NAME, "weft-fault", 0, 0, 0);
	pthread_mutex_lock(&k->mu);
	while (!k->stop) {
		if (k->soonest != DDS_NEVER && k->soonest <= dds_now())
			dds_land_due(k);
		if (k->head != NULL)
			copy_some(k);
		else
			doze(k);
	}
	pthread_mutex_unlock(&k->mu);
	return NULL;
}

// promise marks n bytes of a strip as promised: C will deliver them. The mutex of the
// thread is held.
static void promise(dds_strip *s, uint64_t n) {
	if ((s->to_promise -= n) <= 0)
		__atomic_or_fetch(&s->state, DDS_PROMISED, __ATOMIC_ACQ_REL);
}

static void promise_source(dds_thread *from, uint64_t src, uint64_t n) {
	dds_transfer *t;
	pthread_mutex_lock(&from->mu);
	int i = dds_find(from, src, n, 1, &t);
	if (i >= 0)
		promise(&t->strips[i], n);
	pthread_mutex_unlock(&from->mu);
}

static dds_copy *new_copy(dds_thread *k) {
	dds_copy *c = k->copies;
	if (c == NULL)
		return malloc(sizeof *c);
	k->copies = c->next;
	return c;
}

// enqueue queues c for the thread.
static void enqueue(dds_thread *k, dds_copy *c) {
	c->next = NULL;
	if (k->head == NULL)
		k->head = c;
	else
		k->tail->next = c;
	k->tail = c;
}

// rouse wakes the thread, if it was asleep while the mutex was held. The mutex is free
// again, so that the thread does not block on it.
static void rouse(dds_thread *k, int asleep) {
	uint64_t one = 1;
	if (asleep && write(k->wake, &one, sizeof one) < 0)
		sched_yield(); // the counter is full: it will be read
	__atomic_sub_fetch(&k->rousing, 1, __ATOMIC_ACQ_REL);
}

static uint32_t in_place = 1; // the word of moves without a copy

// accept_move takes over a move to strip i of t: a copy, or bytes in place.
static uint32_t *accept_move(dds_thread *k, dds_copy m, uint32_t *was) {
	uint32_t *word = &in_place;
	dds_copy *c = NULL;
	*was = 0;
	if (m.from != NULL) {
		if ((c = new_copy(k)) == NULL)
			return NULL;
		if ((word = word_take()) == NULL) {
			c->next = k->copies;
			k->copies = c;
			return NULL;
		}
		*was = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		m.word = word;
		*c = m;
		enqueue(k, c);
	}
	m.t->pending++;
	promise(&m.t->strips[m.strip], m.n);
	if (m.from == NULL)
		arrived(k, (dds_due){m.at, m.t, m.strip, m.n});
	return word;
}

uint32_t *dds_move(dds_thread *k, uint64_t dst, dds_thread *from, uint64_t src, uint64_t n, int64_t due, uint32_t *was) {
	dds_transfer *t;
	uint32_t *word = NULL;
	pthread_mutex_lock(&k->mu);
	int i = dds_find(k, dst, n, 0, &t);
	if (i >= 0)
		word = accept_move(k, (dds_copy){.dst = dst, .src = src, .n = n, .bytes = n, .from = from, .t = t, .strip = i, .at = due}, was);
	int asleep = k->asleep, copies = word != NULL && from != NULL;
	if (copies)
		__atomic_add_fetch(&k->rousing, 1, __ATOMIC_ACQ_REL);
	pthread_mutex_unlock(&k->mu);
	if (copies) {
		promise_source(from, src, n);
		rouse(k, asleep);
	}
	return word;
}

// start starts the thread: with all signals blocked, because Go has no signal stack there,
// and with its own CPU mask, because it would inherit a pinned creator's.
static int start(dds_thread *k, const uint64_t *mask, int words64) {
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
	k->shares = cores == 1;
	int err = pthread_create(&k->thread, &attr, run, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return err;
}

// allocate returns a thread record that children forked by C code do not get: a child that
// uses it dies, instead of waiting for a mutex forever, or setting the alarm of this
// process (descriptors are shared).
static dds_thread *allocate(void) {
	dds_thread *k = mmap(NULL, sizeof *k, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (k == MAP_FAILED)
		return NULL;
	if (madvise(k, sizeof *k, MADV_DONTFORK)) {
		munmap(k, sizeof *k);
		return NULL;
	}
	return k;
}

static void release(dds_thread *k) {
	if (k->fd >= 0)
		close(k->fd);
	if (k->wake >= 0)
		close(k->wake);
	if (k->alarm >= 0)
		close(k->alarm);
	free(k->pages);
	free(k->times);
	free(k->dues);
	for (dds_copy *c = k->copies, *next; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	for (dds_transfer *t = k->spare, *next; t != NULL; t = next) {
		next = t->next;
		free(t);
	}
	if (k->transfers == 0)
		munmap(k, sizeof *k); // otherwise a completion function may come late
}

int dds_open(char *app, char *comm, uint64_t bytes, int way, const uint64_t *mask, int words64, int trace, dds_thread **out) {
	dds_thread *k = allocate();
	if (k == NULL)
		return ENOMEM;
	k->app = app, k->comm = comm, k->bytes = bytes, k->page = sysconf(_SC_PAGESIZE), k->watch = -1;
	pthread_mutex_init(&k->mu, NULL);
	k->soonest = k->urgent = k->set = DDS_NEVER;
	k->fd = dds_descriptor(way);
	int err = k->fd < 0 ? errno : dds_handshake(k->fd);
	k->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	k->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (err == 0 && (k->wake < 0 || k->alarm < 0))
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
		dds_unregister(k->fd, app, bytes); // a child may have the descriptor, too
		release(k);
		return err;
	}
	*out = k;
	return 0;
}

void dds_close(dds_thread *k) {
	uint64_t one = 1;
	pthread_mutex_lock(&k->mu);
	k->stop = 1;
	if (write(k->wake, &one, sizeof one) < 0)
		k->asleep = 0; // the counter is full: that wakes the thread as well
	pthread_mutex_unlock(&k->mu);
	pthread_join(k->thread, NULL);
	pthread_mutex_lock(&k->mu);
	while (k->head != NULL)
		copy_some(k);
	for (int i = 0; i < k->due; i++)
		k->dues[i].at = 0;
	dds_land_due(k);
	pthread_mutex_unlock(&k->mu);
	while (__atomic_load_n(&k->rousing, __ATOMIC_ACQUIRE) > 0)
		sched_yield();
	dds_unregister(k->fd, k->app, k->bytes);
	release(k);
}

void dds_watch(dds_thread *k, int fd) {
	pthread_mutex_lock(&k->mu);
	k->watch = fd;
	pthread_mutex_unlock(&k->mu);
}

void dds_count(dds_thread *k, dds_counts *c) {
	pthread_mutex_lock(&k->mu);
	*c = k->counts;
	pthread_mutex_unlock(&k->mu);
}

int dds_touched(dds_thread *k, uint64_t *pages, int64_t *at, int n) {
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
