/* IS and MG on one process, with the loops of packages is and mg, to compare compilers:
 *
 *     gcc -O3 -o one bench/npb/testdata/one.c -lm && ./one is && ./one mg
 *
 * against npb -bench is, and npb -bench mg. Class A; both are verified by the rules of NPB 3.4. MG's
 * loops are those of mg/kernel.go and mg/rows.go without vector instructions, IS's those of
 * is/kernel.go, with the copy of the keys that MPI_Alltoallv makes of a process's own part.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static uint64_t state = 314159265;

static double number(void) {
	state = state * 1220703125 & ((1ull << 46) - 1);
	return (double)state / (double)(1ull << 46);
}

static void *memory(size_t n) {
	void *p = calloc(n, 1);
	if (p == NULL) {
		fprintf(stderr, "one: no memory\n");
		exit(1);
	}
	return p;
}

/* IS */

enum { KEYS = 1 << 23, MAX = 1 << 19, BUCKETS = 1 << 10, SHIFT = 9, TESTS = 5, ROUNDS = 10 };

static int32_t *keys, *sent, *received, *ranks;
static const int position[TESTS] = {2112377, 662041, 5336171, 3642833, 4250760};
static const int rank_of[TESTS] = {104, 17523, 123928, 8288932, 8388264};
static int passed;

static void rank_keys(int t) {
	int32_t at[BUCKETS] = {0}, test[TESTS], sum = 0;
	keys[t] = t;
	keys[t + ROUNDS] = MAX - t;
	for (int i = 0; i < TESTS; i++) test[i] = keys[position[i]];
	for (int i = 0; i < KEYS; i++) at[keys[i] >> SHIFT]++;
	for (int b = 0; b < BUCKETS; b++) {
		int32_t n = at[b];
		at[b] = sum;
		sum += n;
	}
	for (int i = 0; i < KEYS; i++) sent[at[keys[i] >> SHIFT]++] = keys[i];
	memcpy(received, sent, KEYS * sizeof *sent);
	memset(ranks, 0, MAX * sizeof *ranks);
	for (int i = 0; i < KEYS; i++) ranks[received[i]]++;
	sum = 0;
	for (int i = 0; i < MAX; i++) ranks[i] = sum += ranks[i];
	for (int i = 0; i < TESTS; i++)
		passed += ranks[test[i] - 1] == rank_of[i] + (i < 3 ? t - 1 : 1 - t);
}

static int is(void) {
	keys = memory(KEYS * sizeof *keys);
	sent = memory(KEYS * sizeof *keys);
	received = memory(KEYS * sizeof *keys);
	ranks = memory(MAX * sizeof *keys);
	for (int i = 0; i < KEYS; i++) {
		double x = number();
		x += number();
		x += number();
		x += number();
		keys[i] = MAX / 4 * x;
	}
	rank_keys(1);
	passed = 0;
	double from = now();
	for (int t = 1; t <= ROUNDS; t++) rank_keys(t);
	printf("result bench=is class=A seconds_median=%.6f verified=%s\n", now() - from, passed == TESTS * ROUNDS ? "true" : "false");
	return passed != TESTS * ROUNDS;
}

/* MG */

enum { LEVELS = 8, CYCLES = 4, CHARGES = 10 };

typedef struct {
	int n;
	double *v;
} grid;

static grid u[LEVELS + 1], r[LEVELS + 1], v;
static double f[260], e[260], line[260];

static double *row(grid g, int y, int z) { return g.v + ((size_t)z * (g.n + 2) + y) * (g.n + 2); }

static grid new_grid(int n) {
	grid g = {n, memory(sizeof(double) * (n + 2) * (n + 2) * (n + 2))};
	return g;
}

static void clear(grid g) { memset(g.v, 0, sizeof(double) * (g.n + 2) * (g.n + 2) * (g.n + 2)); }

static void add(double *restrict sum, const double *a, const double *b, const double *c, const double *d, int n) {
	for (int i = 0; i < n; i++) sum[i] = a[i] + b[i] + c[i] + d[i];
}

static void sums(grid g, int y, int z) {
	add(f, row(g, y - 1, z), row(g, y + 1, z), row(g, y, z - 1), row(g, y, z + 1), g.n + 2);
	add(e, row(g, y - 1, z - 1), row(g, y + 1, z - 1), row(g, y - 1, z + 1), row(g, y + 1, z + 1), g.n + 2);
}

static void wrap(grid g) {
	int n = g.n;
	size_t plane = sizeof(double) * (n + 2) * (n + 2);
	for (int z = 1; z <= n; z++) {
		for (int y = 1; y <= n; y++) {
			double *x = row(g, y, z);
			x[0] = x[n];
			x[n + 1] = x[1];
		}
		memcpy(row(g, 0, z), row(g, n, z), plane / (n + 2));
		memcpy(row(g, n + 1, z), row(g, 1, z), plane / (n + 2));
	}
	memcpy(row(g, 0, 0), row(g, 0, n), plane);
	memcpy(row(g, 0, n + 1), row(g, 0, 1), plane);
}

static void residual_row(double *r, const double *v, const double *restrict u, int n) {
	for (int i = 1; i <= n; i++)
		r[i] = v[i] + 8. / 3 * u[i] - 1. / 6 * (e[i] + f[i - 1] + f[i + 1]) - 1. / 12 * (e[i - 1] + e[i + 1]);
}

static void residual(grid r, grid v, grid u) {
	for (int z = 1; z <= r.n; z++)
		for (int y = 1; y <= r.n; y++) {
			sums(u, y, z);
			residual_row(row(r, y, z), row(v, y, z), row(u, y, z), r.n);
		}
	wrap(r);
}

static void smooth_row(double *restrict u, const double *restrict r, int n) {
	for (int i = 1; i <= n; i++)
		u[i] += -3. / 8 * r[i] + 1. / 32 * (r[i - 1] + r[i + 1] + f[i]) - 1. / 64 * (e[i] + f[i - 1] + f[i + 1]);
}

static void smooth(grid u, grid r) {
	for (int z = 1; z <= u.n; z++)
		for (int y = 1; y <= u.n; y++) {
			sums(r, y, z);
			smooth_row(row(u, y, z), row(r, y, z), u.n);
		}
	wrap(u);
}

static void restriction(grid s, grid r) {
	for (int z = 1; z <= s.n; z++)
		for (int y = 1; y <= s.n; y++) {
			sums(r, 2 * y, 2 * z);
			double *to = row(s, y, z), *x = row(r, 2 * y, 2 * z);
			for (int j = 1; j <= s.n; j++) {
				int i = 2 * j;
				to[j] = 0.5 * x[i] + 0.25 * (x[i - 1] + x[i + 1] + f[i]) + 0.125 * (f[i - 1] + f[i + 1] + e[i]) + 0.0625 * (e[i - 1] + e[i + 1]);
			}
		}
	wrap(s);
}

static void interpolate_row(double *restrict u, int n) {
	for (int j = 0; j < n; j++) {
		u[2 * j] += line[j];
		u[2 * j + 1] += 0.5 * (line[j] + line[j + 1]);
	}
}

static void interpolate(grid u, grid c) {
	for (int z = 0; z < u.n + 2; z++)
		for (int y = 0; y < u.n + 2; y++) {
			int odd = y % 2, odder = z % 2;
			double *p = row(c, y / 2, z / 2), *q = row(c, y / 2 + odd, z / 2);
			double *s = row(c, y / 2, z / 2 + odder), *t = row(c, y / 2 + odd, z / 2 + odder);
			for (int i = 0; i < c.n + 2; i++) line[i] = 0.25 * (p[i] + q[i] + s[i] + t[i]);
			interpolate_row(row(u, y, z), u.n / 2 + 1);
		}
}

static void cycle(void) {
	for (int k = LEVELS; k > 1; k--) restriction(r[k - 1], r[k]);
	clear(u[1]);
	smooth(u[1], r[1]);
	for (int k = 2; k <= LEVELS; k++) {
		if (k < LEVELS) clear(u[k]);
		interpolate(u[k], u[k - 1]);
		residual(r[k], k < LEVELS ? r[k] : v, u[k]);
		smooth(u[k], r[k]);
	}
	residual(r[LEVELS], v, u[LEVELS]);
}

/* charge sets the points with the ten smallest or largest numbers; sign is 1 or -1. */
static void charge(const double *x, int sign) {
	int n = v.n, best[CHARGES], count = 0;
	for (int i = 0; i < n * n * n; i++) {
		if (count == CHARGES && sign * x[i] >= sign * x[best[CHARGES - 1]]) continue;
		int k = count < CHARGES ? count++ : CHARGES - 1;
		for (; k > 0 && sign * x[best[k - 1]] > sign * x[i]; k--) best[k] = best[k - 1];
		best[k] = i;
	}
	for (int k = 0; k < CHARGES; k++) row(v, best[k] / n % n + 1, best[k] / n / n + 1)[best[k] % n + 1] = -sign;
}

static int mg(void) {
	for (int k = 1; k <= LEVELS; k++) {
		u[k] = new_grid(1 << k);
		r[k] = new_grid(1 << k);
	}
	int n = 1 << LEVELS;
	v = new_grid(n);
	double *x = memory(sizeof(double) * n * n * n), sum = 0;
	for (int i = 0; i < n * n * n; i++) x[i] = number();
	charge(x, 1);
	charge(x, -1);
	free(x);
	wrap(v);
	residual(r[LEVELS], v, u[LEVELS]);
	cycle();
	clear(u[LEVELS]);
	double from = now();
	residual(r[LEVELS], v, u[LEVELS]);
	for (int t = 0; t < CYCLES; t++) cycle();
	for (int z = 1; z <= n; z++)
		for (int y = 1; y <= n; y++)
			for (int i = 1; i <= n; i++) sum += row(r[LEVELS], y, z)[i] * row(r[LEVELS], y, z)[i];
	double norm = sqrt(sum / n / n / n), want = 0.2433365309069e-05;
	int ok = fabs(norm - want) <= 1e-8 * want;
	printf("result bench=mg class=A seconds_median=%.6f norm=%.13e verified=%s\n", now() - from, norm, ok ? "true" : "false");
	return !ok;
}

int main(int argc, char **argv) {
	if (argc == 2 && strcmp(argv[1], "is") == 0) return is();
	if (argc == 2 && strcmp(argv[1], "mg") == 0) return mg();
	fprintf(stderr, "usage: one is|mg\n");
	return 2;
}
