//go:build linux && cgo

// Strips: which pages are armed, and which a landing opens. The mutex of the thread is held
// for every change. A page shared by two strips is open when both are.

#include "state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t down(dds_thread *k, uint64_t at) { return at & ~(k->page - 1); }
static uint64_t up(dds_thread *k, uint64_t at) { return (at + k->page - 1) & ~(k->page - 1); }

// State changes are atomic operations: Go may set bits, too.
static uint32_t state(dds_strip *s) { return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE); }
static void set(dds_strip *s, uint32_t bits) { __atomic_or_fetch(&s->state, bits, __ATOMIC_ACQ_REL); }
static void reset(dds_strip *s, uint32_t bits) { __atomic_and_fetch(&s->state, ~bits, __ATOMIC_ACQ_REL); }
static void stamp(int64_t *at, int64_t now) { __atomic_store_n(at, now, __ATOMIC_RELEASE); }

// blocked reports whether readers must not pass strip i: its bytes are missing, or a
// follower's.
static int blocked(dds_transfer *t, int i) {
	return !(state(&t->strips[i]) & DDS_LANDED) || (t->hold > 0 && i == t->held);
}

// place returns the index of the strip that is i-th in the order of access.
static int place(dds_transfer *t, int i) { return t->flags & DDS_DOWN ? t->n - 1 - i : i; }

// first returns the page of strip i that a reader in order meets first.
static uint64_t first(dds_transfer *t, int i) {
	dds_strip *s = &t->strips[i];
	return t->flags & DDS_DOWN ? down(t->k, s->to - 1) : down(t->k, s->from);
}

static void mark_armed(dds_transfer *t, int i, int64_t now) {
	stamp(&t->strips[i].armed_at, now);
	set(&t->strips[i], DDS_ARMED);
	t->k->counts.strips++;
}

// arm_next arms the first pages of the next blocked strips, as many as ahead.
static void arm_next(dds_transfer *t, int ahead) {
	for (int j = 0; j < t->n && ahead > 0; j++) {
		int i = place(t, j);
		if (!blocked(t, i))
			continue;
		ahead--;
		if (state(&t->strips[i]) & DDS_ARMED)
			continue;
		dds_drop(t->k, first(t, i), first(t, i) + t->k->page);
		mark_armed(t, i, dds_now());
	}
}

// arm_all arms every page of blocked strips, runs of them at once.
static void arm_all(dds_transfer *t) {
	int64_t now = dds_now();
	for (int i = 0; i < t->n; i++) {
		int begin = i;
		while (i < t->n && blocked(t, i))
			mark_armed(t, i++, now);
		if (i == begin)
			continue;
		uint64_t from = down(t->k, t->strips[begin].from), to = up(t->k, t->strips[i - 1].to);
		if (t->flags & DDS_SEND)
			dds_guard(t->k, from, to, 1);
		else
			dds_drop(t->k, from, to);
	}
}

static int arm(dds_transfer *t) {
	int64_t before = t->k->counts.strips;
	if (t->left == 0 && t->hold == 0)
		return 0;
	t->armed = 1;
	if (!(t->flags & DDS_FIRST) || t->k->trace)
		arm_all(t);
	else
		arm_next(t, 1);
	return t->k->counts.strips - before;
}

int dds_arm(dds_transfer *t) {
	pthread_mutex_lock(&t->k->mu);
	dds_land_due(t->k);
	int n = arm(t);
	dds_reckon(t->k);
	pthread_mutex_unlock(&t->k->mu);
	return n;
}

static void open_pages(dds_transfer *t, uint64_t from, uint64_t to) {
	if (from >= to)
		return;
	if (t->flags & DDS_SEND)
		dds_guard(t->k, from, to, 0);
	else
		dds_continue(t->k, from, to);
	t->k->counts.pages += (to - from) / t->k->page;
}

static void tell(dds_thread *k, int kind, int tid, dds_strip *s, int64_t now) {
	dds_event e = {kind, tid, s->from, now};
	if (k->watch >= 0 && write(k->watch, &e, sizeof e) < 0)
		return; // full: the watcher has seen enough
}

// open_strip opens an armed strip that is no longer blocked. With only first pages armed,
// the next one is armed already.
static void open_strip(dds_transfer *t, int i) {
	dds_thread *k = t->k;
	dds_strip *s = &t->strips[i];
	uint64_t from = down(k, s->from), to = up(k, s->to);
	if (t->flags & DDS_FIRST && !k->trace) {
		from = first(t, i);
		to = from + k->page;
	} else {
		if (i > 0 && blocked(t, i - 1))
			from = up(k, s->from);
		if (i + 1 < t->n && blocked(t, i + 1))
			to = down(k, s->to);
	}
	if (k->trace && !(t->flags & DDS_SEND) && !t->ended) {
		dds_rouse(k, from, to); // the readers touch them again, and are recorded
	} else {
		reset(s, DDS_ARMED);
		k->counts.retired++;
		open_pages(t, from, to);
	}
	if (state(s) & DDS_STALLED && !t->opened[i])
		tell(k, 1, 0, s, dds_now());
	t->opened[i] = 1;
}

// dds_open_ready opens the armed strips that are not blocked. It arms the first page of the
// next strip first, so that a reader in order does not pass it.
void dds_open_ready(dds_transfer *t) {
	t->ready = 0;
	if (t->armed && t->flags & DDS_FIRST && !t->k->trace)
		arm_next(t, 1);
	for (int i = 0; t->armed && i < t->n; i++)
		if (state(&t->strips[i]) & DDS_ARMED && !blocked(t, i) && (!t->opened[i] || t->ended))
			open_strip(t, i);
	dds_transfer *leader = t->leader;
	if (t->left > 0 || leader == NULL)
		return;
	t->leader = NULL;
	if (--leader->hold == 0)
		dds_open_ready(leader);
}

void dds_landed(dds_transfer *t, int i, uint32_t bits, int64_t at) {
	dds_strip *s = &t->strips[i];
	if (state(s) & DDS_LANDED)
		return;
	s->to_land = s->to_promise = 0;
	stamp(&s->landed_at, at);
	set(s, DDS_LANDED | DDS_PROMISED | bits);
	t->left--;
	t->ready = 1;
}

void dds_settle_bytes(dds_transfer *t, int i, uint64_t n, int64_t at) {
	if ((t->strips[i].to_land -= n) <= 0)
		dds_landed(t, i, 0, at);
}

void dds_land(dds_transfer *t, int i) {
	pthread_mutex_lock(&t->k->mu);
	dds_land_due(t->k); // perhaps more than this one: they are opened together
	dds_landed(t, i, 0, dds_now());
	if (t->ready)
		dds_open_ready(t);
	pthread_mutex_unlock(&t->k->mu);
}

void dds_failed(dds_transfer *t, int i) {
	dds_strip *s = &t->strips[i];
	if (state(s) & DDS_LANDED)
		return;
	if (!(t->flags & DDS_SEND))
		memset(t->k->comm + s->from, 0xff, s->to - s->from);
	dds_landed(t, i, DDS_FAILED, dds_now());
}

void dds_abandon(dds_transfer *t) {
	pthread_mutex_lock(&t->k->mu);
	for (int i = 0; i < t->n; i++)
		dds_failed(t, i);
	dds_open_ready(t);
	pthread_mutex_unlock(&t->k->mu);
}

int dds_follow(dds_transfer *t, dds_transfer *leader) {
	int yes = 0;
	pthread_mutex_lock(&t->k->mu);
	int last = place(leader, leader->n - 1);
	for (dds_transfer *u = t->k->live; u != NULL; u = u->next)
		yes |= u == leader && leader->armed && t->left > 0 && blocked(leader, last);
	if (yes) {
		leader->hold++;
		leader->held = last;
		t->leader = leader;
		dds_reckon(t->k);
	}
	pthread_mutex_unlock(&t->k->mu);
	return yes;
}

// covers reports whether strip i of t has armed the page at a byte.
static int covers(dds_transfer *t, int i, uint64_t page) {
	dds_thread *k = t->k;
	dds_strip *s = &t->strips[i];
	if (!(state(s) & DDS_ARMED) || page < down(k, s->from) || page >= up(k, s->to))
		return 0;
	return !(t->flags & DDS_FIRST) || k->trace || page == first(t, i);
}

// follow_closely records that a reader of t has caught up with the network.
static void follow_closely(dds_transfer *t) {
	t->awaited = 1;
	dds_reckon(t->k);
}

// saw_fault records that a reader waits for a strip, and arms the next one meanwhile.
static void saw_fault(dds_transfer *t, int i, int tid) {
	dds_thread *k = t->k;
	dds_strip *s = &t->strips[i];
	int64_t now = dds_now(), none = 0;
	__atomic_add_fetch(&s->faults, 1, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&s->touched_at, &none, now, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	if (!(state(s) & DDS_STALLED)) {
		set(s, DDS_STALLED);
		k->counts.stalls++;
	}
	tell(k, 0, tid, s, now);
	if (t->flags & DDS_FIRST && !k->trace)
		arm_next(t, 2);
	follow_closely(t);
}

// note records the first touch of a page.
static void note(dds_thread *k, uint64_t page, int64_t now) {
	if (k->touched < k->trace) {
		k->pages[k->touched] = page / k->page;
		k->times[k->touched++] = now;
	}
}

// trace_page opens one page that was touched after its bytes had arrived.
static void trace_page(dds_transfer *t, int i, uint64_t page) {
	dds_thread *k = t->k;
	int64_t now = dds_now(), none = 0;
	__atomic_compare_exchange_n(&t->strips[i].touched_at, &none, now, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	note(k, page, now);
	k->counts.pages++;
	dds_continue(k, page, page + k->page);
}

// dds_fault answers a fault. The landing that the reader waits for answers most of them; a
// message may be older than the landing, or repeated after a signal.
void dds_fault(dds_thread *k, uint64_t at, int write_guard, int tid) {
	uint64_t page = down(k, at);
	dds_land_due(k);
	for (dds_transfer *t = k->live; t != NULL; t = t->next) {
		int traced = -1, waits = 0;
		if (!(t->flags & DDS_SEND) == !!write_guard)
			continue;
		for (int i = 0; i < t->n; i++) {
			if (!covers(t, i, page))
				continue;
			if (!blocked(t, i)) {
				traced = i;
				continue;
			}
			saw_fault(t, i, tid); // a page may belong to two
			waits = 1;
		}
		if (waits) {
			k->counts.faults++;
			return;
		}
		if (traced >= 0 && !write_guard) {
			trace_page(t, traced, page);
			return;
		}
		if (t->armed && page >= down(k, t->strips[0].from) && page < up(k, t->strips[t->n - 1].to))
			follow_closely(t);
	}
	k->counts.stray++;
	if (k->trace && !write_guard)
		note(k, page, dds_now());
	if (write_guard)
		dds_guard(k, page, page + k->page, 0);
	else
		dds_continue(k, page, page + k->page);
}

dds_transfer *dds_begin(dds_thread *k, int n, const uint64_t *cuts, int flags, dds_strip **strips) {
	pthread_mutex_lock(&k->mu);
	dds_transfer *t = k->spare;
	if (t != NULL)
		k->spare = t->next;
	else
		t = malloc(sizeof *t);
	if (t != NULL) {
		memset(t, 0, sizeof *t);
		t->k = k, t->n = t->left = n, t->flags = flags;
		for (int i = 0; i < n; i++)
			t->strips[i] = (dds_strip){.from = cuts[i], .to = cuts[i + 1], .to_promise = cuts[i + 1] - cuts[i], .to_land = cuts[i + 1] - cuts[i]};
		t->next = k->live;
		k->live = t;
		k->transfers++;
		*strips = t->strips;
	}
	pthread_mutex_unlock(&k->mu);
	return t;
}

// dds_unpend drops one reference to t; the last one of an ended transfer frees it for
// reuse. Its memory stays allocated: Go may still read it.
void dds_unpend(dds_transfer *t) {
	if (--t->pending == 0 && t->ended) {
		t->k->transfers--;
		t->next = t->k->spare;
		t->k->spare = t;
	}
}

// unfollow removes t, which ends, from its leader, regardless of its landings.
static void unfollow(dds_transfer *t) {
	dds_transfer *leader = t->leader;
	t->leader = NULL;
	if (leader != NULL && --leader->hold == 0)
		dds_open_ready(leader);
}

// free_followers arms the transfers that would have been retired with t.
static void free_followers(dds_transfer *t) {
	for (dds_transfer *u = t->k->live; u != NULL; u = u->next)
		if (u->leader == t) {
			u->leader = NULL;
			arm(u);
		}
	t->hold = 0;
	dds_reckon(t->k);
}

void dds_end(dds_transfer *t, dds_strip *strips) {
	dds_thread *k = t->k;
	pthread_mutex_lock(&k->mu);
	t->ended = 1;
	if (t->hold > 0)
		free_followers(t);
	dds_open_ready(t);
	unfollow(t);
	dds_forget_due(t);
	memcpy(strips, t->strips, t->n * sizeof *strips);
	for (dds_transfer **p = &k->live; *p != NULL; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	t->pending++;
	dds_unpend(t);
	pthread_mutex_unlock(&k->mu);
}

int dds_busy(dds_thread *k, uint64_t from, uint64_t to) {
	int yes = 0;
	pthread_mutex_lock(&k->mu);
	for (dds_transfer *t = k->live; t != NULL; t = t->next)
		yes |= t->strips[0].from < to && from < t->strips[t->n - 1].to;
	pthread_mutex_unlock(&k->mu);
	return yes;
}

int dds_find(dds_thread *k, uint64_t at, uint64_t n, int send, dds_transfer **found) {
	for (dds_transfer *t = k->live; t != NULL; t = t->next) {
		if (!(t->flags & DDS_SEND) != !send || at < t->strips[0].from || at >= t->strips[t->n - 1].to)
			continue;
		for (int i = 0; i < t->n; i++)
			if (at >= t->strips[i].from && at + n <= t->strips[i].to) {
				*found = t;
				return i;
			}
	}
	return -1;
}

void *dds_cookie(dds_thread *k, uint64_t at, uint64_t n) {
	dds_transfer *t;
	void *cookie = NULL;
	pthread_mutex_lock(&k->mu);
	int i = dds_find(k, at, n, 0, &t);
	if (i < 0)
		i = dds_find(k, at, n, 1, &t);
	if (i >= 0) {
		t->pending++;
		t->names[i] = (dds_name){t, i};
		cookie = &t->names[i];
	}
	pthread_mutex_unlock(&k->mu);
	return cookie;
}

void dds_complete(void *cookie, int64_t bytes, int32_t err) {
	dds_name *name = cookie;
	dds_thread *k = name->t->k;
	pthread_mutex_lock(&k->mu);
	if (bytes < 0) { // it has been started
		set(&name->t->strips[name->strip], DDS_PROMISED);
		pthread_mutex_unlock(&k->mu);
		return;
	}
	if (err)
		dds_failed(name->t, name->strip);
	else
		dds_landed(name->t, name->strip, 0, dds_now());
	if (name->t->ready)
		dds_open_ready(name->t);
	dds_unpend(name->t);
	pthread_mutex_unlock(&k->mu);
}
