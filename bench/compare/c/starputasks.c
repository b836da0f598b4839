/* starputasks WIDTH STEPS NANOSECONDS REPS: the graph of stencil.h as StarPU tasks on
 * registered data. Prints a result line. */
#include "stencil.h"
#include <starpu.h>

static starpu_data_handle_t *handles;

static void call(void *buffers[], void *argument)
{
	long t, x;
	(void)buffers;
	starpu_codelet_unpack_args(argument, &t, &x);
	body(t, x);
}

static struct starpu_codelet codelet = {.cpu_funcs = {call}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "stencil"};

static void spawn(long t, long x)
{
	struct starpu_data_descr access[4];
	int n = 0;
	access[n++] = (struct starpu_data_descr){handles[(t & 1) * width + x], STARPU_W};
	for (long q = x - 1; q <= x + 1; q++)
		if (t > 0 && q >= 0 && q < width)
			access[n++] = (struct starpu_data_descr){handles[((t - 1) & 1) * width + q], STARPU_R};
	if (starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, access, n, STARPU_VALUE, &t, sizeof t, STARPU_VALUE, &x, sizeof x, 0))
		abort();
}

static void run(void)
{
	for (long t = 0; t < steps; t++)
		for (long x = 0; x < width; x++)
			spawn(t, x);
	starpu_task_wait_for_all();
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	double gflops = set_up(argv);
	if (starpu_init(NULL))
		return 1;
	handles = room(2 * width * sizeof *handles);
	for (long i = 0; i < 2 * width; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)&points[i], sizeof points[i]);
	char version[64];
	int numbers[3];
	starpu_get_version(&numbers[0], &numbers[1], &numbers[2]);
	snprintf(version, sizeof version, "StarPU %d.%d.%d, %u workers", numbers[0], numbers[1], numbers[2], starpu_cpu_worker_get_count());
	int failed = measure(argv, gflops, version);
	for (long i = 0; i < 2 * width; i++)
		starpu_data_unregister_no_coherency(handles[i]);
	starpu_shutdown();
	return failed;
}
