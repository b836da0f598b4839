//go:build mpi && cgo

// What a loop that waits does between its looks at MPI. A thread that has its core to
// itself looks again at once, and lets others have the core now and then: sched_yield
// returns at once if nobody wants it. If it takes long, somebody computes on this core,
// and the thread sleeps between its looks, so rarely that its wake-ups cost little. If there
// are more ranks than cores, it yields after every look.

#include <sched.h>
#include <stdlib.h>

#include "state.h"

enum {
	GLANCE = 32,                               // looks between looks at the clock
	POLITE = 20000,                            // ns of looking before a yield, which costs 0.3 us
	COMPUTES = 500000,                         // ns that a yield takes beside who computes
	SURE = 2,                                  // such yields, one after another
	AWAKE = 4,                                 // looks between naps
	AGAIN = 8,                                 // naps, after which it yields to see who is there
	SHARE = 25,                                // a nap, in costs of a timer's wake-up
	SHORTEST_NAP = 200000, LONGEST_NAP = 1000000 // ns
};

static int crowded; // more ranks than cores

// weft_survey counts the ranks that may run on the cores of this one, and these cores.
int weft_survey(void) {
	MPI_Comm here;
	int n, ranks = 0;
	cpu_set_t cores, common, *all;
	int rc = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	if (rc != MPI_SUCCESS)
		return rc;
	MPI_Comm_size(here, &n);
	if ((all = calloc(n, sizeof *all)) == NULL)
		return MPI_ERR_NO_MEM;
	rc = MPI_Allgather(&weft_mask, sizeof weft_mask, MPI_BYTE, all, sizeof weft_mask, MPI_BYTE, here);
	CPU_ZERO(&cores);
	for (int i = 0; i < n; i++) {
		CPU_AND(&common, &all[i], &weft_mask);
		if (CPU_COUNT(&common) == 0)
			continue;
		ranks++;
		CPU_OR(&cores, &cores, &all[i]);
	}
	crowded = ranks > CPU_COUNT(&cores);
	free(all);
	MPI_Comm_free(&here);
	return rc;
}

// nap sleeps for so long that waking up takes at most 4 % of the core.
static void nap(void) {
	enum { TRIES = 4, TRY = 20000 };
	static int64_t length;
	if (length == 0) {
		int64_t begin = weft_cpu_time();
		for (int i = 0; i < TRIES; i++)
			weft_nap(TRY);
		length = SHARE * (weft_cpu_time() - begin) / TRIES;
		length = length < SHORTEST_NAP ? SHORTEST_NAP : length > LONGEST_NAP ? LONGEST_NAP : length;
	}
	weft_nap(length);
}

int64_t weft_linger(weft_patience *p) {
	p->turn++;
	if (p->long_yields >= SURE) {
		if (p->turn % AWAKE != 0)
			return 0;
		if (++p->naps % AGAIN != 0) {
			nap();
			return weft_now() - p->began;
		}
	} else if (!crowded && p->turn % GLANCE != 0) {
		return 0;
	}
	int64_t now = weft_now();
	if (p->began == 0)
		p->began = p->yielded = now;
	if (!crowded && now - p->yielded < POLITE)
		return now - p->began;
	sched_yield();
	int64_t after = p->yielded = weft_now();
	p->long_yields = after - now < COMPUTES ? 0 : p->long_yields + 1;
	return after - p->began;
}

void weft_idle(int fresh) {
	static weft_patience p;
	if (fresh)
		p = (weft_patience){0};
	weft_linger(&p);
}
