/* fftwmpi N0 N1 N2 REPS: forward complex transforms of a distributed array by FFTW's
 * MPI interface, in place, output transposed, planned with FFTW_MEASURE, checked by
 * a round trip. Rank 0 prints a result line with the time of the slowest rank. */
#include "common.h"
#include <fftw3-mpi.h>
#include <math.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	fftw_mpi_init();
	if (argc != 5)
		return 2;
	ptrdiff_t n0 = atoi(argv[1]), n1 = atoi(argv[2]), n2 = atoi(argv[3]), rows, first;
	int reps = atoi(argv[4]), rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	ptrdiff_t mine = fftw_mpi_local_size_3d(n0, n1, n2, MPI_COMM_WORLD, &rows, &first);
	size_t used = 2 * (size_t)rows * n1 * n2;
	double *data = room(16 * mine), *start = room(16 * mine), all = (double)n0 * n1 * n2, error = 0;
	fftw_complex *x = (fftw_complex *)data;
	fftw_plan forward = fftw_mpi_plan_dft_3d(n0, n1, n2, x, x, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
	fftw_plan back = fftw_mpi_plan_dft_3d(n0, n1, n2, x, x, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN);
	if (!forward || !back)
		MPI_Abort(MPI_COMM_WORLD, 1);
	noise(start, used);
	memcpy(data, start, 8 * used);
	fftw_execute(forward);
	fftw_execute(back);
	for (size_t i = 0; i < used; i++)
		error = fmax(error, fabs(data[i] / all - start[i]));
	MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	double *seconds = room(8 * reps), flops = 5 * all * log2(all);
	memset(data, 0, 16 * mine);
	for (int i = -1; i < reps; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		double begin = now();
		fftw_execute(forward);
		double t = now() - begin;
		MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		if (i >= 0)
			seconds[i] = t;
	}
	if (rank == 0) {
		double middle = median(seconds, reps); /* sorts */
		printf("result gflops_median=%.4f gflops_best=%.4f error=%.3e\n", flops / middle / 1e9, flops / seconds[0] / 1e9, error);
		printf("version %s\n", fftw_version);
	}
	MPI_Finalize();
	return !(error < 1e-12);
}
