//go:build ignore

// Loops of the program osu in C, over the same MPI library: what a message costs
// without weft. Two ranks.
//
//	peer latency BYTES ITERATIONS SKIP
//	peer sendrecv BYTES ITERATIONS SKIP
//	peer alltoall BYTES ITERATIONS SKIP
//	peer inflight RECEIVES BYTES COMPLETIONS SKIP
//
// Rank 0 prints a result line. The first line keeps the go command from taking this
// file for a part of the package.

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void *room(size_t n)
{
	void *p = calloc(n ? n : 1, 1);
	if (p == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return p;
}

static void latency(int bytes, int count, int skip)
{
	int peer = 1 - rank;
	char *out = room(bytes), *in = room(bytes);
	double begin = 0;
	memset(out, 1, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = -skip; i < count; i++) {
		if (i == 0)
			begin = MPI_Wtime();
		if (rank == 0)
			MPI_Send(out, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(out, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
	}
	double seconds = MPI_Wtime() - begin;
	if (rank == 0)
		printf("result test=latency latency_us=%.6f bytes=%d ranks=2 engine=C\n", seconds * 1e6 / (2.0 * count), bytes);
	free(out);
	free(in);
}

static void exchange(int bytes, int count, int skip)
{
	int peer = 1 - rank;
	char *out = room(bytes), *in = room(bytes);
	double begin = 0;
	memset(out, 1, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = -skip; i < count; i++) {
		if (i == 0)
			begin = MPI_Wtime();
		MPI_Sendrecv(out, bytes, MPI_CHAR, peer, 1, in, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	double seconds = MPI_Wtime() - begin;
	if (rank == 0)
		printf("result test=sendrecv exchange_us=%.6f bytes=%d ranks=2 engine=C\n", seconds * 1e6 / count, bytes);
	free(out);
	free(in);
}

static void alltoall(int bytes, int count, int skip)
{
	int ranks;
	double begin = 0, seconds, sum = 0;
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	char *out = room((size_t)ranks * bytes), *in = room((size_t)ranks * bytes);
	memset(out, 1, (size_t)ranks * bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = -skip; i < count; i++) {
		if (i == 0)
			begin = MPI_Wtime();
		MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
	}
	seconds = MPI_Wtime() - begin;
	MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("result test=alltoall alltoall_us=%.6f bytes=%d ranks=%d engine=C\n", sum / ranks * 1e6 / count, bytes, ranks);
	free(out);
	free(in);
}

// order yields tags in rounds, each tag once per round, equally shuffled on both ranks.
struct order {
	int n, at;
	int *tags;
	uint64_t state;
};

static struct order new_order(int n)
{
	struct order o = {n, n, room(n * sizeof(int)), 88172645463325252u};
	for (int i = 0; i < n; i++)
		o.tags[i] = i;
	return o;
}

static int next(struct order *o)
{
	if (o->at == o->n) {
		for (int i = o->n - 1; i > 0; i--) {
			o->state ^= o->state << 13; // xorshift64 of Marsaglia
			o->state ^= o->state >> 7;
			o->state ^= o->state << 17;
			int j = (int)(o->state % (uint64_t)(i + 1));
			int t = o->tags[i];
			o->tags[i] = o->tags[j];
			o->tags[j] = t;
		}
		o->at = 0;
	}
	return o->tags[o->at++];
}

static int round_up(int v, int n)
{
	int k = (v + n - 1) / n;
	return (k < 1 ? 1 : k) * n;
}

static void send_in_order(int n, int bytes, int messages, int every)
{
	struct order o = new_order(n);
	char *out = room(bytes);
	int open = 0;
	MPI_Recv(NULL, 0, MPI_CHAR, 0, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int k = 0; k < messages; k++) {
		MPI_Send(out, bytes, MPI_CHAR, 0, next(&o), MPI_COMM_WORLD);
		if (k % every != every - 1)
			continue;
		if (++open == 2) {
			MPI_Recv(NULL, 0, MPI_CHAR, 0, n + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			open--;
		}
	}
	for (; open > 0; open--)
		MPI_Recv(NULL, 0, MPI_CHAR, 0, n + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	free(out);
	free(o.tags);
}

static double receive_in_order(int n, int bytes, int count, int skip, int every)
{
	struct order o = new_order(n);
	char *in = room((size_t)n * (bytes ? bytes : 1));
	MPI_Request *rs = room(n * sizeof *rs);
	double begin = 0, end = 0;
	for (int t = 0; t < n; t++)
		MPI_Recv_init(in + (size_t)t * bytes, bytes, MPI_CHAR, 1, t, MPI_COMM_WORLD, &rs[t]);
	MPI_Startall(n, rs);
	MPI_Send(NULL, 0, MPI_CHAR, 1, n, MPI_COMM_WORLD);
	for (int k = 0; k < skip + count + n; k++) {
		if (k == skip)
			begin = MPI_Wtime();
		if (k == skip + count)
			end = MPI_Wtime();
		int t = next(&o);
		MPI_Wait(&rs[t], MPI_STATUS_IGNORE);
		if (k < skip + count)
			MPI_Start(&rs[t]);
		else
			MPI_Request_free(&rs[t]);
		if (k % every == every - 1)
			MPI_Send(NULL, 0, MPI_CHAR, 1, n + 1, MPI_COMM_WORLD);
	}
	free(in);
	free(rs);
	free(o.tags);
	return end - begin;
}

static void inflight(int n, int bytes, int count, int skip)
{
	int every = (n < 10 ? n : 10) / 2;
	if (every < 1)
		every = 1;
	count = round_up(count, n);
	skip = round_up(skip, n);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		send_in_order(n, bytes, skip + count + n, every);
		return;
	}
	double seconds = receive_in_order(n, bytes, count, skip, every);
	printf("result test=inflight inflight=%d us_per_completion=%.6f bytes=%d ranks=2 engine=C\n", n, seconds * 1e6 / count, bytes);
}

int main(int argc, char **argv)
{
	int ranks, ok = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks == 2 && argc == 5 && strcmp(argv[1], "latency") == 0 && (ok = atoi(argv[3]) > 0)) {
		latency(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	} else if (ranks == 2 && argc == 5 && strcmp(argv[1], "sendrecv") == 0 && (ok = atoi(argv[3]) > 0)) {
		exchange(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	} else if (argc == 5 && strcmp(argv[1], "alltoall") == 0 && (ok = atoi(argv[3]) > 0)) {
		alltoall(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	} else if (ranks == 2 && argc == 6 && strcmp(argv[1], "inflight") == 0 && (ok = atoi(argv[2]) > 0)) {
		inflight(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
	} else if (rank == 0) {
		fprintf(stderr, "usage: mpirun -np 2 peer latency BYTES ITERATIONS SKIP\n"
				"       mpirun -np 2 peer sendrecv BYTES ITERATIONS SKIP\n"
				"       mpirun -np 2 peer alltoall BYTES ITERATIONS SKIP\n"
				"       mpirun -np 2 peer inflight RECEIVES BYTES COMPLETIONS SKIP\n");
	}
	MPI_Finalize();
	return ok ? 0 : 2;
}
