/*
 * decoder: one interface to zstd, gzip, xz and bzip2
 */
#ifndef REFAULT_OP_DECODER_H
#define REFAULT_OP_DECODER_H

#include <stdbool.h>
#include <stddef.h>

/* What a step may take and give. It moves the pointers on by what it took and gave. */
struct decoder_step {
	const unsigned char *from;
	const unsigned char *from_end;
	unsigned char *to;
	unsigned char *to_end;
	bool from_last;    /* nothing comes after from_end */
	bool frame_ended;  /* out: a whole frame (stream, member) is done, nothing is half-read */
	const char *wrong; /* out, when the step fails: why */
};

struct input_decoder {
	const char *name;
	bool (*match)(const unsigned char *head, size_t bytes);
	void *(*create)(void);
	bool (*step)(void *state, struct decoder_step *step); /* false: the data is damaged */
	void (*destroy)(void *state);
};

/* NULL: not compressed in a way known here. 6 bytes of `head` are enough. */
const struct input_decoder *decoder_find(const unsigned char *head, size_t bytes);

#endif
