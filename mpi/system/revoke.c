//go:build mpi && cgo

// Revocations: notices on a separate communicator, on which every rank always listens.
// [mpi.Comm.Revoke] sends one to each member; a member that receives it completes all calls
// on that communicator with mpi.ErrRevoked. Receives are cancelled. MPI cannot cancel sends
// and collectives: they are abandoned, their buffers stay pinned, and the end of the
// program waits for them for a bounded time. A rank receives a notice only inside engine
// calls, within some milliseconds of a wait.

#include <stdlib.h>
#include <string.h>

#include "state.h"

typedef struct {
	uint64_t key;
	char reason[WEFT_REASON];
} notice;

static notice heard;
static MPI_Request listening = MPI_REQUEST_NULL;

// sent is a notice in transit to many ranks.
typedef struct sent {
	struct sent *next;
	int n;
	notice what;
	MPI_Request requests[];
} sent;

static sent *going;

int weft_listen(void) {
	int rc = MPI_Recv_init(&heard, sizeof heard, MPI_BYTE, MPI_ANY_SOURCE, 0, weft_control, &listening);
	return rc == MPI_SUCCESS ? MPI_Start(&listening) : rc;
}

void weft_deaf(void) {
	int done = 0;
	MPI_Test(&listening, &done, MPI_STATUS_IGNORE);
	if (!done) {
		MPI_Cancel(&listening);
		MPI_Wait(&listening, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&listening);
}

// weft_hear records whether a notice has arrived, which stays until weft_news takes it.
void weft_hear(void) {
	int done = 0;
	if (!weft_mem->news && MPI_Test(&listening, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
		weft_mem->news = 1;
}

int weft_news(uint64_t *key, char *reason) {
	WEFT_INSIDE;
	weft_hear();
	if (!weft_mem->news)
		return 0;
	*key = heard.key;
	memcpy(reason, heard.reason, WEFT_REASON);
	weft_mem->news = 0;
	MPI_Start(&listening);
	return 1;
}

void weft_revoke(uint64_t key, int n, const int *world, const char *reason) {
	WEFT_INSIDE;
	sent *s = calloc(1, sizeof *s + n * sizeof *s->requests);
	if (s == NULL)
		weft_abort(1);
	s->n = n;
	s->what.key = key;
	strncpy(s->what.reason, reason, WEFT_REASON - 1);
	for (int i = 0; i < n; i++)
		if (MPI_Isend(&s->what, sizeof s->what, MPI_BYTE, world[i], 0, weft_control, &s->requests[i]) != MPI_SUCCESS)
			s->requests[i] = MPI_REQUEST_NULL;
	s->next = going;
	going = s;
}

int weft_revoking(void) {
	WEFT_INSIDE;
	int left = 0;
	for (sent **p = &going; *p != NULL;) {
		sent *s = *p;
		int gone = 0;
		for (int i = 0; i < s->n; i++) {
			int done = 1;
			if (s->requests[i] != MPI_REQUEST_NULL)
				MPI_Test(&s->requests[i], &done, MPI_STATUS_IGNORE);
			gone += done;
		}
		if (gone == s->n) {
			*p = s->next;
			free(s);
			continue;
		}
		left++;
		p = &s->next;
	}
	return left;
}
