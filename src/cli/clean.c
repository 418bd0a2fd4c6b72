/*
 * refault clean: what killed runs on the kernel have left
 */
#include "cli/command.h"
#include "machine/kernel/janitor.h"

struct clean_arguments {
	struct text_list nothing;
};

static const struct option options[] = {{0}};

static void say(void *context, const char *path, bool is_gone)
{
	size_t *count = context;

	printf("%s %s\n", is_gone ? "removed" : "cannot remove", path);
	++*count;
}

static int clean(const void *values)
{
	size_t count = 0, left;

	(void)values;
	left = janitor_clean(say, &count);
	if (count == 0)
		puts("Nothing is left over.");
	return left ? 1 : 0;
}

static const char *const usage[] = {"clean", NULL};

static const struct example examples[] = {
	{"clean", "after a `kill -9` of everything, or a crash of the machine"},
	{0},
};

const struct command command_clean = {
	.usage = usage,
	.description =
		"Remove what `--on kernel` and `validate` may have left: memory cgroups and "
		"folders of "
		"runs that nobody sees to any more. A run tidies up behind itself, however it "
		"ends, "
		"even by `kill -9`; only if the process that sees to this is killed too, something "
		"is left. Its file system, loop device and image are never: they end with the last "
		"process that uses them. What belongs to runs that go on, or to others, is not "
		"touched.\n\n"
		"Exit 1 if something could not be removed.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct clean_arguments),
	.operands_offset = offsetof(struct clean_arguments, nothing),
	.operands_max = 0,
	.run = clean,
};
