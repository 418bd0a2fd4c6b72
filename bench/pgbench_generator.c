/*
 * pgbench_generator: what a transaction of the workload pgbench costs, without a machine
 *
 *     build/bench/pgbench_generator              the table
 *     build/bench/pgbench_generator reference    ns of its first row, for bench/simulation.sh
 *
 * Every op takes the same time, so that what is under way is a queue and the stub costs next to nothing. The machine is shared: figures
 * of one run are to be compared with each other. The first row is a reference: dependent reads of random places of an array as large as
 * the state of scale 8000, one after the other. A transaction of a large database cannot do with less than about fifteen such places
 * (a page's state, leaf and heap block and two victims in the hash of buffers, bits of the journal).
 */
#include <stdio.h>
#include <time.h>

#include "base/random.h"
#include "source/workload_driver.h"

enum { REFERENCE_BYTES = 64 << 20, REFERENCE_READS = 1 << 22, QUEUE = 4096, OP_NS = 20000 };

static double seconds(void)
{
	struct timespec now;

	/* the machine is shared: what others take is not ours */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ns of one read. */
static double reference(void)
{
	uint32_t count = REFERENCE_BYTES / sizeof(uint32_t), at = 0;
	uint32_t *array = memory_alloc(count, sizeof(*array));
	struct random random;
	double begin;

	memory_use_randomly(array, REFERENCE_BYTES);
	random_init(&random, 1, 0);
	for (uint32_t i = 0; i < count; i++)
		array[i] = (uint32_t)random_below(&random, count);
	begin = seconds();
	for (uint32_t i = 0; i < REFERENCE_READS; i++)
		at = array[(at + i) & (count - 1)];
	begin = seconds() - begin;
	if (at == UINT32_MAX)
		printf("%u\n", at); /* so that it is not optimised away */
	memory_free(array);
	return begin / REFERENCE_READS * 1e9;
}

/* All of a run; ops done. */
static uint64_t play(struct driver *driver)
{
	static struct {
		struct op op;
		uint64_t done_ns;
	} queue[QUEUE];
	const struct workload *workload = driver->workload;
	uint64_t first = 0, end = 0, now_ns = 0;

	for (;;) {
		uint64_t next_ns = UINT64_MAX;
		struct op *op = &queue[end % QUEUE].op;

		while (workload->next_due(driver->run, now_ns, op, &next_ns)) {
			queue[end++ % QUEUE].done_ns = now_ns + OP_NS;
			op = &queue[end % QUEUE].op;
		}
		if (first < end && queue[first % QUEUE].done_ns <= next_ns) {
			now_ns = queue[first % QUEUE].done_ns;
			workload->completed(driver->run, &queue[first % QUEUE].op, now_ns);
			first++;
		} else if (next_ns == UINT64_MAX) {
			return end;
		} else {
			now_ns = next_ns;
		}
	}
}

static void row(const char *label, const char *options, double reference_ns)
{
	struct driver driver = {0};
	double opened, began, ns;
	uint64_t ops;

	opened = seconds();
	driver_open(&driver, "pgbench", options, 1);
	began = seconds();
	ops = play(&driver);
	ns = (seconds() - began) * 1e9;
	driver_report(&driver);
	printf("%-44s %7.0f %9.1f %8.1f %8.0f ms\n", label, ns / driver.transactions,
	       ns / driver.transactions / reference_ns, (double)ops / driver.transactions,
	       (began - opened) * 1e3);
	driver_close(&driver);
}

int main(int argc, char **argv)
{
	double reference_ns = reference();

	if (argc > 1 && strcmp(argv[1], "reference") == 0) {
		printf("%.1f\n", reference_ns);
		return 0;
	}
	printf("%-44s %7s %9s %8s %11s\n", "", "ns", "ratio", "ops", "to make");
	printf("%-44s %7.0f %9.1f\n", "a read of a random place in 64 MiB", reference_ns, 1.0);
	row("scale 30, 64 MiB, 8 clients",
	    "{scale: 30, clients: 8, transactions: 50000, shared_buffers: 64MiB, max_wal_size: "
	    "256MiB}",
	    reference_ns);
	row("scale 2000, 2 GiB, 32 clients",
	    "{scale: 2000, clients: 32, transactions: 30000, shared_buffers: 2GiB, max_wal_size: "
	    "16GiB}",
	    reference_ns);
	row("scale 8000, 8 GiB, 32 clients",
	    "{scale: 8000, clients: 32, transactions: 30000, shared_buffers: 8GiB, max_wal_size: "
	    "32GiB}",
	    reference_ns);
	return 0;
}
