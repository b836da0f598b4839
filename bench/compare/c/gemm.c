/* gemm M N K REPS: C -= A B in double precision by OpenBLAS on one core, checked by
 * a product with a random vector. Prints a result line. */
#include "common.h"
#include <cblas.h>
#include <math.h>

static double *a, *b, *c, *c0;
static int m, n, k;

static void multiply(void)
{
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, -1, a, m, b, k, 1, c, m);
}

/* deviation is |C x - (C0 x - A (B x))| / (K |x|), in the maximum norm. */
static double deviation(void)
{
	double *x = room(8 * n), *bx = room(8 * k), *y = room(8 * m), worst = 0;
	noise(x, n);
	cblas_dgemv(CblasColMajor, CblasNoTrans, k, n, 1, b, k, x, 1, 0, bx, 1);
	cblas_dgemv(CblasColMajor, CblasNoTrans, m, n, 1, c0, m, x, 1, 0, y, 1);
	cblas_dgemv(CblasColMajor, CblasNoTrans, m, k, -1, a, m, bx, 1, 1, y, 1);
	cblas_dgemv(CblasColMajor, CblasNoTrans, m, n, -1, c, m, x, 1, 1, y, 1);
	for (int i = 0; i < m; i++)
		worst = fmax(worst, fabs(y[i]));
	return worst / k;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]);
	int reps = atoi(argv[4]);
	openblas_set_num_threads(1);
	stay();
	a = room(8L * m * k), b = room(8L * k * n), c = room(8L * m * n), c0 = room(8L * m * n);
	noise(a, (size_t)m * k), noise(b, (size_t)k * n), noise(c0, (size_t)m * n);
	memcpy(c, c0, 8L * m * n);
	multiply();
	double error = deviation(), *seconds = room(8 * reps);
	for (int i = 0; i < reps; i++) {
		double begin = now();
		multiply();
		seconds[i] = now() - begin;
	}
	double flops = 2.0 * m * n * k;
	double middle = median(seconds, reps); /* sorts */
	printf("result gflops_median=%.4f gflops_best=%.4f error=%.3e kernel=%s\n", flops / middle / 1e9, flops / seconds[0] / 1e9, error, openblas_get_corename());
	printf("version %s\n", openblas_get_config());
	return !(error < 1e-13);
}
