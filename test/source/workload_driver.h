/*
 * A machine for workloads that has no files: processors that take turns, and a fixed time for what a device does. Any number of ops
 * at once.
 */
#ifndef TEST_WORKLOAD_DRIVER_H
#define TEST_WORKLOAD_DRIVER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "op/op.h"
#include "op/path.h"
#include "op/source.h"
#include "source/schema.h"
#include "source/workload.h"
#include "source/yaml.h"

enum { DRIVER_OPS_MAX = 1024, DRIVER_PROCESSORS = 64, DRIVER_FIGURES_MAX = 64 };

struct driver {
	/* how long: of a processor for any op but compute, and of a device besides */
	uint64_t call_ns, read_ns, sync_ns;
	void (*look)(struct driver *driver, const struct op *op);

	const struct workload *workload;
	struct workload_run *run;
	struct arena arena;
	struct path_table *paths;
	uint64_t now_ns, free_ns[DRIVER_PROCESSORS];
	struct {
		struct op op;
		uint64_t done_ns;
	} at[DRIVER_OPS_MAX];
	uint32_t under_way;
	uint64_t hash, ops, kinds[OP_KIND_COUNT];

	struct {
		const char *name;
		double value;
	} figures[DRIVER_FIGURES_MAX];
	size_t figure_count, event_count;
	uint64_t event_begin_ns;
	double transactions;
};

static inline void driver_fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

/* `options`: the workload's keys, as in a scenario. */
static inline void driver_open(struct driver *driver, const char *name, const char *options,
			       uint64_t seed)
{
	struct schema_table table = {0};
	struct yaml yaml;
	struct error error;
	struct workload_place place = {
		.first_thread = 1, .first_stream = 1, .seed = seed, .job = "test"};
	struct op op;

	driver->workload = workload_find(name);
	table.keys = driver->workload->keys;
	table.count = driver->workload->key_count;
	table.to = arena_alloc(&driver->arena, driver->workload->options_bytes);
	if (!yaml_parse(&yaml, &driver->arena, "options", options, strlen(options), &error) ||
	    !schema_read(&yaml, yaml.root, "options", &table, 1, &error))
		driver_fail(options, error.message);
	place.paths = driver->paths = path_table_create();
	driver->run = driver->workload->create(table.to, &place, &error);
	if (!driver->run)
		driver_fail(options, error.message);
	while (driver->workload->setup(driver->run, &op)) {
		if (driver->look)
			driver->look(driver, &op);
	}
	driver->workload->start(driver->run, 0);
}

static inline void driver_begin(struct driver *driver, const struct op *op)
{
	uint64_t *processor = &driver->free_ns[0], done;

	for (int i = 1; i < DRIVER_PROCESSORS; i++)
		if (driver->free_ns[i] < *processor)
			processor = &driver->free_ns[i];
	if (*processor < driver->now_ns)
		*processor = driver->now_ns;
	*processor += op->kind == OP_COMPUTE ? op->bytes : driver->call_ns;
	done = *processor;
	if (op->kind == OP_READ)
		done += driver->read_ns;
	else if (op->kind == OP_FSYNC || op->kind == OP_FDATASYNC)
		done += driver->sync_ns;
	driver->at[driver->under_way].op = *op;
	driver->at[driver->under_way++].done_ns = done;
	driver->ops++;
	driver->kinds[op->kind]++;
	driver->hash = (driver->hash ^ op->kind ^ op->offset ^ op->bytes << 8 ^ driver->now_ns ^
			(uint64_t)op->path << 32 ^ op->thread) *
		       UINT64_C(0x9e3779b97f4a7c15);
	driver->hash ^= driver->hash >> 29;
	if (driver->look)
		driver->look(driver, op);
}

/* Until the workload is over, or `until_ns`. */
static inline void driver_run(struct driver *driver, uint64_t until_ns)
{
	for (;;) {
		uint64_t next_ns = UINT64_MAX;
		uint32_t first = 0;
		struct op op;

		while (driver->workload->next_due(driver->run, driver->now_ns, &op, &next_ns))
			driver_begin(driver, &op);
		for (uint32_t i = 1; i < driver->under_way; i++)
			if (driver->at[i].done_ns < driver->at[first].done_ns)
				first = i;
		if (driver->under_way && driver->at[first].done_ns <= next_ns) {
			op = driver->at[first].op;
			driver->now_ns = driver->at[first].done_ns;
			driver->at[first] = driver->at[--driver->under_way];
			driver->workload->completed(driver->run, &op, driver->now_ns);
		} else if (next_ns == UINT64_MAX) {
			return;
		} else {
			driver->now_ns = next_ns;
		}
		if (driver->now_ns > until_ns)
			return;
	}
}

static inline void driver_work(void *context, const char *name)
{
	(void)context;
	(void)name;
}

static inline void driver_figure(void *context, const char *name, const char *meaning, double value,
				 bool per_work)
{
	struct driver *driver = context;

	(void)meaning;
	(void)per_work;
	driver->figures[driver->figure_count].name = name;
	driver->figures[driver->figure_count++].value = value;
	if (strcmp(name, "transactions") == 0)
		driver->transactions = value;
}

static inline void driver_latency(void *context, const char *name, const struct histogram *ns)
{
	(void)context;
	(void)name;
	(void)ns;
}

/* What began has an end, or none yet, and comes in order. */
static inline void driver_event(void *context, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct driver *driver = context;

	if (begin_ns > end_ns || begin_ns < driver->event_begin_ns)
		driver_fail(name, "its events are in no order");
	driver->event_begin_ns = begin_ns;
	driver->event_count++;
}

static inline void driver_report(struct driver *driver)
{
	driver->event_begin_ns = 0;
	driver->event_count = 0;
	driver->workload->report(driver->run,
				 &(struct op_source_reporter){.context = driver,
							      .work = driver_work,
							      .figure = driver_figure,
							      .latency = driver_latency,
							      .event = driver_event});
}

static inline double driver_figure_of(const struct driver *driver, const char *name)
{
	for (size_t i = 0; i < driver->figure_count; i++)
		if (strcmp(driver->figures[i].name, name) == 0)
			return driver->figures[i].value;
	driver_fail(name, "no such figure");
	return 0;
}

/* Of a transaction. */
static inline double driver_per_work(const struct driver *driver, const char *name)
{
	return driver_figure_of(driver, name) / driver->transactions;
}

static inline void driver_close(struct driver *driver)
{
	driver->workload->destroy(driver->run);
	path_table_destroy(driver->paths);
	arena_deinit(&driver->arena);
}

#endif
