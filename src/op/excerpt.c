#include "op/trace.h"

#include <string.h>
#include <sys/stat.h>

#include "op/input.h"

enum { ROW_BYTES_MAX = 64 * 1024, FIELDS_BEFORE_PATH = 3 };

/* Move to the beginning of that line, from 1, and make it visible. False: it is not there. */
static bool line_reach(struct input *input, uint64_t line)
{
	struct error unreadable;

	for (uint64_t at = 1; at < line;) {
		const unsigned char *newline = memchr(input->at, '\n', input_visible(input));

		input->at = newline ? newline + 1 : input->end;
		at += newline != NULL;
		if (input->at == input->end &&
		    (!input_fill(input, 1, &unreadable) || input_visible(input) == 0))
			return false;
	}
	/* Where a compressed file ends in the middle, what there is of the line may do. */
	(void)input_fill(input, ROW_BYTES_MAX, &unreadable);
	return input_visible(input) > 0;
}

/* The byte after the CSV field at `at`: a comma, or the line's end. */
static const unsigned char *field_end(const unsigned char *at, const unsigned char *end)
{
	bool is_quoted = false;

	for (; at < end && (is_quoted || *at != ','); at++)
		is_quoted ^= *at == '"';
	return at;
}

static void point_at_path(struct error *error, const unsigned char *line, const unsigned char *end)
{
	const unsigned char *field = line, *after;

	for (int i = 0; i < FIELDS_BEFORE_PATH; i++) {
		field = field_end(field, end);
		if (field == end)
			return;
		field++;
	}
	after = field_end(field, end);
	error->column = (uint64_t)(field - line) + 1;
	error->columns = (uint64_t)(after - field);
}

void trace_excerpt(const char *path, struct error *error)
{
	struct stat status;
	struct error unreadable;
	const unsigned char *end, *newline;
	struct input *input;

	if (error->line == 0 || error->excerpt[0] || strcmp(path, "-") == 0)
		return;
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return; /* what a pipe held is gone */
	input = input_open(path, &unreadable);
	if (!input)
		return;
	if (line_reach(input, error->line)) {
		end = input->end;
		newline = memchr(input->at, '\n', input_visible(input));
		if (newline)
			end = newline;
		if (end > input->at && end[-1] == '\r')
			end--;
		point_at_path(error, input->at, end);
		error_excerpt(error, (const char *)input->at, (size_t)(end - input->at));
	}
	input_close(input);
}
