//go:build mpi && cgo

// Operations in progress. Their requests are in one array in the order of their start, with
// holes where one has ended: the oldest usually end first. Testsome costs time for every
// request, so each round tests the oldest ones, and a window that moves over the others: 10
// 000 pending receives do not make a round 10 000 tests long.

#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { WINDOW = 256, MOVES = 8, PROGRESS = 8, HEAR_EVERY = 32 };

static MPI_Request *requests; // [head, tail) with holes
static int *slots;            // of the requests
static int head, tail, cap, live;
static int receiving; // of the live ones, those that receive messages
static int moving; // start of the moving window

typedef void (*completer)(void *cookie, int64_t bytes, int32_t err);

// place is a buffer that an operation receives into, if its room is not negative.
typedef struct { const char *at; int64_t room; } place;

typedef struct {
	int at; // index in requests, -1 if not in progress
	int cancelled; // a cancellation has been requested
	int awaited; // by C: fn belongs to a mover
	int receives; // a message
	int *counts;
	weft_line *line; // if it is a part of a message
	place into;
	completer fn;
	void *cookie;
} slot_state;

static slot_state *states;
static int nstates;

static int nresults, turns;
static int64_t nended;

// Ends seen by the thread of background.c, kept until Go asks.
static weft_result *kept;
static int nkept, kept_room, aside, awaited;

static weft_result *keep_one(void) {
	if (nkept == kept_room) {
		kept_room = kept_room ? 2 * kept_room : 256;
		if ((kept = realloc(kept, kept_room * sizeof *kept)) == NULL)
			weft_abort(1);
	}
	return &kept[nkept++];
}

// begin_results makes room for a turn, after the kept results.
static void begin_results(void) {
	int n = nkept < WEFT_RESULTS - 2 * WINDOW ? nkept : WEFT_RESULTS - 2 * WINDOW;
	memcpy(weft_mem->results, kept, n * sizeof *kept);
	memmove(kept, kept + n, (nkept - n) * sizeof *kept);
	nkept -= n;
	nresults = n;
}

int weft_waited_for(void) { return awaited; }

static weft_result *push(int slot) {
	weft_result *r = aside ? keep_one() : &weft_mem->results[nresults++];
	nended++;
	memset(r, 0, sizeof *r);
	r->slot = slot;
	return r;
}

// read_status reads MPI's status of a message or of the end of an operation.
static void read_status(weft_result *r, MPI_Status *st, int err, int cancelled) {
	int bytes = 0, flag = 0;
	r->err = err;
	r->source = st->MPI_SOURCE;
	r->tag = st->MPI_TAG;
	if (MPI_Get_count(st, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED) {
		r->bytes = bytes;
	} else { // 2 GiB or more
		MPI_Count n = 0;
		MPI_Get_elements_x(st, MPI_BYTE, &n);
		r->bytes = n;
	}
	if (cancelled) {
		MPI_Test_cancelled(st, &flag);
		r->cancelled = flag;
	}
}

// tell calls the completion function of an ended operation, once.
static void tell(slot_state *s, int64_t bytes, int err) {
	completer fn = s->fn;
	s->fn = NULL;
	awaited -= s->awaited;
	s->awaited = 0;
	if (fn != NULL)
		fn(s->cookie, bytes, err);
}

// leave frees the resources of an ended operation.
static void leave(slot_state *s, int64_t bytes, int err) {
	free(s->counts);
	s->counts = NULL;
	if (s->line != NULL)
		weft_line_leave(s->line);
	s->line = NULL;
	tell(s, bytes, err);
}

// ended removes the operation at an index from the list.
static void ended(int at, MPI_Status *st, int err) {
	int slot = slots[at];
	slot_state *s = &states[slot];
	weft_result *r = push(slot);
	read_status(r, st, err, s->cancelled);
	requests[at] = MPI_REQUEST_NULL;
	s->at = -1;
	live--;
	receiving -= s->receives;
	leave(s, r->bytes, r->cancelled ? MPI_ERR_OTHER : r->err);
}

// compact closes the holes.
static void compact(void) {
	int to = 0;
	for (int at = head; at < tail; at++) {
		if (requests[at] == MPI_REQUEST_NULL)
			continue;
		requests[to] = requests[at];
		slots[to] = slots[at];
		states[slots[to]].at = to;
		to++;
	}
	head = moving = 0;
	tail = to;
}

// grow makes room for a slot and for one more request. Without memory it ends the program.
static void grow(int slot) {
	if (slot >= nstates) {
		int n = slot < 32 ? 64 : 2 * slot;
		if ((states = realloc(states, n * sizeof *states)) == NULL)
			weft_abort(1);
		for (; nstates < n; nstates++)
			states[nstates] = (slot_state){.at = -1};
	}
	if (tail == cap && head > 0)
		compact();
	if (tail == cap) {
		cap = cap ? 2 * cap : 512;
		requests = realloc(requests, cap * sizeof *requests);
		slots = realloc(slots, cap * sizeof *slots);
		if (requests == NULL || slots == NULL)
			weft_abort(1);
	}
}

// admit prepares the slot of an operation that is about to start. If C waits for its end,
// it tells C that the operation no longer needs Go.
static slot_state *admit(const weft_op *o) {
	grow(o->slot);
	slot_state *s = &states[o->slot];
	*s = (slot_state){.at = -1, .counts = o->counts, .into = {(char *)o->recv, o->room},
		.receives = o->what == WEFT_RECV || o->what == WEFT_MRECV};
	if (o->fn) {
		s->fn = (completer)o->fn;
		s->cookie = (void *)o->cookie;
		s->awaited = 1;
		awaited++;
		s->fn(s->cookie, -1, 0);
		weft_background_more();
	}
	return s;
}

// enter puts a request on the list.
static void enter(int slot, MPI_Request r) {
	grow(slot);
	requests[tail] = r;
	slots[tail] = slot;
	states[slot].at = tail;
	tail++;
	live++;
	receiving += states[slot].receives;
}

static const weft_op *starting; // the operation being started, or held by weft_do

// better selects the buffer that contains to: preferably one that begins there.
static void better(place *best, const char *to, const char *at, int64_t room) {
	if (room >= 0 && (to == at || (best->at != to && to > at && to < at + room)))
		*best = (place){at, room};
}

size_t weft_room(const char *to, size_t n) {
	place best = {to + n, 0}; // no buffer
	if (starting != NULL)
		better(&best, to, (char *)starting->recv, starting->room);
	for (int i = head; i < tail; i++)
		if (requests[i] != MPI_REQUEST_NULL && !states[slots[i]].cancelled)
			better(&best, to, states[slots[i]].into.at, states[slots[i]].into.room);
	size_t left = best.at + best.room - to;
	return left < n ? left : n;
}

// start_it starts an admitted operation.
static void start_it(const weft_op *o) {
	MPI_Request r;
	starting = o;
	int err = weft_start(o, &r);
	starting = NULL;
	if (err == MPI_SUCCESS && r != MPI_REQUEST_NULL) {
		enter(o->slot, r);
		return;
	}
	push(o->slot)->err = err;
	leave(&states[o->slot], 0, err);
}

// advance starts the parts of messages whose turn has come.
static void advance(void) {
	weft_op o;
	while (weft_line_next(&o))
		start_it(&o);
}

void weft_start_gets(int window) {
	int was = aside;
	aside = 1; // there may be no turn for the results
	weft_line_open(window);
	advance();
	aside = was;
}

static void test_one(int at) {
	MPI_Status st;
	int flag = 0;
	if (requests[at] == MPI_REQUEST_NULL)
		return;
	int err = MPI_Test(&requests[at], &flag, &st);
	if (err != MPI_SUCCESS || flag)
		ended(at, &st, err);
}

// test_these tests n requests: these are requests[places[i]], or, if places is NULL,
// requests[from + i].
static void test_these(MPI_Request *these, const int *places, int from, int n) {
	static MPI_Status statuses[2 * WINDOW];
	static int indices[2 * WINDOW];
	int done = 0;
	int rc = MPI_Testsome(n, these, &done, indices, statuses);
	for (int i = 0; places != NULL && i < n; i++)
		requests[places[i]] = these[i];
	if (rc != MPI_SUCCESS && (done == MPI_UNDEFINED || done <= 0))
		for (int i = 0; i < n; i++)
			test_one(places != NULL ? places[i] : from + i);
	else if (done != MPI_UNDEFINED)
		for (int i = 0; i < done; i++)
			ended(places != NULL ? places[indices[i]] : from + indices[i], &statuses[i], rc == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR);
}

// test_alike tests those of n requests that receive messages, or the others.
static void test_alike(int from, int n, int receives) {
	static MPI_Request these[2 * WINDOW];
	static int places[2 * WINDOW];
	int count = 0;
	for (int at = from; at < from + n; at++)
		if (requests[at] != MPI_REQUEST_NULL && states[slots[at]].receives == receives) {
			these[count] = requests[at];
			places[count++] = at;
		}
	if (count > 0)
		test_these(these, places, from, count);
}

// test_some tests n requests. Receives, which may end with an error, are not tested together
// with others: when one request has an error, MPI_Testsome of Open MPI frees all requests
// whose status holds one, also requests that are in progress, and the status of a send is not
// set before its end, so that it may hold anything. (A failing collective can still take sends
// in progress along: they are tested with it.)
static int test_some(int from, int n) {
	int64_t before = nended;
	if (n == 0)
		return 0;
	if (receiving == 0 || receiving == live) {
		test_these(requests + from, NULL, from, n);
	} else {
		test_alike(from, n, 1);
		test_alike(from, n, 0);
	}
	return nended - before;
}

static void tidy(void) {
	while (head < tail && requests[head] == MPI_REQUEST_NULL)
		head++;
	if (head == tail)
		head = tail = moving = 0;
	else if (tail - head > 2 * live + 2 * WINDOW)
		compact();
}

int weft_all_ended(void) { return live == 0; }

// look_at_all is one round of progress.
static void look_at_all(void) {
	int n = tail - head;
	if (n <= 2 * WINDOW) {
		test_some(head, n);
	} else {
		int found = test_some(head, WINDOW);
		for (int i = 0; i < MOVES && found == 0; i++) {
			if (moving < head + WINDOW || moving >= tail)
				moving = head + WINDOW;
			int m = tail - moving < WINDOW ? tail - moving : WINDOW;
			for (int k = 0; k < PROGRESS; k++) // more requests cost more time
				weft_hear();
			found = test_some(moving, m);
			moving += m;
		}
	}
	tidy();
	if (++turns >= HEAR_EVERY) {
		turns = 0;
		weft_hear();
	}
}

static void look(void) {
	if (live == 0)
		weft_hear(); // which is progress, too
	else
		look_at_all();
	advance();
}

// TELL_ALL is how long a notice may wait for Go, in ns, before C stops waiting.
enum { TELL_ALL = 250000000 };

// forsake ends all waits of C: a communicator was revoked, and Go cannot react, perhaps
// because a reader waits for a page.
static void forsake(void) {
	static int64_t since;
	int64_t now = weft_now();
	if (!weft_mem->news)
		since = 0;
	else if (since == 0)
		since = now;
	if (since == 0 || now - since < TELL_ALL)
		return;
	for (int i = 0; i < nstates; i++)
		if (states[i].awaited)
			tell(&states[i], 0, MPI_ERR_OTHER);
}

int weft_look_aside(void) {
	int64_t before = nended;
	aside = 1;
	look();
	aside = 0;
	forsake();
	return nended - before;
}

int weft_poll(void) {
	WEFT_INSIDE;
	begin_results();
	look();
	return nresults;
}

// start_all starts the first n ops of the shared memory.
static void start_all(int n) {
	begin_results();
	for (int i = 0; i < n; i++) {
		weft_op *o = &weft_mem->ops[i];
		slot_state *s = admit(o);
		int now = 1;
		if (o->line > 0)
			s->line = weft_line_join(o, &now);
		if (now)
			start_it(o);
	}
	advance();
}

int weft_post(int n) {
	WEFT_INSIDE;
	start_all(n);
	return nresults;
}

// open_of returns how many of the first n ops are still in progress.
static int open_of(int n) {
	int open = 0;
	for (int i = 0; i < n; i++) {
		slot_state *s = &states[weft_mem->ops[i].slot];
		open += s->at >= 0 || s->line != NULL;
	}
	return open;
}

int weft_post_wait(int n, int64_t ns) {
	WEFT_INSIDE;
	weft_wait_state p = {0};
	start_all(n);
	while (open_of(n) > 0 && nresults <= WEFT_RESULTS - 2 * WINDOW && !weft_mem->news) {
		look();
		weft_let_in();
		if (weft_pause(&p) > ns)
			break;
	}
	return nresults;
}

int weft_wait(int64_t ns) {
	WEFT_INSIDE;
	weft_wait_state p = {0};
	for (;;) {
		begin_results();
		look();
		if (nresults > 0 || weft_mem->news)
			return nresults;
		weft_let_in();
		if (weft_pause(&p) > ns)
			return 0;
	}
}

static MPI_Request held; // request of weft_do
static int *held_counts;

static int do_ended(MPI_Status *st, int err) {
	weft_result *r = &weft_mem->single;
	starting = NULL;
	r->err = err;
	if (st != NULL && weft_mem->one.what >= WEFT_RECV) // a send has no status
		read_status(r, st, err, 0);
	if (held_counts != NULL) {
		free(held_counts);
		held_counts = NULL;
	}
	return 1;
}

int weft_do_on(void) {
	WEFT_INSIDE;
	weft_wait_state p = {0};
	for (unsigned turn = 1;; turn++) {
		MPI_Status st;
		int flag = 0;
		int err = MPI_Test(&held, &flag, &st);
		if (flag || err != MPI_SUCCESS)
			return do_ended(&st, err);
		if (turn % HEAR_EVERY == 0 || p.naps > 0)
			weft_hear();
		if (weft_mem->news)
			return 0;
		if (weft_line_waiting() > 0) // their requests make no progress by themselves
			weft_look_aside();
		weft_let_in();
		if (weft_pause(&p) > weft_mem->long_wait)
			return 0;
	}
}

int weft_do(char *send, char *recv) {
	WEFT_INSIDE;
	weft_op *o = &weft_mem->one;
	o->send = (uintptr_t)send;
	o->recv = (uintptr_t)recv;
	held_counts = o->counts;
	starting = o;
	int err = weft_start(o, &held);
	if (err != MPI_SUCCESS || held == MPI_REQUEST_NULL)
		return do_ended(NULL, err);
	return weft_do_on();
}

int weft_do_keep(int slot) {
	WEFT_INSIDE;
	weft_mem->one.slot = slot;
	weft_mem->one.fn = 0;
	admit(&weft_mem->one);
	enter(slot, held);
	held_counts = NULL;
	starting = NULL;
	return 0;
}

void weft_cancel(int slot) {
	WEFT_INSIDE;
	slot_state *s = &states[slot];
	if (slot < nstates && s->at >= 0) {
		s->cancelled = 1;
		MPI_Cancel(&requests[s->at]);
	}
}

void weft_drop(int slot) {
	WEFT_INSIDE;
	slot_state *s = &states[slot];
	if (slot >= nstates || s->line == NULL || s->at >= 0 || !weft_line_drop(s->line, slot))
		return;
	s->line = NULL;
	weft_result *r = keep_one();
	*r = (weft_result){.slot = slot, .cancelled = 1};
	leave(s, 0, MPI_ERR_OTHER);
}

int weft_probe(int comm, int hidden, int peer, int tag, int take, int *found, int *message, weft_result *r) {
	WEFT_INSIDE;
	MPI_Comm c = hidden ? weft_comms[comm].hidden : weft_comms[comm].visible;
	MPI_Status st;
	MPI_Message m = MPI_MESSAGE_NULL;
	int rc;
	*found = 0;
	if (take)
		rc = MPI_Improbe(weft_peer(peer), weft_tag(tag), c, found, &m, &st);
	else
		rc = MPI_Iprobe(weft_peer(peer), weft_tag(tag), c, found, &st);
	if (rc != MPI_SUCCESS || !*found)
		return rc;
	read_status(r, &st, MPI_SUCCESS, 0);
	if (take && (*message = weft_add_message(m)) < 0)
		return MPI_ERR_NO_MEM;
	return MPI_SUCCESS;
}

int weft_unmatched(int comm, int hidden, weft_result *r) {
	WEFT_INSIDE;
	int found = 0, message;
	if (weft_comms[comm].size == 0)
		return 0;
	int rc = weft_probe(comm, hidden, WEFT_ANY, WEFT_ANY, 0, &found, &message, r);
	return rc == MPI_SUCCESS && found;
}
