/* pingpong BYTES COUNT SKIP: two ranks send a message to and fro, as OSU's latency
 * test does, and check what arrived last. Rank 0 prints a result line. */
#include "common.h"
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, bytes, count, skip, length, bad = 0;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Init(&argc, &argv);
	if (argc != 4)
		return 2;
	bytes = atoi(argv[1]), count = atoi(argv[2]), skip = atoi(argv[3]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	char *out = room(bytes + 1), *in = room(bytes + 1);
	memset(out, 'a' + rank, bytes);
	memset(in, 0, bytes);
	double begin = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = -skip; i < count; i++) {
		if (i == 0)
			begin = now();
		if (rank == 0)
			MPI_Send(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(out, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	}
	double seconds = now() - begin;
	for (int i = 0; i < bytes; i++)
		bad |= in[i] != 'b' - rank;
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Get_library_version(version, &length);
	if (rank == 0) {
		printf("result latency_us=%.6f bytes=%d wrong=%d\n", seconds * 1e6 / (2.0 * count), bytes, bad);
		printf("version %s\n", strtok(version, ",\n"));
	}
	MPI_Finalize();
	return bad;
}
