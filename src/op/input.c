#include "op/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "op/decoder.h"

enum { RAW_BYTES = 128 * 1024, MAGIC_BYTES = 6 };

static bool input_fail(struct input *input, const struct error *error)
{
	input->failed = true;
	input->failure = *error;
	return false;
}

/* Read once into at most `bytes`; *got 0: the end. */
static bool raw_read(struct input *input, unsigned char *to, size_t bytes, size_t *got,
		     struct error *error)
{
	ssize_t result;

	do {
		result = read(input->fd, to, bytes);
	} while (result < 0 && errno == EINTR);
	if (result < 0) {
		bool directory = errno == EISDIR;

		error_system(error, "cannot read %s", input->name);
		if (directory)
			error->kind = ERROR_INPUT;
		return input_fail(input, error);
	}
	*got = (size_t)result;
	input->raw_bytes += *got;
	return true;
}

/* Make room for `want` bytes from `at` on, and put what is visible at the window's beginning. */
static void window_make_room(struct input *input, size_t want)
{
	size_t visible = input_visible(input);

	if (input->at != input->window && visible)
		memmove(input->window, input->at, visible);
	if (want > input->window_bytes) {
		/* One more than is said, for the 0 at the end. */
		input->window = memory_resize(input->window, want + 1, 1);
		input->window_bytes = want;
	}
	input->at = input->window;
	input->end = input->window + visible;
}

static void window_add(struct input *input, size_t bytes)
{
	input->end += bytes;
	input->unpacked_bytes += bytes;
	input->window[input->end - input->window] = 0;
}

static bool fill_plain(struct input *input, size_t want, struct error *error)
{
	while (input_visible(input) < want && !input->last) {
		size_t used = input_visible(input), got;

		if (!raw_read(input, input->window + used, input->window_bytes - used, &got, error))
			return false;
		input->last = got == 0;
		window_add(input, got);
	}
	return true;
}

static bool decode_once(struct input *input, struct error *error)
{
	unsigned char *to = input->window + input_visible(input);
	struct decoder_step step = {
		.from = input->raw_at,
		.from_end = input->raw_end,
		.to = to,
		.to_end = input->window + input->window_bytes,
		.from_last = input->raw_last,
	};
	bool fine = input->decoder->step(input->decoder_state, &step);
	bool moved = step.from != input->raw_at || step.to != to;
	char taken_text[2 * SIZE_TEXT_BYTES], unpacked_text[2 * SIZE_TEXT_BYTES];
	uint64_t taken;

	input->raw_at = step.from;
	window_add(input, (size_t)(step.to - to));
	taken = input->raw_bytes - (uint64_t)(input->raw_end - input->raw_at);
	if (!fine) {
		error_at(error, input->name, 0, 0,
			 "damaged %s data after %s bytes (%s unpacked): %s", input->decoder->name,
			 count_format(taken_text, taken),
			 count_format(unpacked_text, input->unpacked_bytes), step.wrong);
		return input_fail(input, error);
	}
	if (moved || step.frame_ended)
		input->frame_ended = step.frame_ended;
	if (moved || !input->raw_last)
		return true;
	if (!input->frame_ended) {
		input->cut_off = true;
		error_at(error, input->name, 0, 0,
			 "cut off: its %s data ends in the middle, after %s bytes (%s unpacked)",
			 input->decoder->name, count_format(taken_text, taken),
			 count_format(unpacked_text, input->unpacked_bytes));
		return input_fail(input, error);
	}
	input->last = true;
	return true;
}

static bool fill_decoded(struct input *input, size_t want, struct error *error)
{
	while (input_visible(input) < want && !input->last) {
		if (input->raw_at == input->raw_end && !input->raw_last) {
			size_t got;

			if (!raw_read(input, input->raw, RAW_BYTES, &got, error))
				return false;
			input->raw_at = input->raw;
			input->raw_end = input->raw + got;
			input->raw_last = got == 0;
		}
		if (!decode_once(input, error))
			return false;
	}
	return true;
}

bool input_fill(struct input *input, size_t want, struct error *error)
{
	if (input_visible(input) >= want || input->last)
		return true;
	if (input->failed) {
		*error = input->failure;
		return false;
	}
	window_make_room(input, want);
	return input->decoder ? fill_decoded(input, want, error) : fill_plain(input, want, error);
}

/* What was read to look at the magic number becomes the decoder's. */
static void decoder_begin(struct input *input)
{
	size_t visible = input_visible(input);
	size_t raw_bytes = visible > RAW_BYTES ? visible : RAW_BYTES;

	input->decoder_state = input->decoder->create();
	input->raw = memory_resize(NULL, raw_bytes, 1);
	memcpy(input->raw, input->at, visible);
	input->raw_at = input->raw;
	input->raw_end = input->raw + visible;
	input->at = input->end = input->window;
	input->unpacked_bytes = 0;
	input->last = false;
}

struct input *input_open(const char *path, struct error *error)
{
	bool standard = strcmp(path, "-") == 0;
	const char *name = standard ? "standard input" : path;
	struct input *input = memory_alloc(1, sizeof(*input));
	struct stat status;

	input->name = strcpy(memory_alloc(strlen(name) + 1, 1), name);
	input->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0) {
		bool ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO;

		error_system(error, "cannot open %s", path);
		if (!ours)
			error->kind =
				ERROR_INPUT; /* a name that leads nowhere is a wrong argument */
		input_close(input);
		return NULL;
	}
	if (fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode))
		input->raw_total_bytes = (uint64_t)status.st_size;
	input->window_bytes = INPUT_WINDOW_BYTES;
	input->window = memory_resize(NULL, INPUT_WINDOW_BYTES + 1, 1);
	input->at = input->end = input->window;
	input->window[0] = 0;
	if (!input_fill(input, MAGIC_BYTES, error)) {
		input_close(input);
		return NULL;
	}
	input->decoder = decoder_find(input->at, input_visible(input));
	if (input->decoder)
		decoder_begin(input);
	return input;
}

void input_close(struct input *input)
{
	if (!input)
		return;
	if (input->decoder_state)
		input->decoder->destroy(input->decoder_state);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	memory_free(input->window);
	memory_free(input->raw);
	memory_free((char *)(uintptr_t)input->name);
	memory_free(input);
}

void input_progress(const struct input *input, uint64_t *done, uint64_t *total)
{
	*done = input->raw_bytes;
	*total = input->raw_total_bytes;
}
