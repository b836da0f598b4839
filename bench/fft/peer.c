//go:build ignore

/* The peer: FFTW on the same transform.
 *
 *   peer contiguous|interleaved N BATCH IN_PLACE ROUNDS_PER_CALL
 *   peer dims N0 N1 N2 IN_PLACE ROUNDS_PER_CALL
 *
 * With THREADS defined above 1, FFTW uses so many threads. It plans (FFTW_MEASURE), prints "ready", and then, for every line it reads, runs
 * the forward transform ROUNDS_PER_CALL times and prints the seconds of one. */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
	if (argc < 6)
		return 2;
	int cube = !strcmp(argv[1], "dims");
	int interleaved = !strcmp(argv[1], "interleaved");
	int a = atoi(argv[2]), b = atoi(argv[3]), c = cube ? atoi(argv[4]) : 1;
	int in_place = atoi(argv[argc - 2]), rounds = atoi(argv[argc - 1]);
	size_t all = (size_t)a * b * c;
	fftw_complex *in = fftw_malloc(sizeof *in * all);
	fftw_complex *out = in_place ? in : fftw_malloc(sizeof *out * all);
	fftw_plan p;
#if THREADS > 1
	if (!fftw_init_threads())
		return 1;
	fftw_plan_with_nthreads(THREADS);
#endif
	if (cube)
		p = fftw_plan_dft_3d(a, b, c, in, out, FFTW_FORWARD, FFTW_MEASURE);
	else if (interleaved)
		p = fftw_plan_many_dft(1, &a, b, in, NULL, b, 1, out, NULL, b, 1, FFTW_FORWARD, FFTW_MEASURE);
	else
		p = fftw_plan_many_dft(1, &a, b, in, NULL, 1, a, out, NULL, 1, a, FFTW_FORWARD, FFTW_MEASURE);
	if (!p)
		return 1;
	memset(in, 0, sizeof *in * all);
	memset(out, 0, sizeof *out * all);
	puts("ready");
	fflush(stdout);
	char line[64];
	while (fgets(line, sizeof line, stdin)) {
		double start = now();
		for (int i = 0; i < rounds; i++)
			fftw_execute(p);
		printf("%.9e\n", (now() - start) / rounds);
		fflush(stdout);
	}
	return 0;
}
