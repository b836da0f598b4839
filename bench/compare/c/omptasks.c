/* omptasks WIDTH STEPS NANOSECONDS REPS: the graph of stencil.h as OpenMP tasks with
 * depend clauses. Prints a result line. */
#include "stencil.h"
#include <omp.h>

static void spawn(long t, long x)
{
	struct point *out = at(t, x), *mid = at(t - 1, x), *left = x > 0 ? mid - 1 : mid, *right = x + 1 < width ? mid + 1 : mid;
#pragma omp task depend(out : out[0]) depend(in : left[0], mid[0], right[0]) firstprivate(t, x)
	body(t, x);
	(void)out, (void)left, (void)right;
}

static void run(void)
{
#pragma omp parallel
#pragma omp single
	for (long t = 0; t < steps; t++)
		for (long x = 0; x < width; x++)
			spawn(t, x);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	double gflops = set_up(argv);
	char version[64];
#ifdef __clang__
	const char *compiler = "";
#else
	const char *compiler = "gcc ";
#endif
	snprintf(version, sizeof version, "OpenMP %d, %s%.20s, %d threads", _OPENMP, compiler, __VERSION__, omp_get_max_threads());
	return measure(argv, gflops, version);
}
