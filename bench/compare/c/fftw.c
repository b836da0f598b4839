/* fftw contiguous|interleaved N BATCH REPS, fftw dims N0 N1 N2 REPS: forward complex
 * transforms by FFTW on one core, or on THREADS if that is defined, checked by a round trip. A batch is planned with
 * FFTW_PATIENT and out of place, an array with FFTW_MEASURE and in place. Prints a
 * result line. */
#include "common.h"
#include <fftw3.h>
#include <math.h>

static fftw_plan plan(char **argv, fftw_complex *in, fftw_complex *out, int sign)
{
	int a = atoi(argv[2]), b = atoi(argv[3]);
	if (!strcmp(argv[1], "dims"))
		return fftw_plan_dft_3d(a, b, atoi(argv[4]), in, out, sign, FFTW_MEASURE);
	if (!strcmp(argv[1], "interleaved"))
		return fftw_plan_many_dft(1, &a, b, in, NULL, b, 1, out, NULL, b, 1, sign, FFTW_PATIENT);
	return fftw_plan_many_dft(1, &a, b, in, NULL, 1, a, out, NULL, 1, a, sign, FFTW_PATIENT);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	int cube = !strcmp(argv[1], "dims"), reps = atoi(argv[argc - 1]);
	size_t all = (size_t)atoi(argv[2]) * atoi(argv[3]) * (cube ? atoi(argv[4]) : 1);
	double length = cube ? all : atoi(argv[2]);
#if THREADS > 1
	if (!fftw_init_threads())
		return 1;
	fftw_plan_with_nthreads(THREADS);
#else
	stay();
#endif
	fftw_complex *in = room(16 * all), *out = cube ? in : room(16 * all), *start = room(16 * all);
	fftw_plan forward = plan(argv, in, out, FFTW_FORWARD), back = plan(argv, out, in, FFTW_BACKWARD);
	if (!forward || !back)
		return 1;
	noise((double *)start, 2 * all);
	memcpy(in, start, 16 * all);
	fftw_execute(forward);
	fftw_execute(back);
	double error = 0;
	for (size_t i = 0; i < 2 * all; i++)
		error = fmax(error, fabs(((double *)in)[i] / length - ((double *)start)[i]));
	double flops = 5.0 * all * log2(length), *seconds = room(8 * reps);
	int rounds = (int)fmax(1, 5e6 / flops); /* a millisecond or so between two looks at the clock */
	memset(in, 0, 16 * all);
	memset(out, 0, 16 * all);
	for (int i = -2; i < reps; i++) {
		double begin = now();
		for (int k = 0; k < rounds; k++)
			fftw_execute(forward);
		if (i >= 0)
			seconds[i] = (now() - begin) / rounds;
	}
	double middle = median(seconds, reps); /* sorts */
	printf("result gflops_median=%.4f gflops_best=%.4f error=%.3e\n", flops / middle / 1e9, flops / seconds[0] / 1e9, error);
	printf("version %s\n", fftw_version);
	return !(error < 1e-12);
}
