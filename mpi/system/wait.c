//go:build mpi && cgo

// The pauses of a loop that waits in C, between its tests of MPI. It tests without a pause
// for 20 us; then it also yields the core every 32 tests (sched_yield), which costs nothing
// on an idle core. With more ranks than cores, it yields after every test, from the start.
// If a yield takes longer than half a millisecond, twice in a row, another thread computes
// on this core: then the loop sleeps between its tests, 25 times the cost of a timer's
// wake-up, and yields again every eighth time to check whether the core is free. So a
// waiting rank with its own core stays awake, and one that shares its core takes at most
// some percent of it.

#include <sched.h>
#include <stdlib.h>

#include "state.h"

enum {
	GLANCE = 32, // tests between checks of the clock
	POLITE = 20000, // ns of testing before a yield, which costs 0.3 us
	COMPUTES = 500000, // ns of a yield on a core with another computing thread
	SURE = 2,                                  // such yields, one after another
	AWAKE = 4, // tests between naps
	AGAIN = 8, // naps before a yield that tests for other threads
	SHARE = 25,                                // a nap, in costs of a timer's wake-up
	SHORTEST_NAP = 200000, LONGEST_NAP = 1000000 // ns
};

static int crowded; // more ranks than cores

// weft_survey counts the ranks that share cores with this one, and these cores.
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

// nap sleeps long enough that wake-ups take at most 4 % of the core.
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

int64_t weft_pause(weft_wait_state *p) {
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
	static weft_wait_state p;
	if (fresh)
		p = (weft_wait_state){0};
	weft_pause(&p);
}
