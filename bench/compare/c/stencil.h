/* The graph that the task peers run: a row of WIDTH points for STEPS steps. The task
 * (t, x) reads points x-1, x, x+1 of step t-1, checks that they are those, works, and
 * writes point x of step t. Points are kept for two steps in turn. */
#include "common.h"

struct point {
	long step, place;
	char rest[112]; /* a cache line pair for each */
};

static struct point *points;
static long width, steps, iterations, wrong;

static struct point *at(long t, long x) { return points + (t & 1) * width + x; }

/* work iterates a = a a + a on 64 doubles, as Task Bench does: 128 operations. The
 * starts lie in (-1, 0), where the map stays. */
static double work(long n)
{
	double a[64], sum = 0;
	for (int i = 0; i < 64; i++)
		a[i] = -0.5 - i / 128.0;
	for (long k = 0; k < n; k++)
		for (int i = 0; i < 64; i++)
			a[i] = a[i] * a[i] + a[i];
	for (int i = 0; i < 64; i++)
		sum += a[i];
	return sum;
}

static void expect(const struct point *p, long t, long x)
{
	if (p->step != t || p->place != x)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void body(long t, long x)
{
	for (long q = x - 1; q <= x + 1; q++)
		if (t > 0 && q >= 0 && q < width)
			expect(at(t - 1, q), t - 1, q);
	double sum = work(iterations);
	if (!(sum <= 0 && sum >= -64))
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	at(t, x)->step = t;
	at(t, x)->place = x;
}

/* rate is the GFLOP/s of work on one core. */
static double rate(void)
{
	double best = 1e30;
	long n = 20000;
	volatile double sink;
	for (int i = 0; i < 5; i++) {
		double begin = now();
		sink = work(n);
		double t = now() - begin;
		if (t < best)
			best = t;
	}
	(void)sink;
	return 128.0 * n / best / 1e9;
}

/* set_up reads WIDTH STEPS NANOSECONDS and makes a task so long on one core. */
static double set_up(char **argv)
{
	width = atol(argv[1]), steps = atol(argv[2]);
	double gflops = rate();
	iterations = (long)(atof(argv[3]) * gflops / 128 + 0.5);
	points = room(2 * width * sizeof *points);
	return gflops;
}

/* run is the graph once; the peers have it. */
static void run(void);

static int measure(char **argv, double gflops, const char *version)
{
	int reps = atoi(argv[4]);
	double *seconds = room(8 * reps);
	for (int i = -1; i < reps; i++) {
		memset(points, 0xff, 2 * width * sizeof *points);
		double begin = now();
		run();
		if (i >= 0)
			seconds[i] = now() - begin;
	}
	for (long x = 0; x < width; x++)
		expect(at(steps - 1, x), steps - 1, x);
	printf("result us_per_task=%.5f tasks=%ld wrong=%ld kernel_gflops=%.4f iterations=%ld\n", median(seconds, reps) * 1e6 / (width * steps), width * steps, wrong, gflops, iterations);
	printf("version %s\n", version);
	return wrong != 0;
}
