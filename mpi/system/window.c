//go:build mpi && cgo

// Windows: a passive epoch for their lifetime. The words, which only this file writes, are
// a second window.

#include <stdlib.h>
#include <string.h>

#include "state.h"

weft_win *weft_wins;
static int wins;

static int win_used(int i) { return weft_wins[i].base != NULL; }

static int open_window(MPI_Win w) {
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	return MPI_Win_lock_all(0, w);
}

// create_data opens the user's memory, and tells all ranks its beginning: MPICH 4.0 moves
// the beginning of a window that lies close after another one.
static int create_data(weft_win *w, MPI_Comm c, char *base, int64_t bytes) {
	int found = 0;
	char *begin = NULL;
	int rc = MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, c, &w->data);
	if (rc != MPI_SUCCESS)
		return rc;
	MPI_Win_get_attr(w->data, MPI_WIN_BASE, &begin, &found);
	int64_t shift = found && bytes > 0 ? base - begin : 0;
	MPI_Comm_size(c, &w->ranks);
	if ((w->shift = malloc(w->ranks * sizeof *w->shift)) == NULL)
		return MPI_ERR_NO_MEM;
	rc = MPI_Allgather(&shift, 1, MPI_INT64_T, w->shift, 1, MPI_INT64_T, c);
	return rc == MPI_SUCCESS ? open_window(w->data) : rc;
}

int weft_win_create(int comm, char *base, int64_t bytes, int size, int *out) {
	WEFT_INSIDE;
	MPI_Comm c = weft_comms[comm].hidden;
	int64_t *words = NULL;
	int i = weft_take_number((void **)&weft_wins, &wins, sizeof *weft_wins, win_used);
	if (i < 0)
		return MPI_ERR_NO_MEM;
	weft_win *w = &weft_wins[i];
	w->element = size;
	int rc = create_data(w, c, base, bytes);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_allocate(WEFT_WORDS * sizeof *words, sizeof *words, MPI_INFO_NULL, c, &words, &w->words);
	if (rc != MPI_SUCCESS)
		return rc;
	memset(words, 0, WEFT_WORDS * sizeof *words);
	w->base = words;
	rc = open_window(w->words);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_sync(w->words);
	*out = i;
	return rc == MPI_SUCCESS ? MPI_Barrier(c) : rc;
}

// place returns the offset of element at of the target.
static MPI_Aint place(const weft_win *w, int target, int64_t at) {
	return (MPI_Aint)at * w->element + w->shift[target];
}

int weft_win_free(int win) {
	WEFT_INSIDE;
	weft_win *w = &weft_wins[win];
	weft_start_gets(win);
	MPI_Win_unlock_all(w->words);
	MPI_Win_unlock_all(w->data);
	int rc = MPI_Win_free(&w->words);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_free(&w->data);
	free(w->shift);
	w->shift = NULL;
	w->base = NULL;
	return rc;
}

void weft_win_sync(int win) {
	WEFT_INSIDE;
	MPI_Win_sync(weft_wins[win].data);
}

int weft_word_add(int win, int target, int word, int64_t n, int64_t *old) {
	WEFT_INSIDE;
	MPI_Win w = weft_wins[win].words;
	int rc = MPI_Fetch_and_op(&n, old, MPI_INT64_T, target, word, n == 0 ? MPI_NO_OP : MPI_SUM, w);
	return rc == MPI_SUCCESS ? MPI_Win_flush(target, w) : rc;
}

int weft_get_now(int win, int target, int64_t at, int64_t n, int type, char *to) {
	WEFT_INSIDE;
	weft_win *w = &weft_wins[win];
	MPI_Datatype t = weft_types[type];
	int rc = MPI_Get(to, n, t, target, place(w, target, at), n, t, w->data);
	return rc == MPI_SUCCESS ? MPI_Win_flush(target, w->data) : rc;
}

int weft_put_now(int win, int target, int64_t at, int64_t n, int type, const char *from) {
	WEFT_INSIDE;
	weft_win *w = &weft_wins[win];
	MPI_Datatype t = weft_types[type];
	int rc = MPI_Put(from, n, t, target, place(w, target, at), n, t, w->data);
	return rc == MPI_SUCCESS ? MPI_Win_flush(target, w->data) : rc;
}

// notify puts, completes the put, and then increments the counter.
static int notify(const weft_op *o) {
	weft_win *w = &weft_wins[o->win];
	int64_t old;
	int rc = MPI_SUCCESS;
	if (o->scount > 0)
		rc = MPI_Put((void *)o->send, o->scount, weft_types[o->stype], o->peer, place(w, o->peer, o->at), o->rcount, weft_types[o->rtype], w->data);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_flush(o->peer, w->data);
	return rc == MPI_SUCCESS ? weft_word_add(o->win, o->peer, WEFT_WORD_NOTIFY + o->tag, 1, &old) : rc;
}

// flush_all completes the accesses of this rank, target by target: MPI_Win_flush_all of
// MPICH 4.0 returns while replies to gets are still on their way.
static int flush_all(const weft_win *w) {
	int rc = MPI_SUCCESS;
	for (int i = 0; i < w->ranks && rc == MPI_SUCCESS; i++)
		rc = MPI_Win_flush(i, w->data);
	return rc;
}

int weft_flush(const weft_op *o) {
	WEFT_INSIDE;
	weft_win *w = &weft_wins[o->win];
	weft_start_gets(o->win);
	if (o->peer != WEFT_ALL)
		return MPI_Win_flush(o->peer, w->data);
	return flush_all(w);
}

static int fence(const weft_op *o, MPI_Request *r) {
	weft_win *w = &weft_wins[o->win];
	weft_start_gets(o->win);
	int rc = MPI_Win_sync(w->data);
	if (rc == MPI_SUCCESS)
		rc = flush_all(w);
	return rc == MPI_SUCCESS ? MPI_Ibarrier(weft_comms[o->comm].hidden, r) : rc;
}

// get_gapped gets into a buffer with gaps. It waits, because MPICH 4.0 completes the
// requests of such accesses too early.
static int get_gapped(const weft_op *o, MPI_Aint at) {
	MPI_Win w = weft_wins[o->win].data;
	int rc = MPI_Get((void *)o->recv, o->rcount, weft_types[o->rtype], o->peer, at, o->scount, weft_types[o->stype], w);
	return rc == MPI_SUCCESS ? MPI_Win_flush(o->peer, w) : rc;
}

// accumulate returns when its buffer may be reused. It waits for that, because in Open MPI
// 4.1 requests of MPI_Raccumulate let accesses of one rank to one place overtake each
// other.
static int accumulate(const weft_op *o, MPI_Aint at) {
	MPI_Win w = weft_wins[o->win].data;
	int rc = MPI_Accumulate((void *)o->send, o->scount, weft_types[o->stype], o->peer, at, o->rcount, weft_types[o->rtype], weft_ops_table[o->op], w);
	return rc == MPI_SUCCESS ? MPI_Win_flush_local(o->peer, w) : rc;
}

// start_access starts an access to the memory of one target.
static int start_access(const weft_op *o, MPI_Request *r) {
	weft_win *w = &weft_wins[o->win];
	MPI_Aint at = place(w, o->peer, o->at);
	MPI_Datatype st = weft_types[o->stype], rt = weft_types[o->rtype];
	if (o->what == WEFT_PUT)
		return MPI_Rput((void *)o->send, o->scount, st, o->peer, at, o->rcount, rt, w->data, r);
	if (o->what == WEFT_ACCUMULATE)
		return accumulate(o, at);
	if (o->flags & WEFT_GAPPED)
		return get_gapped(o, at);
	return MPI_Rget((void *)o->recv, o->rcount, rt, o->peer, at, o->scount, st, w->data, r);
}

int weft_start_window(const weft_op *o, MPI_Request *r) {
	switch (o->what) {
	case WEFT_NOTIFY:
		return notify(o);
	case WEFT_FLUSH:
		return weft_flush(o);
	case WEFT_FENCE:
		return fence(o, r);
	}
	return start_access(o, r);
}
