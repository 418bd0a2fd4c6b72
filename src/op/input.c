#include "op/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "op/decoder.h"

enum { RAW_BYTES = 128 * 1024, MAGIC_BYTES = 6, KEPT_IN_MEMORY_BYTES = 1024 * 1024 };

static bool input_fail(struct input *input, const struct error *error)
{
	input->failed = true;
	input->failure = *error;
	return false;
}

static bool write_all(int fd, const unsigned char *from, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, from, bytes);

		if (written < 0 && errno != EINTR)
			return false;
		if (written > 0) {
			from += written;
			bytes -= (size_t)written;
		}
	}
	return true;
}

/* A file without a name; -1: none can be made. */
static int temporary_open(void)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (folders[i] && folders[i][0])
			fd = open(folders[i], O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	}
	return fd;
}

/* What came out of a pipe, for input_again(). */
static bool raw_keep(struct input *input, const unsigned char *from, size_t bytes,
		     struct error *error)
{
	if (input->kept_fd < 0 && input->kept_bytes + bytes <= KEPT_IN_MEMORY_BYTES) {
		input->kept = memory_resize(input->kept, input->kept_bytes + bytes + 1, 1);
		memcpy(input->kept + input->kept_bytes, from, bytes);
		input->kept_bytes += bytes;
		return true;
	}
	if (input->kept_fd < 0) {
		input->kept_fd = temporary_open();
		if (input->kept_fd < 0)
			return error_system(error,
					    "%s has to be read twice, and there is no place for a "
					    "temporary file (TMPDIR, /var/tmp, /tmp)",
					    input->name);
		if (!write_all(input->kept_fd, input->kept, input->kept_bytes))
			return error_system(error, "cannot keep %s in a temporary file",
					    input->name);
		memory_free(input->kept);
		input->kept = NULL;
	}
	return write_all(input->kept_fd, from, bytes) ||
	       error_system(error, "cannot keep %s in a temporary file", input->name);
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
	if (input->is_kept && !raw_keep(input, to, *got, error))
		return input_fail(input, error);
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

	input->kept_fd = -1;
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
	input->start = lseek(input->fd, 0, SEEK_CUR);
	input->is_kept = input->start < 0;
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

void input_keep_nothing(struct input *input)
{
	input->is_kept = false;
	memory_free(input->kept);
	input->kept = NULL;
	if (input->kept_fd >= 0)
		close(input->kept_fd);
	input->kept_fd = -1;
}

/* Whatever was kept, in a file. */
static bool kept_take(struct input *input, struct error *error)
{
	int fd = input->kept_fd;

	if (fd < 0) {
		fd = memfd_create("refault-input", MFD_CLOEXEC);
		if (fd < 0 || !write_all(fd, input->kept, input->kept_bytes)) {
			error_system(error, "cannot keep %s in memory", input->name);
			if (fd >= 0)
				close(fd);
			return false;
		}
	}
	input->kept_fd = -1;
	input_keep_nothing(input);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	input->fd = fd;
	input->start = 0;
	input->raw_total_bytes = input->raw_bytes;
	return true;
}

bool input_again(struct input *input, struct error *error)
{
	assert(input->is_kept || input->start >= 0);
	if (input->is_kept && !kept_take(input, error))
		return input_fail(input, error);
	if (lseek(input->fd, input->start, SEEK_SET) < 0) {
		error_system(error, "cannot read %s a second time", input->name);
		return input_fail(input, error);
	}
	input->at = input->end = input->window;
	input->window[0] = 0;
	input->last = input->failed = input->frame_ended = false;
	input->raw_bytes = input->unpacked_bytes = 0;
	if (input->decoder) {
		input->decoder->destroy(input->decoder_state);
		input->decoder_state = input->decoder->create();
		input->raw_at = input->raw_end = input->raw;
		input->raw_last = false;
	}
	return true;
}

void input_close(struct input *input)
{
	if (!input)
		return;
	if (input->decoder_state)
		input->decoder->destroy(input->decoder_state);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	if (input->kept_fd >= 0)
		close(input->kept_fd);
	memory_free(input->kept);
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
