//go:build ignore

// Two threads, pinned on two cores, wake each other in turn through two futex
// words: what a wake-up costs without any runtime. Each hand-over is timed one
// way, from before the waker's store to after the sleeper's return.
//
//	peer HANDOVERS CORE CORE
//
// prints "median_us min_us". The first line keeps the go command from taking
// this file for a part of the package.

#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct side {
	_Alignas(128) atomic_int word; // 1: it is this side's turn
	int core;
};

static struct side sides[2];
static _Alignas(128) int64_t sent; // written by the waker before it hands over
static int64_t *took;              // ns per hand-over
static int handovers;

static int64_t now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void hand_over(struct side *to)
{
	sent = now();
	atomic_store(&to->word, 1);
	syscall(SYS_futex, &to->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_turn(struct side *me)
{
	while (atomic_load(&me->word) == 0)
		syscall(SYS_futex, &me->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	atomic_store(&me->word, 0);
}

static void *play(void *arg)
{
	int who = (int)(intptr_t)arg;
	struct side *me = &sides[who], *other = &sides[1 - who];
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(me->core, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0) {
		perror("peer: pin");
		exit(1);
	}
	// Side 1 makes the even hand-overs' sleeper, side 0 the odd ones'.
	for (int i = 0; i < handovers; i++) {
		if (i % 2 == who) {
			hand_over(other);
		} else {
			await_turn(me);
			took[i] = now() - sent;
		}
	}
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	if (argc != 4 || (handovers = atoi(argv[1])) < 1) {
		fprintf(stderr, "usage: peer HANDOVERS CORE CORE\n");
		return 2;
	}
	took = calloc(handovers, sizeof *took);
	if (took == NULL)
		return 1;
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		sides[i].core = atoi(argv[2 + i]);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, play, (void *)(intptr_t)i) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	qsort(took, handovers, sizeof *took, by_size);
	printf("%.3f %.3f\n", took[handovers / 2] / 1e3, took[0] / 1e3);
	return 0;
}
