#include "machine/kernel/guest_play.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/kernel/program.h"
#include "machine/kernel/scratch.h"
#include "measure/result_json.h"

#define DISK_BYTES_DEFAULT (6 * GIB)

struct words {
	struct arena arena;
	ARRAY(const char *) all;
};

static void add(struct words *words, const char *word)
{
	*array_push(&words->all) = word;
}

static void add_number(struct words *words, const char *option, uint64_t value)
{
	char text[32];
	size_t bytes = (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	add(words, option);
	add(words, arena_text(&words->arena, text, bytes));
}

/* The command that does in the guest what was asked for here. */
static void words_make(struct words *words, const struct guest_play *play,
		       const struct kernel_options *options)
{
	bool is_trace = strcmp(play->words[0], "replay") == 0;

	add(words, "/bin/refault");
	for (size_t i = 0; play->words[i]; i++)
		add(words, play->words[i]);
	add(words, "--on");
	add(words, "kernel");
	add(words, "--json");
	add(words, "--block-device");
	add(words, GUEST_DISK);
	add(words, "--statistics");
	add(words, options->statistics == KERNEL_STATISTICS_FRESH ? "fresh" : "lazy");
	if (options->runs)
		add_number(words, "--runs", options->runs);
	if (is_trace) {
		add_number(words, "--cgroup-limit", options->cgroup_limit_bytes);
		add(words, "--filesystem");
		add(words, options->filesystem);
		if (options->readahead_bytes)
			add_number(words, "--readahead", options->readahead_bytes);
		if (options->pinned_bytes)
			add_number(words, "--pinned", options->pinned_bytes);
		add_number(words, "--seed", options->seed);
	} else {
		add_number(words, "--seed", options->seed);
		add(words, "--clock");
		add(words, options->clock == KERNEL_CLOCK_SCENARIO ? "scenario" : "real");
	}
	*array_push(&words->all) = NULL;
}

/* The first line of what the command complained with, without its own name. */
static bool complaint(const struct guest_outcome *outcome, struct error *error)
{
	static const char own[] = "refault: ";
	const char *line = outcome->errors ? outcome->errors : "";
	size_t skip = strncmp(line, own, strlen(own)) == 0 ? strlen(own) : 0;
	char first[400];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(line + skip, "\n"), line + skip);
	/* Exit 2 is an input that is wrong, here as there. */
	if (outcome->exit_code == 2)
		return error_input(error, "in the guest: %s", first);
	return error_failed(error, "in the guest (Linux %s): exit %d: %s", outcome->release,
			    outcome->exit_code, first);
}

bool guest_play_run(const struct guest_play *play, const struct kernel_options *options,
		    struct result *result, struct error *error)
{
	struct words words = {0};
	char self[4096];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct stat input;
	const char *maker;
	char maker_name[32], maker_there[64];
	/* What makes the file system there is what would make it here, with its configuration. */
	struct guest_file files[] = {
		{self, "/bin/refault", GUEST_PROGRAM},
		{play->input, GUEST_INPUT, GUEST_FILE},
		{NULL, maker_there, GUEST_PROGRAM},
		{"/etc/mke2fs.conf", "/etc/mke2fs.conf", GUEST_FILE},
	};
	const char *const modules[] = {options->filesystem, NULL};
	struct guest_options guest = {
		.kernel = play->kernel,
		.wanted_modules = modules,
		.files = files,
		.file_count = access("/etc/mke2fs.conf", R_OK) == 0 ? 4 : 3,
		.disk_bytes = options->image_bytes ? options->image_bytes : DISK_BYTES_DEFAULT,
		.memory_bytes = GIB,
	};
	struct guest_outcome outcome = {0};
	bool done = false;

	*result = (struct result){0};
	if (bytes < 0)
		return error_system(error, "the program does not find itself");
	self[bytes] = '\0';
	snprintf(maker_name, sizeof(maker_name), "mkfs.%.20s", options->filesystem);
	snprintf(maker_there, sizeof(maker_there), "/sbin/%s", maker_name);
	if (!program_find(&maker, maker_name, scratch_maker_package(options->filesystem),
			  &words.arena, error))
		goto out;
	files[2].host_path = maker;
	/* The input lies in the guest's memory, and what the group may use comes on top. */
	if (stat(play->input, &input) == 0)
		guest.memory_bytes += 2 * (uint64_t)input.st_size;
	guest.memory_bytes += 2 * options->cgroup_limit_bytes;
	words_make(&words, play, options);
	guest.command = words.all.at;
	done = guest_run(&guest, &outcome, error);
	if (done && outcome.exit_code != 0)
		done = complaint(&outcome, error);
	if (done)
		done = result_json_read(result, outcome.output, outcome.output_bytes, error) ||
		       error_context(error, "the guest (Linux %s)", outcome.release);
	if (done) {
		memory_free(result->input);
		result->input = text_copy(play->name);
		if (outcome.acceleration == GUEST_EMULATION)
			result_note(result, "the guest ran under emulation: times mean nothing");
	}
	guest_outcome_deinit(&outcome);
out:
	array_deinit(&words.all);
	arena_deinit(&words.arena);
	return done;
}
