//go:build mpi && cgo

// Progress without Go. While C waits for the ends of operations (readers sleep on the pages
// that they fill), a thread of C polls beside Go: a stopped world cannot delay them. From
// then on one mutex lets one thread at a time into MPI, as MPI_THREAD_SERIALIZED requires.
// A call from Go takes and releases it, and releases it between rounds while it waits.

#include "state.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

enum {
	EAGER = 100000,                     // ns after an end in which the next one is polled for without a pause
	FIRST_PAUSE = 20000, PAUSE = 200000 // ns between polls afterwards
};

static pthread_mutex_t big;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static int running, stop; // running changes inside the engine only
cpu_set_t weft_mask;

void weft_background_init(void) {
	CPU_ZERO(&weft_mask);
	sched_getaffinity(0, sizeof weft_mask, &weft_mask);
}

int weft_in(void) {
	if (!running)
		return 0;
	pthread_mutex_lock(&big);
	return 1;
}

void weft_out(int *in) {
	if (*in)
		pthread_mutex_unlock(&big);
}

void weft_let_in(void) {
	if (!running)
		return;
	pthread_mutex_unlock(&big);
	sched_yield();
	pthread_mutex_lock(&big);
}

void weft_background_more(void) {
	if (running)
		pthread_cond_signal(&more);
}

static void *poll_on(void *arg) {
	int64_t last = weft_now(), pause = FIRST_PAUSE;
	(void)arg;
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	prctl(PR_SET_NAME, "weft-progress", 0, 0, 0);
	pthread_mutex_lock(&big);
	while (!stop) {
		if (weft_waited_for() == 0) {
			pthread_cond_wait(&more, &big);
			last = weft_now();
			continue;
		}
		int ended = weft_look_aside();
		pthread_mutex_unlock(&big);
		int64_t now = weft_now();
		if (ended > 0)
			last = now, pause = FIRST_PAUSE;
		if (now - last > EAGER) {
			weft_nap(pause);
			pause = pause < PAUSE / 2 ? 2 * pause : PAUSE;
		} else {
			sched_yield();
		}
		pthread_mutex_lock(&big);
	}
	pthread_mutex_unlock(&big);
	return NULL;
}

int weft_background_start(void) {
	pthread_mutexattr_t recursive;
	pthread_attr_t attr;
	sigset_t all, old;
	if (running)
		return 0;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&big, &recursive);
	pthread_attr_init(&attr);
	if (CPU_COUNT(&weft_mask) > 0)
		pthread_attr_setaffinity_np(&attr, sizeof weft_mask, &weft_mask);
	sigfillset(&all); // signals belong to threads of Go
	pthread_sigmask(SIG_SETMASK, &all, &old);
	stop = 0;
	running = 1;
	int err = pthread_create(&thread, &attr, poll_on, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (err)
		running = 0;
	return err;
}

void weft_background_stop(void) {
	if (!running)
		return;
	pthread_mutex_lock(&big);
	stop = 1;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&big);
	pthread_join(thread, NULL);
	running = 0;
}
