/* nasft NX NY NZ ITERATIONS REPS: the benchmark FT of the NAS Parallel Benchmarks on
 * FFTW's MPI interface, in place, with transposed output between the transforms. As
 * in the benchmark the timer covers initial values, factors, the forward transform
 * and all iterations; planning (FFTW_MEASURE) and one run to warm up come before it.
 * Factors are products of one per axis, as weft's are, where the NPB keeps an array of them.
 * Rank 0 prints the checksums of the last run, which the caller verifies, and a result
 * line with the median time of the slowest rank. */
#include "common.h"
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>

typedef unsigned long long word;

static const word multiplier = 1220703125, mask = (1ull << 46) - 1; /* 5^13, modulo 2^46 */

static ptrdiff_t nx, ny, nz, planes, first, rows, first_row;
static int iterations;
static double complex *spectrum, *field, sums[64];
static fftw_plan forward, back;

/* jump is the state after some numbers. */
static word jump(word state, word numbers)
{
	for (word a = multiplier; numbers; numbers >>= 1, a = a * a & mask)
		if (numbers & 1)
			state = state * a & mask;
	return state;
}

static void initial_values(void)
{
	word state = jump(314159265, 2 * (word)nx * ny * first);
	double *out = (double *)spectrum;
	for (ptrdiff_t i = 0; i < 2 * planes * ny * nx; i++) {
		state = state * multiplier & mask;
		out[i] = (double)state * 0x1p-46;
	}
}

/* decay fills a table of one axis for time t: exp(-4 alpha pi^2 k^2 t). */
static void decay(double *table, ptrdiff_t n, int t)
{
	for (ptrdiff_t i = 0; i < n; i++) {
		double k = (i + n / 2) % n - n / 2;
		table[i] = exp(-4e-6 * M_PI * M_PI * k * k * t);
	}
}

/* evolve makes the field of time t out of the spectrum, which is y z x. */
static void evolve(int t, double *ex, double *ey, double *ez)
{
	decay(ex, nx, t), decay(ey, ny, t), decay(ez, nz, t);
	for (ptrdiff_t y = 0; y < rows; y++)
		for (ptrdiff_t z = 0; z < nz; z++) {
			double f = ey[first_row + y] * ez[z];
			ptrdiff_t at = (y * nz + z) * nx;
			for (ptrdiff_t x = 0; x < nx; x++)
				field[at + x] = spectrum[at + x] * (f * ex[x]);
		}
}

static double complex checksum(void)
{
	double complex sum = 0;
	for (ptrdiff_t j = 1; j <= 1024; j++) {
		ptrdiff_t z = 5 * j % nz - first;
		if (z >= 0 && z < planes)
			sum += field[(z * ny + 3 * j % ny) * nx + j % nx];
	}
	sum /= (double)nx * ny * nz;
	MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

static double run(double *tables)
{
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = now();
	initial_values();
	fftw_execute(forward);
	for (int t = 1; t <= iterations; t++) {
		evolve(t, tables, tables + nx, tables + nx + ny);
		fftw_execute(back);
		sums[t - 1] = checksum();
	}
	double seconds = now() - begin;
	MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return seconds;
}

int main(int argc, char **argv)
{
	int rank, reps;
	MPI_Init(&argc, &argv);
	fftw_mpi_init();
	if (argc != 6)
		return 2;
	nx = atoi(argv[1]), ny = atoi(argv[2]), nz = atoi(argv[3]), iterations = atoi(argv[4]), reps = atoi(argv[5]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	ptrdiff_t mine = fftw_mpi_local_size_3d_transposed(nz, ny, nx, MPI_COMM_WORLD, &planes, &first, &rows, &first_row);
	spectrum = room(16 * mine), field = room(16 * mine);
	forward = fftw_mpi_plan_dft_3d(nz, ny, nx, spectrum, spectrum, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
	back = fftw_mpi_plan_dft_3d(nz, ny, nx, field, field, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN);
	if (!forward || !back || iterations > 64)
		MPI_Abort(MPI_COMM_WORLD, 1);
	double *tables = room(8 * (nx + ny + nz)), *seconds = room(8 * reps);
	run(tables);
	for (int i = 0; i < reps; i++)
		seconds[i] = run(tables);
	double n = (double)nx * ny * nz, mop = 1e-6 * n * (14.8157 + 7.19641 * log(n) + (5.23518 + 7.21113 * log(n)) * iterations);
	if (rank == 0) {
		for (int t = 0; t < iterations; t++)
			printf("checksum %d %.16e %.16e\n", t + 1, creal(sums[t]), cimag(sums[t]));
		printf("result mops_median=%.4f\n", mop / median(seconds, reps));
		printf("version %s\n", fftw_version);
	}
	MPI_Finalize();
	return 0;
}
