/*
 * If this fails, a recording of what really happened cannot be carried out: because a name is, by the ops, where the reader
 * thinks it is not, or because a trace with holes (filtered, lost, of a part of the processes) contradicts itself.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "model_test.h"

#include "base/random.h"
#include "op/trace.h"

#define SAMPLES "test/op/samples/"

static char folder[] = "/tmp/refault-test-XXXXXX";

static int folder_make(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
	(void)state;
	return rmdir(folder);
}

static uint64_t replayed(const char *path)
{
	struct model_options options = {
		.filesystem = filesystem_find("ext4"),
		.memory_bytes = 256 * MIB,
		.seed = 1,
		.streams = stream_map_create(STREAM_BY_CLASS),
	};
	struct result result;
	struct error error = {0};
	struct op_source *source = trace_open(path, NULL, &error);
	uint64_t accesses;

	if (!source || !policy_options_parse(&options.policy, "linux-6.18", &error) ||
	    !model_run(&options, source, &result, &error))
		fail_msg("%s:%llu: %s", path, (unsigned long long)error.line, error.message);
	accesses = result.totals.page_accesses;
	result_deinit(&result);
	op_source_destroy(source);
	stream_map_destroy(options.streams);
	return accesses;
}

static void every_sample_of_calls_can_be_carried_out(void **state)
{
	static const char *const names[] = {
		"strace-threads.txt", "strace-midnight.txt",       "strace-paths.txt",
		"ftrace-filemap.txt", "ftrace-calls.txt",          "perf-filemap.txt",
		"perf-calls.txt",     "strace-git-and-tar.txt.xz",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[200];

		snprintf(path, sizeof(path), SAMPLES "%s", names[i]);
		assert_true(replayed(path) > 0);
	}
}

/* All lines of a packed sample: one string, its ends 0. */
static char *lines_read(const char *path, size_t *bytes)
{
	char command[300], *text = NULL;
	size_t got, room = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "xz -dc %s", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	for (*bytes = 0;; *bytes += got) {
		if (*bytes + 65536 > room) {
			room = (room + 65536) * 2;
			text = memory_resize(text, room, 1);
		}
		got = fread(text + *bytes, 1, 65536, pipe);
		if (got == 0)
			break;
	}
	pclose(pipe);
	return text;
}

/* Of a thousand lines so many are lost, and a tenth of that change places with the next one. */
static void damaged_write(const char *path, const char *text, size_t bytes, unsigned int lost,
			  uint64_t seed)
{
	const char *end = text + bytes, *kept = NULL;
	FILE *file = fopen(path, "w");
	size_t kept_bytes = 0;
	struct random random;

	assert_non_null(file);
	random_init(&random, seed, 0);
	for (const char *at = text, *next; at < end; at = next) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		next = newline ? newline + 1 : end;
		if (random_below(&random, 1000) < lost)
			continue;
		if (!kept && random_below(&random, 10000) < lost) {
			kept = at;
			kept_bytes = (size_t)(next - at);
			continue;
		}
		fwrite(at, 1, (size_t)(next - at), file);
		if (kept)
			fwrite(kept, 1, kept_bytes, file);
		kept = NULL;
	}
	fclose(file);
}

static void a_trace_with_holes_contradicts_nothing(void **state)
{
	char path[200];
	size_t bytes;
	char *text;

	(void)state;
	if (system("xz --version > /dev/null 2>&1") != 0)
		skip();
	text = lines_read(SAMPLES "strace-git-and-tar.txt.xz", &bytes);
	assert_true(bytes > 100000);
	snprintf(path, sizeof(path), "%s/damaged.txt", folder);
	for (uint64_t seed = 0; seed < 24; seed++) {
		damaged_write(path, text, bytes, (unsigned int)(10 + seed % 8 * 50), seed);
		replayed(path);
	}
	unlink(path);
	memory_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_of_calls_can_be_carried_out),
		cmocka_unit_test(a_trace_with_holes_contradicts_nothing),
	};

	return cmocka_run_group_tests_name("damaged traces", tests, folder_make, folder_remove);
}
