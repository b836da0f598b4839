//go:build mpi && cgo

// Start, end, and version of the library.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

weft_shared *weft_mem;
MPI_Comm weft_control;

enum { SIGNALS = 65 };

static struct sigaction before[SIGNALS];

static void remember_signals(void) {
	for (int s = 1; s < SIGNALS; s++)
		if (sigaction(s, NULL, &before[s]) != 0)
			before[s].sa_handler = SIG_ERR;
}

// restore_signals restores every handler that MPI has replaced: Go needs its own, on its
// own stacks.
static void restore_signals(void) {
	for (int s = 1; s < SIGNALS; s++) {
		struct sigaction now;
		if (before[s].sa_handler == SIG_ERR || sigaction(s, NULL, &now) != 0)
			continue;
		if (now.sa_handler != before[s].sa_handler || now.sa_flags != before[s].sa_flags)
			sigaction(s, &before[s], NULL);
	}
}

int weft_init(int *rank, int *size, int *max_tag, weft_shared **shared) {
	int provided = 0, flag = 0, *bound = NULL, world;
	remember_signals();
	weft_background_init();
	int rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
	restore_signals();
	if (rc != MPI_SUCCESS)
		return rc;
	if (provided < MPI_THREAD_SERIALIZED)
		return -1;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	weft_mem = calloc(1, sizeof *weft_mem);
	if (weft_mem == NULL)
		return MPI_ERR_NO_MEM;
	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	MPI_Comm_size(MPI_COMM_WORLD, size);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
	*max_tag = flag ? *bound : 32767;
	*shared = weft_mem;
	if ((rc = weft_base_types()) != MPI_SUCCESS || (rc = weft_new_comm(MPI_COMM_WORLD, &world)) != MPI_SUCCESS)
		return rc;
	if ((rc = MPI_Comm_dup(MPI_COMM_WORLD, &weft_control)) != MPI_SUCCESS)
		return rc;
	MPI_Comm_set_errhandler(weft_control, MPI_ERRORS_RETURN);
	if ((rc = weft_survey()) != MPI_SUCCESS)
		return rc;
	return weft_listen();
}

// weft_together makes the ranks enter MPI_Finalize together, after a while in which all
// of them make progress. MPICH 4.0 over UCX needs it between hosts: there a rank closes its
// connections, and then waits in the launcher's barrier without progress; another rank that
// still closes its own may wait for it for ever. Seen on two hosts with TCP in 2 to 9 of 10
// runs without, in 0 of 20 with. With two ranks on each host it does not suffice, nor on a busy
// machine, where a rank enters late: Finalize in Go then leaves without MPI_Finalize. (MPICH has
// no such barrier since pull request 6596, of 2023.)
static void weft_together(void) {
#if defined(MPICH_VERSION)
	MPI_Barrier(MPI_COMM_WORLD);
	for (double start = MPI_Wtime(); MPI_Wtime() - start < 0.1;) {
		int found;
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	}
#endif
}

void weft_before_finalize(void) {
	weft_background_stop();
	weft_deaf();
	MPI_Comm_free(&weft_comms[0].hidden);
	MPI_Comm_free(&weft_control);
	weft_together();
}

int weft_finalize(void) { return MPI_Finalize(); }

void weft_abort(int code) {
	MPI_Abort(MPI_COMM_WORLD, code);
	_exit(code);
}

int weft_begun(void) {
	int begun = 0, ended = 0;
	MPI_Initialized(&begun);
	MPI_Finalized(&ended);
	return begun && !ended;
}

void weft_leave(int code) { _exit(code); }

void weft_built(char *text, int n) {
#if defined(OMPI_MAJOR_VERSION)
	snprintf(text, n, "Open MPI %d.%d.%d", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
	snprintf(text, n, "MPICH %s", MPICH_VERSION);
#else
	snprintf(text, n, "MPI %d.%d", MPI_VERSION, MPI_SUBVERSION);
#endif
}

void weft_running(char *text, int n) {
	char all[MPI_MAX_LIBRARY_VERSION_STRING];
	int len = 0;
	MPI_Get_library_version(all, &len);
	snprintf(text, n, "%s", all);
}

int weft_unsigned_order(void) {
	uint8_t a = 200, b = 3, low = 200;
	uint64_t c = (uint64_t)1 << 63, d = 3;
	MPI_Reduce_local(&a, &b, 1, MPI_UINT8_T, MPI_MAX);
	MPI_Reduce_local(&b, &low, 1, MPI_UINT8_T, MPI_MIN);
	MPI_Reduce_local(&c, &d, 1, MPI_UINT64_T, MPI_MAX);
	return b == 200 && low == 200 && d == c;
}

int weft_class(int err) {
	int class = MPI_ERR_OTHER;
	MPI_Error_class(err, &class);
	switch (class) {
	case MPI_ERR_TRUNCATE: return WEFT_TRUNCATE;
	case MPI_ERR_RANK: case MPI_ERR_ROOT: return WEFT_RANK;
	case MPI_ERR_TAG: return WEFT_TAG;
	case MPI_ERR_COUNT: return WEFT_COUNT;
	case MPI_ERR_BUFFER: return WEFT_BUFFER;
	case MPI_ERR_TYPE: case MPI_ERR_OP: return WEFT_TYPE;
	case MPI_ERR_RMA_RANGE: case MPI_ERR_RMA_SYNC: case MPI_ERR_RMA_CONFLICT: case MPI_ERR_DISP: return WEFT_WINDOW;
	}
	return WEFT_OTHER;
}

void weft_text(int err, char *text, int n) {
	char all[MPI_MAX_ERROR_STRING] = "";
	int len = 0;
	if (err == -1)
		snprintf(all, sizeof all, "the library does not offer MPI_THREAD_SERIALIZED");
	else
		MPI_Error_string(err, all, &len);
	snprintf(text, n, "%s", all);
}

static int64_t read_clock(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t weft_now(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t weft_cpu_time(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

void weft_nap(int64_t ns) {
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	nanosleep(&t, NULL);
}
