/*
 * If this fails, files are mixed up, called by wrong names, or ops come in a wrong order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "op/path.h"
#include "record/canonical.h"
#include "record/lookup.h"
#include "record/mount_table.h"
#include "record/queue.h"
#include "record/syscalls.h"
#include "record/translate.h"

static void a_lookup_forgets_what_is_removed_and_nothing_else(void **state)
{
	enum { KEYS = 1000, STEPS = 20000 };
	static uint32_t known[KEYS];
	struct lookup lookup = {0};
	struct random random;

	(void)state;
	memset(known, 0xff, sizeof(known));
	random_init(&random, 7, 0);
	for (int i = 0; i < STEPS; i++) {
		uint32_t at = (uint32_t)random_below(&random, KEYS);
		/* Keys that meet in few slots: multiples of a power of two. */
		struct lookup_key key = {(uint64_t)at << 20, at % 3};

		assert_int_equal(lookup_get(&lookup, key), known[at]);
		if (random_below(&random, 3) == 0) {
			lookup_remove(&lookup, key);
			known[at] = LOOKUP_NONE;
		} else {
			lookup_put(&lookup, key, (uint32_t)i);
			known[at] = (uint32_t)i;
		}
	}
	for (uint32_t at = 0; at < KEYS; at++)
		assert_int_equal(
			lookup_get(&lookup, (struct lookup_key){(uint64_t)at << 20, at % 3}),
			known[at]);
	lookup_deinit(&lookup);
}

static void put(struct queue *queue, uint64_t time_ns, uint32_t thread)
{
	const struct record_event event = {
		.time_ns = time_ns, .thread = thread, .bytes = sizeof(event)};

	queue_put(queue, &event);
}

static void take(struct queue *queue, uint64_t now_ns, uint32_t thread)
{
	struct record_event *event = queue_take(queue, now_ns);

	assert_non_null(event);
	assert_int_equal(event->thread, thread);
	memory_free(event);
}

static void events_come_in_the_order_in_which_they_began(void **state)
{
	struct queue queue = {.window_ns = 100, .count_max = 4};

	(void)state;
	put(&queue, 50, 1);
	put(&queue, 20, 2);
	put(&queue, 50, 3);
	assert_null(queue_take(&queue, 119)); /* one that began at 19 may still come */
	take(&queue, 120, 2);
	assert_null(queue_take(&queue, 149));
	take(&queue, 150, 1);
	take(&queue, 150, 3); /* of equals the one that ended first */
	for (uint32_t i = 0; i < 6; i++)
		put(&queue, 1000 - i, i);
	take(&queue, 0, 5); /* more than four do not wait */
	take(&queue, 0, 4);
	assert_null(queue_take(&queue, 0));
	queue_deinit(&queue);
}

static void a_name_from_the_kernel_is_put_behind_its_mount(void **state)
{
	static const char names[] = "c\0b\0a";
	struct error error;
	struct mount_table *mounts = mount_table_open(&error);
	struct stat root, proc;
	char path[256];
	uint32_t device;

	(void)state;
	assert_non_null(mounts);
	assert_int_equal(stat("/", &root), 0);
	assert_int_equal(stat("/proc", &proc), 0);
	device = (uint32_t)((proc.st_dev >> 8 & 0xfff) << 20 | (proc.st_dev & 0xff));
	assert_int_equal(mount_table_path(mounts, device, names, sizeof(names), path, sizeof(path)),
			 11);
	assert_string_equal(path, "/proc/a/b/c");
	assert_string_equal(mount_table_filesystem(mounts, device), "proc");
	assert_false(mount_table_is_recorded(mounts, "/proc/self/stat"));
	assert_true(mount_table_is_recorded(mounts, "/procession"));
	mount_table_path(mounts, 0xfff00fff, names, sizeof(names), path, sizeof(path));
	assert_string_equal(path, "/[4095:4095]/a/b/c");
	mount_table_close(mounts);
}

static void links_on_the_way_are_followed(void **state)
{
	char folder[] = "/tmp/refault-test-XXXXXX", real[CANONICAL_BYTES],
	     expected[CANONICAL_BYTES + 64];
	char path[CANONICAL_BYTES], name[128];
	struct canonical canonical = {0};

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath(folder, real));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("d", 0755), 0);
	assert_int_equal(symlink("d", "l"), 0);
	assert_int_equal(symlink("d/f", "m"), 0);
	fclose(fopen("d/f", "w"));
	canonical_init(&canonical);
#define IS(directory, name, follows, end)                                                          \
	do {                                                                                       \
		assert_true(canonical_path(&canonical, directory, name, follows, path));           \
		snprintf(expected, sizeof(expected), "%s%s", real, end);                           \
		assert_string_equal(path, expected);                                               \
	} while (0)
	IS(real, "l/f", false, "/d/f");
	IS(real, "l/../d/./f", false, "/d/f");
	IS(real, "m", false, "/m");
	IS(real, "m", true, "/d/f");
	IS(real, "l/none", true, "/d/none");
	IS(real, "no/../way/./in", true, "/way/in"); /* nothing is there to be followed */
	IS(real, "d/.", true, "/d");
	snprintf(name, sizeof(name), "%s//l//f/", folder);
	IS("/", name, false, "/d/f");
	/* A link that leads elsewhere now. */
	assert_int_equal(unlink("l"), 0);
	assert_int_equal(symlink(".", "l"), 0);
	IS(real, "l/f", false, "/d/f");
	canonical_forget(&canonical);
	IS(real, "l/f", false, "/f");
	assert_true(canonical_path(&canonical, "/", "/", true, path));
	assert_string_equal(path, "/");
	canonical_deinit(&canonical);
	assert_int_equal(chdir("/"), 0);
	snprintf(expected, sizeof(expected), "rm -r '%s'", folder);
	assert_int_equal(system(expected), 0);
}

static void every_call_has_its_line(void **state)
{
	static struct record_syscall calls[RECORD_SYSCALLS_MAX];
	size_t count = 0;

	(void)state;
	syscalls_fill(calls);
	for (uint32_t i = 0; i < RECORD_SYSCALLS_MAX; i++) {
		assert_int_equal(calls[i].shape != RECORD_NOTHING, syscall_name(i) != NULL);
		count += calls[i].shape != RECORD_NOTHING;
		if (calls[i].shape == RECORD_OF_PATH)
			assert_true(calls[i].path != RECORD_NO_ARGUMENT);
		if (calls[i].shape == RECORD_READ || calls[i].shape == RECORD_CLOSE)
			assert_int_equal(calls[i].fd, 0);
	}
	assert_true(count > 40);
}

static void op_note(void *context, const struct op *op)
{
	struct op *ops = context;

	while (ops->bytes)
		ops++;
	*ops = *op;
}

/* An event that comes late must not make an op that goes back in time: no trace could be written. */
static void ops_never_go_back_in_time(void **state)
{
	struct op ops[4] = {{0}};
	struct path_table *paths = path_table_create();
	struct stream_map *streams = stream_map_create(STREAM_BY_CLASS);
	const struct translate_options options = {.paths = paths,
						  .streams = streams,
						  .start_ns = 1000,
						  .deliver = op_note,
						  .context = ops};
	struct translator *translator = translator_create(&options);
	struct record_memory event = {.event = {.time_ns = 5000,
						.process = 7,
						.thread = 7,
						.bytes = sizeof(event),
						.type = RECORD_TYPE_MEMORY},
				      .pages = 1};

	(void)state;
	translate(translator, &event.event);
	event.event.time_ns = 3000;
	event.pages = 2;
	translate(translator, &event.event);
	event.event.time_ns = 9000;
	translate(translator, &event.event);
	assert_int_equal(ops[0].time_ns, 4000);
	assert_int_equal(ops[1].time_ns, 4000);
	assert_int_equal(ops[1].bytes, 8192);
	assert_int_equal(ops[2].time_ns, 8000);
	translator_destroy(translator);
	stream_map_destroy(streams);
	path_table_destroy(paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lookup_forgets_what_is_removed_and_nothing_else),
		cmocka_unit_test(events_come_in_the_order_in_which_they_began),
		cmocka_unit_test(a_name_from_the_kernel_is_put_behind_its_mount),
		cmocka_unit_test(links_on_the_way_are_followed),
		cmocka_unit_test(every_call_has_its_line),
		cmocka_unit_test(ops_never_go_back_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
