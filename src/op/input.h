/*
 * input: the bytes of a trace, whatever they are packed in
 *
 * A window on a file (or standard input) of which the next bytes are always visible in one piece.
 * What is compressed with zstd, gzip, xz or bzip2 is recognised by its first bytes and unpacked on the
 * way, streaming: the window's memory is all that is used (and the decompressor's own: at most 128
 * MiB of zstd window, 256 MiB for xz). For the readers in op/import/ only; everybody else uses
 * op/trace.h.
 */
#ifndef REFAULT_OP_INPUT_H
#define REFAULT_OP_INPUT_H

#include "base/error.h"

enum { INPUT_WINDOW_BYTES = 512 * 1024 };

struct input_decoder;

struct input {
	const char *name;        /* for messages; owned */
	const unsigned char *at; /* the next byte; the reader moves it on */
	const unsigned char *
		/* one past the last visible byte, where a 0 stands that is not part of the input */
		end;
	bool last; /* nothing follows `end` */
	/* the compressed data ended in the middle, or a reader found its format cut off */
	bool cut_off;

	/* The rest belongs to input.c. */
	int fd;
	int64_t start; /* where in the file it begins (standard input); < 0: a pipe */
	bool is_kept;  /* a pipe: what is read is kept, in kept_fd, or, as long as that is -1, */
	int kept_fd;   /* in `kept` */
	size_t kept_bytes; /* of `kept` */
	unsigned char *kept;
	uint64_t raw_bytes;       /* read from the file */
	uint64_t raw_total_bytes; /* its length; 0: unknown */
	uint64_t unpacked_bytes;  /* that went through the window */
	unsigned char *window;
	size_t window_bytes;
	const struct input_decoder *decoder; /* NULL: plain */
	void *decoder_state;
	unsigned char *raw; /* compressed bytes not yet decoded: raw_at .. raw_end */
	const unsigned char *raw_at;
	const unsigned char *raw_end;
	bool raw_last;
	bool frame_ended; /* the compressed data may end here */
	bool failed;
	struct error failure;
};

/*
 * "-" is standard input. Fails on what cannot be opened or read; an empty file is fine here. Free
 * with input_close().
 */
struct input *input_open(const char *path, struct error *error);
void input_close(struct input *input);

/*
 * Make at least `want` bytes visible, or all there are, if fewer are left. Moves the window:
 * pointers into it die. False if the file cannot be read or unpacked any further; what came before
 * that is visible and good, and later calls fail in the same way.
 */
bool input_fill(struct input *input, size_t want, struct error *error);

/*
 * Begin again with the first byte. What is not a file (a pipe) is kept for that as it is read, in a
 * temporary file from a megabyte on ($TMPDIR, /var/tmp or /tmp), unless input_keep_nothing() said
 * before that it will not be needed. Fails if the file cannot be read again, or not be kept.
 */
bool input_again(struct input *input, struct error *error);
void input_keep_nothing(struct input *input);

static inline size_t input_visible(const struct input *input)
{
	return (size_t)(input->end - input->at);
}

/* How far through the file as it lies on disk (compressed), in bytes; total 0: unknown. */
void input_progress(const struct input *input, uint64_t *done, uint64_t *total);

#endif
