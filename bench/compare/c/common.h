/* What the peers have in common: a clock, a core to stay on, medians, memory. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* stay keeps the calling thread on the last core that it may use: the first one has
 * most of the interrupts. */
static inline void stay(void)
{
	cpu_set_t allowed, one;
	if (sched_getaffinity(0, sizeof allowed, &allowed))
		return;
	for (int i = CPU_SETSIZE - 1; i >= 0; i--)
		if (CPU_ISSET(i, &allowed)) {
			CPU_ZERO(&one);
			CPU_SET(i, &one);
			sched_setaffinity(0, sizeof one, &one);
			return;
		}
}

static inline int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static inline double median(double *v, int n)
{
	qsort(v, n, sizeof *v, by_size);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* room is memory in huge pages where the system gives any, as weft's is: they halve the
 * time of a message of 64 KiB that one process copies out of another. */
static inline void *room(size_t bytes)
{
	const size_t huge = 2 << 20;
	bytes = (bytes / huge + 1) * huge;
	void *p = aligned_alloc(huge, bytes);
	if (!p) {
		fprintf(stderr, "no memory for %zu bytes\n", bytes);
		exit(1);
	}
	madvise(p, bytes, MADV_HUGEPAGE);
	return memset(p, 0, bytes);
}

/* noise fills a vector with numbers in [-0.5, 0.5). */
static inline void noise(double *v, size_t n)
{
	unsigned long long x = 88172645463325252u;
	for (size_t i = 0; i < n; i++) {
		x ^= x << 13; /* xorshift64 of Marsaglia */
		x ^= x >> 7;
		x ^= x << 17;
		v[i] = (double)(x >> 11) / 9007199254740992.0 - 0.5;
	}
}
