/*
 * text: any text with a request in each row, of which the user says what is where
 *
 *     --columns time=1,device=2,op=3,offset=4,bytes=5,unit=512
 *
 * Idea       the reader of the other block traces (request_columns.h) with columns from outside.
 * Columns    NAME=COLUMN: time, response, op, offset (or sector, page), bytes (or sectors, pages),
 *            device, device2, thread. A column is a number from 1 on, or its name in the first row.
 *            sector and sectors have a unit of 512 bytes, page and pages of 4096.
 * Settings   unit, offset-unit, bytes-unit: what a number in those columns stands for, a size;
 *            time-unit, response-unit: ns, us, ms, s (if not said) or 100ns; read, write: the words
 *            for them, with | between ("read=0,write=1"); size: of all requests, without a column;
 *            separator: comma, semicolon, tab, blank, colon or pipe (if not said: what the first row
 *            has); name: of the file, without a column for the device.
 */
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "op/rows/request_columns.h"

enum { SPEC_BYTES_MAX = 1000, PARTS_MAX = 32 };

struct text {
	struct request_reader reader; /* first: request_columns.h */
	char spec[SPEC_BYTES_MAX];    /* taken apart; the columns' words lie in it */
	struct {
		const char *name, *value;
	} parts[PARTS_MAX];
	size_t part_count;
};

static const struct request_columns defaults = {
	.time_unit_ns = NS_PER_SECOND,
	.response_unit_ns = NS_PER_SECOND,
	.offset_unit_bytes = 1,
	.bytes_unit_bytes = 1,
	.reads = "r|read|rd|ra|get|load",
	.writes = "w|write|wr|ws|put|set|store",
	.device = "",
	.may_be_blanks = true,
};

static const struct {
	const char *name;
	enum request_column column;
	uint64_t unit_bytes; /* 0: it says none */
} column_words[] = {
	{"time", COLUMN_TIME, 0},
	{"response", COLUMN_RESPONSE, 0},
	{"op", COLUMN_OP, 0},
	{"offset", COLUMN_OFFSET, 0},
	{"sector", COLUMN_OFFSET, 512},
	{"page", COLUMN_OFFSET, PAGE_BYTES},
	{"bytes", COLUMN_BYTES, 0},
	{"sectors", COLUMN_BYTES, 512},
	{"pages", COLUMN_BYTES, PAGE_BYTES},
	{"device", COLUMN_DEVICE, 0},
	{"device2", COLUMN_DEVICE_TOO, 0},
	{"thread", COLUMN_THREAD, 0},
};

enum { COLUMN_WORDS = sizeof(column_words) / sizeof(column_words[0]) };

static const char *const settings[] = {"unit",          "offset-unit", "bytes-unit", "time-unit",
				       "response-unit", "read",        "write",      "size",
				       "separator",     "name"};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static const char *word_at(const void *context, size_t index)
{
	(void)context;
	return index < COLUMN_WORDS              ? column_words[index].name
	       : index - COLUMN_WORDS < SETTINGS ? settings[index - COLUMN_WORDS]
						 : NULL;
}

static bool separator_read(char *separator, const char *word, struct error *error)
{
	static const struct {
		const char *word;
		char separator;
	} words[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"blank", ' '},
		     {"colon", ':'}, {"pipe", '|'},      {",", ','},    {";", ';'}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, word) == 0) {
			*separator = words[i].separator;
			return true;
		}
	}
	return error_input(error,
			   "--columns separator=%.20s: comma, semicolon, tab, blank, colon or pipe "
			   "was expected",
			   word);
}

static bool time_unit_read(uint64_t *ns, const char *word, struct error *error)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} words[] = {{"ns", 1},
		     {"us", NS_PER_US},
		     {"ms", NS_PER_MS},
		     {"s", NS_PER_SECOND},
		     {"100ns", 100}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, word) == 0) {
			*ns = words[i].ns;
			return true;
		}
	}
	return error_input(
		error, "--columns: a time's unit \"%.20s\" is none of ns, us, ms, s, 100ns", word);
}

static bool unit_read(uint64_t *bytes, const char *name, const char *word, struct error *error)
{
	if (!size_parse(bytes, word, name, error))
		return error_context(error, "--columns");
	if (*bytes == 0 || *bytes > GIB)
		return error_input(error, "--columns %s=%.20s: from 1 byte to 1GiB was expected",
				   name, word);
	return true;
}

static bool setting_read(struct request_columns *columns, const char *name, const char *value,
			 struct error *error)
{
	if (strcmp(name, "unit") == 0) {
		if (!unit_read(&columns->offset_unit_bytes, name, value, error))
			return false;
		columns->bytes_unit_bytes = columns->offset_unit_bytes;
		return true;
	}
	if (strcmp(name, "offset-unit") == 0)
		return unit_read(&columns->offset_unit_bytes, name, value, error);
	if (strcmp(name, "bytes-unit") == 0)
		return unit_read(&columns->bytes_unit_bytes, name, value, error);
	if (strcmp(name, "size") == 0)
		return unit_read(&columns->bytes_fixed, name, value, error);
	if (strcmp(name, "time-unit") == 0)
		return time_unit_read(&columns->time_unit_ns, value, error);
	if (strcmp(name, "response-unit") == 0)
		return time_unit_read(&columns->response_unit_ns, value, error);
	if (strcmp(name, "separator") == 0)
		return separator_read(&columns->separator, value, error);
	if (strcmp(name, "read") == 0)
		columns->reads = value;
	else if (strcmp(name, "write") == 0)
		columns->writes = value;
	else
		columns->device = value;
	return true;
}

/* The place of the column that the first row calls so. */
static bool place_named(struct import *import, const struct request_columns *columns,
			const char *name, uint8_t *place, struct error *error)
{
	struct input *input = import->input;
	const unsigned char *at;
	struct error unreadable;
	struct field fields[COLUMN_PLACE_MAX];
	char separators[] = ",;\t ";
	struct row row;

	(void)input_fill(input, ROW_BYTES_MAX, &unreadable);
	at = input->at;
	if (!row_peek(&at, input->end, input->last, &row))
		return error_at(error, input->name, 1, 1, "no first row to look for \"%.80s\" in",
				name);
	if (columns->separator) {
		separators[0] = columns->separator;
		separators[1] = '\0';
	}
	for (const char *separator = separators; *separator; separator++) {
		unsigned int count = row_split(&row, *separator, fields, COLUMN_PLACE_MAX);

		for (unsigned int i = 0; i < count && i < COLUMN_PLACE_MAX; i++) {
			if (field_is(&fields[i], name)) {
				*place = (uint8_t)(i + 1);
				return true;
			}
		}
	}
	error_at(error, input->name, 1, 1, "no column of the first row is called \"%.80s\"", name);
	error->columns = (uint64_t)(row.end - row.at);
	return error_excerpt(error, (const char *)row.at, (size_t)(row.end - row.at));
}

static bool column_read(struct import *import, struct request_columns *columns, size_t word,
			const char *value, struct error *error)
{
	enum request_column column = column_words[word].column;
	uint64_t unit = column_words[word].unit_bytes, place;
	struct error no_number;

	if (columns->place[column])
		return error_input(error,
				   "--columns: the %s has a column already when %s=%.40s comes",
				   column == COLUMN_OFFSET  ? "offset"
				   : column == COLUMN_BYTES ? "size"
							    : column_words[word].name,
				   column_words[word].name, value);
	if (!number_parse(&place, value, column_words[word].name, &no_number)) {
		if (!place_named(import, columns, value, &columns->place[column], error))
			return false;
		columns->first_is_header = true;
	} else if (place < 1 || place > COLUMN_PLACE_MAX) {
		return error_input(error, "--columns %s=%.20s: columns are 1 to %d",
				   column_words[word].name, value, COLUMN_PLACE_MAX);
	} else {
		columns->place[column] = (uint8_t)place;
	}
	if (unit && column == COLUMN_OFFSET && columns->offset_unit_bytes == 1)
		columns->offset_unit_bytes = unit;
	if (unit && column == COLUMN_BYTES && columns->bytes_unit_bytes == 1)
		columns->bytes_unit_bytes = unit;
	return true;
}

/* Take "NAME=VALUE,NAME=VALUE" apart, in its place. */
static bool parts_read(struct text *text, const char *spec, struct error *error)
{
	if (strlen(spec) >= sizeof(text->spec))
		return error_input(error, "--columns is longer than %d bytes", SPEC_BYTES_MAX);
	strcpy(text->spec, spec);
	for (char *at = text->spec, *next; at; at = next) {
		char *equals;

		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		equals = strchr(at, '=');
		if (!equals || equals == at || equals[1] == '\0')
			return error_input(error, "--columns: \"%.80s\" is not NAME=COLUMN", at);
		*equals = '\0';
		if (text->part_count == PARTS_MAX)
			return error_input(error, "--columns: more than %d parts", PARTS_MAX);
		text->parts[text->part_count].name = at;
		text->parts[text->part_count++].value = equals + 1;
	}
	return true;
}

static bool is_setting(const char *name)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		if (strcmp(settings[i], name) == 0)
			return true;
	}
	return false;
}

static bool name_unknown(const char *name, struct error *error)
{
	const char *nearest = nearest_word(name, word_at, NULL);

	return error_input(error, "--columns: there is no \"%.40s\"%s%s%s", name,
			   nearest ? " (nearest: " : "", nearest ? nearest : "",
			   nearest ? ")" : "");
}

/* Settings first: they say how the first row is to be read. */
static bool spec_read(struct import *import, struct request_columns *columns, struct error *error)
{
	struct text *text = import->state;

	for (size_t i = 0; i < text->part_count; i++) {
		if (is_setting(text->parts[i].name) &&
		    !setting_read(columns, text->parts[i].name, text->parts[i].value, error))
			return false;
	}
	for (size_t i = 0; i < text->part_count; i++) {
		size_t word = 0;

		if (is_setting(text->parts[i].name))
			continue;
		while (word < COLUMN_WORDS &&
		       strcmp(column_words[word].name, text->parts[i].name) != 0)
			word++;
		if (word == COLUMN_WORDS)
			return name_unknown(text->parts[i].name, error);
		if (!column_read(import, columns, word, text->parts[i].value, error))
			return false;
	}
	return true;
}

static bool text_begin(struct import *import, struct error *error)
{
	struct text *text = import->state;
	struct request_columns columns = defaults;

	if (!import->columns)
		return error_input(error, "a text's columns must be named, as in --columns "
					  "offset=3,bytes=4,op=2,time=1,unit=512");
	if (!parts_read(text, import->columns, error) || !spec_read(import, &columns, error))
		return false;
	if (!columns.place[COLUMN_OFFSET])
		return error_input(error, "--columns: which one is the offset? (offset=COLUMN, or "
					  "sector= or page=)");
	if (columns.place[COLUMN_BYTES] && columns.bytes_fixed)
		return error_input(error, "--columns: bytes= and size= are one too many");
	if (!columns.place[COLUMN_BYTES] && !columns.bytes_fixed) {
		if (columns.offset_unit_bytes != PAGE_BYTES)
			return error_input(error,
					   "--columns: how large are requests? (bytes=COLUMN, "
					   "sectors= or pages=, or size=SIZE for all)");
		columns.bytes_fixed = PAGE_BYTES;
	}
	if (columns.place[COLUMN_DEVICE_TOO] && !columns.place[COLUMN_DEVICE])
		return error_input(error, "--columns: device2= without device=");
	for (unsigned int i = 0; i < COLUMN_COUNT; i++) {
		if (i != COLUMN_RESPONSE && columns.place[i] > columns.least)
			columns.least = columns.place[i];
	}
	if (!columns.place[COLUMN_DEVICE] && !columns.device[0])
		columns.device = "disk";
	/* Microseconds are counted, often in 32 bits; the others may have decimals. */
	columns.time_tick_ns = columns.time_unit_ns == NS_PER_US || columns.time_unit_ns == 100
				       ? columns.time_unit_ns
				       : 1;
	request_columns_begin(import, &columns);
	return true;
}

static enum import_match text_match(const unsigned char *head, size_t bytes, bool whole)
{
	(void)head;
	(void)bytes;
	(void)whole;
	return IMPORT_NO; /* nothing says what is where: --columns does */
}

const struct import_format format_text = {
	.about = {.name = "text",
		  .summary = "any text with a request in each row: --columns says what is where",
		  .takes_columns = true},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct text),
	.match = text_match,
	.begin = text_begin,
	.next = request_columns_next,
};
