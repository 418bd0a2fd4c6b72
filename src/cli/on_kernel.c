#include "cli/on_kernel.h"

#include <string.h>

#include "base/size.h"
#include "cache/cache.h"
#include "cli/interrupt.h"

void on_kernel_begin(struct kernel_options *options, struct progress *progress, const char *what)
{
	options->interrupted = interrupt_begin();
	progress_begin(progress, what);
	options->progress = progress->wanted ? progress_update : NULL;
	options->progress_context = progress;
}

void on_kernel_end(struct progress *progress)
{
	progress_end(progress);
	interrupt_end();
}

const char *on_kernel_given(const struct on_kernel_arguments *arguments)
{
	return arguments->guest              ? "--guest"
	       : arguments->statistics       ? "--statistics"
	       : arguments->runs.given       ? "--runs"
	       : arguments->directory        ? "--directory"
	       : arguments->images           ? "--images"
	       : arguments->image_size.given ? "--image-size"
	       : arguments->block_device     ? "--block-device"
					     : NULL;
}

bool on_kernel_guest(const struct on_kernel_arguments *arguments, struct guest_kernel *kernel,
		     struct arena *arena, struct error *error)
{
	*kernel = (struct guest_kernel){0};
	if (!arguments->guest)
		return true;
	if (arguments->directory || arguments->block_device || arguments->images)
		return error_input(error, "a guest has a disk of its own: no %s with --guest",
				   arguments->directory      ? "--directory"
				   : arguments->block_device ? "--block-device"
							     : "--images");
	return guest_kernel_parse(kernel, arguments->guest, arena, error);
}

/* Less than the model can be made of is no test of it, and hours of reclaim for a kernel. */
static bool memory_check(const struct model_options *model, struct error *error)
{
	char memory[SIZE_TEXT_BYTES], least[SIZE_TEXT_BYTES];

	if (model->memory_bytes >= CACHE_MEMORY_BYTES_MIN &&
	    model->memory_bytes - CACHE_MEMORY_BYTES_MIN >= model->pinned_bytes)
		return true;
	return error_input(error,
			   "a cgroup limit of %s is too small: it takes at least %s beside what is "
			   "pinned",
			   size_format(memory, model->memory_bytes),
			   size_format(least, CACHE_MEMORY_BYTES_MIN));
}

bool on_kernel_apply(const struct on_kernel_arguments *arguments, const struct model_options *model,
		     struct kernel_options *options, struct error *error)
{
	const char *statistics = arguments->statistics ? arguments->statistics : "fresh";

	if (!memory_check(model, error))
		return false;
	options->cgroup_limit_bytes = model->memory_bytes;
	options->pinned_bytes = model->pinned_bytes;
	options->filesystem = filesystem_name(model->filesystem);
	options->readahead_bytes = model->readahead_bytes;
	options->pace = model->pace;
	options->seed = model->seed;
	if (strcmp(statistics, "lazy") == 0)
		options->statistics = KERNEL_STATISTICS_LAZY;
	else if (strcmp(statistics, "fresh") != 0)
		return error_input(error, "--statistics \"%.60s\": there are fresh and lazy",
				   statistics);
	if (arguments->runs.given && (arguments->runs.value == 0 || arguments->runs.value > 100))
		return error_input(error, "--runs is from 1 to 100");
	if (arguments->directory && (arguments->block_device || arguments->images))
		return error_input(error,
				   "--directory uses the file system that is there: no %s with it",
				   arguments->images ? "--images" : "--block-device");
	if (arguments->image_size.given && arguments->image_size.value < 320 * 1024 * 1024)
		return error_input(error, "--image-size is at least 320MiB (xfs needs it)");
	options->runs = (uint32_t)arguments->runs.value;
	options->directory = arguments->directory;
	options->image_directory = arguments->images;
	options->block_device = arguments->block_device;
	options->image_bytes = arguments->image_size.value;
	return true;
}
