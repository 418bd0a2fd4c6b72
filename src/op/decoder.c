#include "op/decoder.h"

#include <assert.h>
#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"

/* zstd: frames, and skippable frames among them (pzstd puts one first) */

static bool zstd_match(const unsigned char *head, size_t bytes)
{
	if (bytes < 4)
		return false;
	return memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0 ||
	       ((head[0] & 0xf0) == 0x50 && memcmp(head + 1, "\x2a\x4d\x18", 3) == 0);
}

static void *zstd_create(void)
{
	/* The default limit, 128 MiB of window, stays: it is what keeps memory bounded. */
	ZSTD_DCtx *context = ZSTD_createDCtx();

	assert(context);
	return context;
}

static bool zstd_step(void *state, struct decoder_step *step)
{
	ZSTD_inBuffer in = {step->from, (size_t)(step->from_end - step->from), 0};
	ZSTD_outBuffer out = {step->to, (size_t)(step->to_end - step->to), 0};
	size_t result = ZSTD_decompressStream(state, &out, &in);

	step->from += in.pos;
	step->to += out.pos;
	if (ZSTD_isError(result)) {
		step->wrong = ZSTD_getErrorName(result);
		return false;
	}
	step->frame_ended = result == 0;
	return true;
}

static void zstd_destroy(void *state)
{
	ZSTD_freeDCtx(state);
}

/* gzip: members one after the other; zeros after the last one are padding (tapes, disks) */

struct gzip {
	z_stream stream;
	bool between; /* members */
	bool any;     /* a whole one was seen */
};

static bool gzip_match(const unsigned char *head, size_t bytes)
{
	return bytes >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

static void *gzip_create(void)
{
	struct gzip *gzip = memory_alloc(1, sizeof(*gzip));
	int result = inflateInit2(&gzip->stream, 15 + 16);

	assert(result == Z_OK);
	(void)result;
	return gzip;
}

static bool gzip_step(void *state, struct decoder_step *step)
{
	struct gzip *gzip = state;
	size_t room = (size_t)(step->to_end - step->to);
	size_t given;
	int result;

	if (gzip->between) {
		while (gzip->any && step->from < step->from_end && *step->from == 0)
			step->from++;
		step->frame_ended = true;
		if (step->from == step->from_end)
			return true;
		inflateReset(&gzip->stream);
		gzip->between = false;
	}
	gzip->stream.next_in =
		(unsigned char *)(uintptr_t)step->from; /* zlib's interface lacks a const */
	gzip->stream.avail_in = (unsigned int)(step->from_end - step->from);
	gzip->stream.next_out = step->to;
	gzip->stream.avail_out = room > UINT_MAX ? UINT_MAX : (unsigned int)room;
	result = inflate(&gzip->stream, Z_NO_FLUSH);
	given = (size_t)(gzip->stream.next_out - step->to);
	step->from = gzip->stream.next_in;
	step->to += given;
	step->frame_ended = result == Z_STREAM_END;
	if (result == Z_STREAM_END) {
		gzip->between = gzip->any = true;
		return true;
	}
	if (result == Z_OK || result == Z_BUF_ERROR)
		return true;
	step->wrong = gzip->stream.msg ? gzip->stream.msg : "not gzip data";
	return false;
}

static void gzip_destroy(void *state)
{
	struct gzip *gzip = state;

	inflateEnd(&gzip->stream);
	memory_free(gzip);
}

/* xz: streams one after the other, with their padding */

static bool xz_match(const unsigned char *head, size_t bytes)
{
	return bytes >= 6 && memcmp(head,
				    "\xfd"
				    "7zXZ\0",
				    6) == 0;
}

static void *xz_create(void)
{
	lzma_stream *stream = memory_alloc(1, sizeof(*stream));
	lzma_ret result;

	*stream = (lzma_stream)LZMA_STREAM_INIT;
	result = lzma_stream_decoder(stream, UINT64_C(256) << 20, LZMA_CONCATENATED);
	assert(result == LZMA_OK);
	(void)result;
	return stream;
}

static const char *xz_wrong(lzma_ret result)
{
	switch (result) {
	case LZMA_MEM_ERROR:
	case LZMA_MEMLIMIT_ERROR:
		return "it needs more than 256 MiB to unpack";
	case LZMA_FORMAT_ERROR:
		return "not xz data";
	case LZMA_OPTIONS_ERROR:
		return "it uses options unknown here";
	default:
		return "its check sums do not match";
	}
}

static bool xz_step(void *state, struct decoder_step *step)
{
	lzma_stream *stream = state;
	lzma_ret result;

	stream->next_in = step->from;
	stream->avail_in = (size_t)(step->from_end - step->from);
	stream->next_out = step->to;
	stream->avail_out = (size_t)(step->to_end - step->to);
	result = lzma_code(stream, step->from_last ? LZMA_FINISH : LZMA_RUN);
	step->from = stream->next_in;
	step->to = stream->next_out;
	step->frame_ended = result == LZMA_STREAM_END;
	if (result == LZMA_OK || result == LZMA_STREAM_END || result == LZMA_BUF_ERROR)
		return true;
	step->wrong = xz_wrong(result);
	return false;
}

static void xz_destroy(void *state)
{
	lzma_end(state);
	memory_free(state);
}

/* bzip2: streams one after the other (pbzip2 makes many); no padding between or behind them */

struct bzip2 {
	bz_stream stream;
	bool between; /* streams */
};

static bool bzip2_match(const unsigned char *head, size_t bytes)
{
	return bytes >= 4 && memcmp(head, "BZh", 3) == 0 && head[3] >= '1' && head[3] <= '9';
}

static void bzip2_begin(struct bzip2 *bzip2)
{
	int result = BZ2_bzDecompressInit(&bzip2->stream, 0, 0);

	assert(result == BZ_OK);
	(void)result;
}

static void *bzip2_create(void)
{
	struct bzip2 *bzip2 = memory_alloc(1, sizeof(*bzip2));

	bzip2_begin(bzip2);
	return bzip2;
}

static bool bzip2_step(void *state, struct decoder_step *step)
{
	struct bzip2 *bzip2 = state;
	size_t room = (size_t)(step->to_end - step->to);
	unsigned int given = room > UINT_MAX ? UINT_MAX : (unsigned int)room;
	int result;

	if (bzip2->between) {
		step->frame_ended = true;
		if (step->from == step->from_end)
			return true;
		BZ2_bzDecompressEnd(&bzip2->stream);
		bzip2->stream = (bz_stream){0};
		bzip2_begin(bzip2);
		bzip2->between = false;
	}
	bzip2->stream.next_in = (char *)(uintptr_t)step->from; /* its interface lacks a const */
	bzip2->stream.avail_in = (unsigned int)(step->from_end - step->from);
	bzip2->stream.next_out = (char *)step->to;
	bzip2->stream.avail_out = given;
	result = BZ2_bzDecompress(&bzip2->stream);
	step->from = step->from_end - bzip2->stream.avail_in;
	step->to += given - bzip2->stream.avail_out;
	step->frame_ended = bzip2->between = result == BZ_STREAM_END;
	if (result == BZ_OK || result == BZ_STREAM_END)
		return true;
	step->wrong =
		result == BZ_DATA_ERROR_MAGIC ? "not bzip2 data" : "its check sums do not match";
	return false;
}

static void bzip2_destroy(void *state)
{
	struct bzip2 *bzip2 = state;

	BZ2_bzDecompressEnd(&bzip2->stream);
	memory_free(bzip2);
}

static const struct input_decoder decoders[] = {
	{"zstd", zstd_match, zstd_create, zstd_step, zstd_destroy},
	{"gzip", gzip_match, gzip_create, gzip_step, gzip_destroy},
	{"xz", xz_match, xz_create, xz_step, xz_destroy},
	{"bzip2", bzip2_match, bzip2_create, bzip2_step, bzip2_destroy},
};

const struct input_decoder *decoder_find(const unsigned char *head, size_t bytes)
{
	for (size_t i = 0; i < sizeof(decoders) / sizeof(decoders[0]); i++) {
		if (decoders[i].match(head, bytes))
			return &decoders[i];
	}
	return NULL;
}
