//go:build mpi && cgo

// Parts of messages that are sent, or of gets that are read, one after the other. A library
// with all parts of a message in flight shares the link among them, and all end together; a
// reader that could begin with the first part waits for the last. Parts of 0.5 MB over
// 1 Gbit/s arrived after 5, 9, 13 ... 71 ms instead of all after 70. So of the sends marked as
// parts ([mpi.Call].InLine) with the same communicator, receiver and tag, and of the gets with
// the same window and target, only as many are in flight as the mark says. C starts the others
// when earlier ones have ended; every wait and poll advances them, and so does the thread that
// polls beside Go. As the sends have one tag, a receive cannot match a later part before an
// earlier one: holding parts back delays no receive that would have matched. What completes the
// accesses to a window (flush, fence, unlock, free) first starts the gets that are held back. A
// part that has not been started when its communicator is revoked is not sent or read.

#include <stdint.h>
#include <stdlib.h>

#include "state.h"

typedef struct part { struct part *next; weft_op op; } part;

struct weft_line {
	weft_line *next;
	int comm, peer, tag;
	int window; // of gets: its number + 1; 0: of sends
	int under_way;
	part *first, **end; // held back, in order
};

static weft_line *lines;
static int waiting; // parts held back
static int free_places; // one of them may start

int weft_line_waiting(void) { return waiting; }

static weft_line *find(const weft_op *o) {
	weft_line *l;
	int window = o->what == WEFT_GET ? o->win + 1 : 0;
	for (l = lines; l != NULL; l = l->next)
		if (l->comm == o->comm && l->peer == o->peer && l->tag == o->tag && l->window == window)
			return l;
	if ((l = calloc(1, sizeof *l)) == NULL)
		weft_abort(1);
	*l = (weft_line){.next = lines, .comm = o->comm, .peer = o->peer, .tag = o->tag, .window = window, .end = &l->first};
	return lines = l;
}

static void free_if_empty(weft_line *l) {
	if (l->under_way > 0 || l->first != NULL)
		return;
	weft_line **p = &lines;
	while (*p != l)
		p = &(*p)->next;
	*p = l->next;
	free(l);
}

weft_line *weft_line_join(const weft_op *o, int *now) {
	weft_line *l = find(o);
	*now = l->first == NULL && l->under_way < o->line;
	if (*now) {
		l->under_way++;
		return l;
	}
	part *p = malloc(sizeof *p);
	if (p == NULL)
		weft_abort(1);
	*p = (part){.op = *o};
	*l->end = p;
	l->end = &p->next;
	waiting++;
	return l;
}

void weft_line_leave(weft_line *l) {
	l->under_way--;
	free_places |= l->first != NULL;
	free_if_empty(l);
}

int weft_line_next(weft_op *o) {
	for (weft_line *l = lines; free_places && l != NULL; l = l->next) {
		part *p = l->first;
		if (p == NULL || l->under_way >= p->op.line)
			continue;
		*o = p->op;
		if ((l->first = p->next) == NULL)
			l->end = &l->first;
		l->under_way++;
		waiting--;
		free(p);
		return 1;
	}
	return free_places = 0;
}

void weft_line_open(int window) {
	for (weft_line *l = lines; l != NULL; l = l->next)
		if (l->window == window + 1)
			for (part *p = l->first; p != NULL; p = p->next) {
				p->op.line = INT32_MAX;
				free_places = 1;
			}
}

int weft_line_drop(weft_line *l, int slot) {
	for (part **p = &l->first; *p != NULL; p = &(*p)->next) {
		part *gone = *p;
		if (gone->op.slot != slot)
			continue;
		if ((*p = gone->next) == NULL)
			l->end = p;
		waiting--;
		free(gone);
		free_if_empty(l);
		return 1;
	}
	return 0;
}
