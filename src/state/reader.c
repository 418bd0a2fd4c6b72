/*
 * reader: texts cut into dumps
 *
 * A line is a row of the dump that has begun, or begins another one, or is a heading (heading.h), or
 * is what people write between dumps. What looks like a row of the dump that has begun and cannot be
 * read is an error, and so is any other line that stands between two rows of one dump.
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "op/input.h"
#include "state/dump.h"
#include "state/heading.h"

/* More rows that cannot be read are forgiven only if they are few among all. */
enum { GARBLED_FEW = 3, GARBLED_SHARE = 100, ENTRIES_MAX = 20000, DUMPS_MAX = 4000 };

struct reader {
	struct state *state;
	const char *file;
	struct dump *open; /* NULL: none */
	/* from the heading, or the file's name: what is expected now, and after it */
	const char *names[HEADING_NAMES_MAX];
	size_t name_count, name_at;
	bool is_of_another;
	bool is_named; /* by a heading, or by a file of just that name: names[0] is no guess */
	const char *cgroup, *label;
	enum state_clock clock;
	uint64_t time_ns, sleep_ns;
	bool is_clock_fixed;
	const char *prefix; /* "/proc/vmstat" of lines "/proc/vmstat:nr_dirty 3"; NULL: none */
	size_t prefix_bytes;

	struct row stray; /* the last line that was nothing, since a row of `open`; line 0: none */
	uint64_t rows, garbled;
};

/* ---- what kinds have in common ---- */

bool word_is_among(const struct field *field, const char *const *words)
{
	for (; *words; words++) {
		size_t bytes = strlen(*words);
		bool is_prefix = (*words)[bytes - 1] == '*';

		bytes -= is_prefix;
		if ((is_prefix ? field->bytes >= bytes : field->bytes == bytes) &&
		    memcmp(field->at, *words, bytes) == 0)
			return true;
	}
	return false;
}

const char *const pair_events[] = {"workingset_*", "pgfault",      "pgmajfault",  "pgpgin",
				   "pgpgout",      "pgscan*",      "pgsteal*",    "pgrefill",
				   "pgactivate",   "pgdeactivate", "pglazyfree*", "pgdemote_*",
				   "pgpromote_*",  "thp_*",        "zswp*",       "numa_*",
				   "swpin_zero",   "swpout_zero",  NULL};

bool pair_is(const struct row *row)
{
	uint64_t value;

	return row->field_count == 2 && word_is_name(&row->fields[0]) &&
	       word_number(&row->fields[1], &value);
}

bool pair_resembles(const struct row *row)
{
	if (!word_is_name(&row->fields[0]) || row->field_count > 3)
		return false;
	/* A word alone may be prose; with a digit or an underscore it is a counter without its number. */
	if (row->field_count == 1)
		return memchr(row->fields[0].at, '_', row->fields[0].bytes) != NULL;
	return row->field_count == 2 ||
	       (row->fields[1].at[0] >= '0' && row->fields[1].at[0] <= '9');
}

bool pair_read(struct state *state, struct dump *dump, const struct row *row, struct error *error)
{
	uint64_t value;

	if (row->field_count < 2 || !word_number(&row->fields[1], &value))
		return dump_row_wrong(row, 1, "a whole number", error);
	if (row->field_count > 2)
		return dump_row_wrong(row, 2, "the end of the line", error);
	dump_add_value(state, dump, row, &row->fields[0], value);
	return true;
}

struct entry *dump_add(struct state *state, struct dump *dump, const struct row *row,
		       const char *name, size_t name_bytes)
{
	struct entry *entry = array_push(&dump->entries);

	*entry = (struct entry){
		.name = arena_text(&state->arena, name, name_bytes),
		.file = row->file,
		.line = row->line,
		.text = row->text,
	};
	return entry;
}

void dump_add_value(struct state *state, struct dump *dump, const struct row *row,
		    const struct field *name, uint64_t value)
{
	struct entry *entry = dump_add(state, dump, row, name->at, name->bytes);

	entry->values[0] = value;
	entry->value_count = 1;
}

/* ---- dumps ---- */

static bool is_of_cgroup(enum dump_id id, const char *called)
{
	switch (id) {
	case DUMP_MEMORY_STAT:
	case DUMP_MEMORY_EVENTS:
	case DUMP_CGROUP_STAT:
	case DUMP_OOM_CONTROL:
	case DUMP_CGROUP_VALUE:
		return true;
	case DUMP_PRESSURE:
		return strstr(called, ".pressure") != NULL;
	default:
		return false;
	}
}

static bool has_dump_like(const struct reader *reader, enum dump_id id, const char *name)
{
	for (size_t i = 0; i < reader->state->dumps.count; i++) {
		const struct dump *dump = reader->state->dumps.at[i];

		if (dump->id == id && strcmp(dump->name, name) == 0 && dump->file == reader->file)
			return true;
	}
	return false;
}

/* "sleep 30" counts from the first dump that is there again. */
static void clock_set(struct reader *reader, struct dump *dump)
{
	if (reader->sleep_ns && has_dump_like(reader, dump->id, dump->name)) {
		reader->time_ns += reader->sleep_ns;
		reader->sleep_ns = 0;
	}
	dump->clock = reader->clock;
	dump->time_ns = reader->time_ns;
}

static const char *cgroup_of(const struct reader *reader)
{
	const char *given = reader->state->options.cgroup;

	return reader->cgroup ? reader->cgroup : given ? given : "";
}

static void dump_begin(struct reader *reader, enum dump_id id, const char *called)
{
	struct dump *dump = arena_alloc(&reader->state->arena, sizeof(*dump));

	dump->id = id;
	dump->name = dump_kind(id)->which ? dump_kind(id)->which(called) : "";
	dump->cgroup = is_of_cgroup(id, called) ? cgroup_of(reader) : NULL;
	dump->label = reader->label;
	dump->file = reader->file;
	clock_set(reader, dump);
	reader->open = dump;
	*array_push(&reader->state->dumps) = dump;
}

static bool has_twice(const struct dump *dump, size_t from)
{
	for (size_t i = from; i < dump->entries.count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(dump->entries.at[i].name, dump->entries.at[j].name) == 0)
				return true;
		}
	}
	return false;
}

/* Read into the open dump, or into a new one like it if it has a row of that name already. */
static bool row_read(struct reader *reader, struct row *row, struct error *error)
{
	struct dump *dump = reader->open;
	size_t before = dump->entries.count;
	const struct dump_kind *kind = dump_kind(dump->id);

	if (!row->text[0])
		return true;
	if (!kind->read(reader->state, dump, row, error))
		return false;
	if (before && has_twice(dump, before)) {
		dump->entries.count = before;
		/* The next of several that one heading names: pressure/memory, then pressure/io. */
		if (kind->which && reader->name_at + 1 < reader->name_count)
			row->called = reader->names[++reader->name_at];
		dump_begin(reader, dump->id, row->called);
		dump = reader->open;
		if (!kind->read(reader->state, dump, row, error))
			return false;
	}
	if (dump->entries.count > ENTRIES_MAX) {
		error_at(error, reader->file, row->line, 0,
			 "more than %d different names in one %s: that is no dump of a kernel",
			 ENTRIES_MAX, kind->title);
		return false;
	}
	if (reader->state->dumps.count > DUMPS_MAX)
		return error_at(error, reader->file, row->line, 0,
				"more than %d dumps: diagnose them in parts", DUMPS_MAX);
	if (!dump->first_line)
		dump->first_line = row->line;
	/* Each is one of its kind; which, its row says. */
	if ((dump->id == DUMP_FS_STATE || dump->id == DUMP_SETTING) && dump->own_text)
		dump->name = dump->own_text;
	dump->last_line = row->line;
	dump->row_count++;
	reader->rows++;
	return true;
}

/* ---- which kind a row is of ---- */

struct choice {
	enum dump_id id;
	enum row_match match;
	size_t name_at; /* of the names expected */
};

static bool is_called(enum dump_id id, const char *called)
{
	const char *const *files = dump_kind(id)->files;

	for (; *files; files++) {
		if (strcmp(*files, called) == 0)
			return true;
	}
	return false;
}

/* The surest kind, with what it may be called. */
static struct choice choose(const struct reader *reader, struct row *row)
{
	struct choice best = {.match = ROW_NO, .name_at = reader->name_at};
	size_t names = reader->name_at < reader->name_count ? reader->name_count : 0;

	for (size_t i = reader->name_at; i == reader->name_at || i < names; i++) {
		row->called = i < names ? reader->names[i] : "";
		for (enum dump_id id = 0; id < DUMP_ID_COUNT; id++) {
			enum row_match match = dump_kind(id)->match(row, NULL);

			/* What cannot be told otherwise is what it is called. */
			if (match >= ROW_PERHAPS && match < ROW_YES && is_called(id, row->called))
				match = ROW_YES;
			if (match > best.match)
				best = (struct choice){id, match, i};
		}
		if (best.match >= ROW_YES)
			break;
	}
	if (best.match < ROW_LIKELY)
		best.match = ROW_NO;
	row->called = best.name_at < names ? reader->names[best.name_at] : "";
	return best;
}

/* Begun with rows that two kinds have, and now one that only the other has. */
static bool turns_out_to_be(const struct dump *open, const struct choice *other)
{
	return !open->is_certain && other->match == ROW_YES &&
	       ((open->id == DUMP_VMSTAT && other->id == DUMP_MEMORY_STAT) ||
		(open->id == DUMP_MEMORY_STAT && other->id == DUMP_VMSTAT));
}

/* Of which dump is this row? Opens it, and returns true; false: of none. */
static bool place(struct reader *reader, struct row *row)
{
	struct dump *open = reader->open;
	const char *called =
		reader->name_at < reader->name_count ? reader->names[reader->name_at] : "";
	enum row_match match = ROW_NO;
	struct choice other;

	if (open) {
		row->called = called;
		match = dump_kind(open->id)->match(row, open);
		if (match == ROW_YES ||
		    (match >= ROW_PERHAPS && match < ROW_YES && open->is_named)) {
			open->is_certain = true;
			return true;
		}
	}
	other = choose(reader, row);
	if (open && match >= ROW_PERHAPS && match < ROW_YES) {
		if (turns_out_to_be(open, &other)) {
			open->id = other.id;
			open->cgroup = is_of_cgroup(other.id, called) ? cgroup_of(reader) : NULL;
			open->is_certain = true;
			return true;
		}
		if (other.match < ROW_YES || other.id == open->id) {
			row->called = called;
			return true;
		}
	}
	if (other.match == ROW_NO)
		return false;
	reader->name_at = other.name_at;
	dump_begin(reader, other.id, row->called);
	reader->open->is_named = reader->is_named && reader->name_count == 1 &&
				 is_called(other.id, reader->names[0]);
	reader->open->is_certain = other.match >= ROW_YES && !is_called(other.id, row->called);
	return true;
}

/* A file of one number is done with it: the next number is the next one's. */
static void name_use(struct reader *reader)
{
	if (reader->open->id == DUMP_CGROUP_VALUE || reader->open->id == DUMP_SETTING ||
	    reader->open->id == DUMP_FS_STATE)
		reader->name_at += reader->name_at < reader->name_count;
}

/* ---- lines ---- */

/* Time is counted from the first dump of this file on. */
static void clock_begin(struct reader *reader)
{
	for (size_t i = 0; i < reader->state->dumps.count; i++) {
		struct dump *dump = reader->state->dumps.at[i];

		if (dump->file == reader->file && dump->clock == CLOCK_NONE)
			dump->clock = CLOCK_RELATIVE;
	}
	reader->clock = CLOCK_RELATIVE;
}

static void heading_apply(struct reader *reader, const struct heading *heading, const char *text)
{
	reader->label = text;
	if (heading->name_count) {
		memcpy(reader->names, heading->names, sizeof(reader->names));
		reader->name_count = heading->name_count;
		reader->name_at = 0;
		reader->is_of_another = heading->is_of_another;
		reader->is_named = true;
		reader->cgroup = heading->cgroup;
		reader->open = NULL;
		reader->prefix = NULL;
	}
	if (heading->clock != CLOCK_NONE && !reader->is_clock_fixed) {
		reader->clock = heading->clock;
		reader->time_ns = heading->time_ns;
		reader->open = NULL;
	}
	if (heading->sleep_ns && !reader->is_clock_fixed) {
		if (reader->clock == CLOCK_NONE)
			clock_begin(reader);
		reader->sleep_ns += heading->sleep_ns;
	}
	reader->stray.line = 0;
}

/* A row that cannot be read: the error stays, or is forgiven. */
static bool garbled(struct reader *reader, struct error *error)
{
	if (!reader->state->options.lenient)
		return false;
	reader->garbled++;
	reader->state->skipped++;
	*error = (struct error){0};
	return true;
}

static bool stray_is_wrong(struct reader *reader, struct error *error)
{
	const struct row *row = &reader->stray;

	error_at(error, reader->file, row->line, 1,
		 "stands in the middle of %s, and is no row of it",
		 dump_kind(reader->open->id)->title);
	error->columns = row->raw_bytes;
	error_excerpt(error, row->raw, row->raw_bytes);
	reader->stray.line = 0;
	return garbled(reader, error);
}

/* "/proc/vmstat:nr_dirty 3", of grep: the path's length; 0: no such prefix. */
static size_t prefix_of(const char *line, size_t bytes)
{
	const char *colon = memchr(line, ':', bytes);
	size_t length = colon ? (size_t)(colon - line) : 0, at;
	const char *name;

	if (length == 0 || length + 1 >= bytes || memchr(line, ' ', length))
		return 0;
	name = heading_name_in(line, length, &at);
	return name && at + strlen(name) == length ? length : 0;
}

static void prefix_take(struct reader *reader, const char **line, size_t *bytes)
{
	size_t length = prefix_of(*line, *bytes);

	if (length == 0)
		return;
	if (!reader->prefix || reader->prefix_bytes != length ||
	    memcmp(reader->prefix, *line, length) != 0 || reader->name_at == reader->name_count) {
		struct heading heading;
		const char *text = arena_text(&reader->state->arena, *line, length);

		heading_read(reader->state, &heading, text);
		heading_apply(reader, &heading, text);
		reader->prefix = text;
		reader->prefix_bytes = length;
	}
	*line += length + 1;
	*bytes -= length + 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* A line that is no row: a heading, a row that something happened to, or something else. */
static bool other_line(struct reader *reader, const struct row *row, struct error *error)
{
	bool is_like_row = reader->open && dump_kind(reader->open->id)->resembles(row);
	struct heading heading;

	heading_read(reader->state, &heading, row->text);
	if (heading.name_count == 0 && heading.clock == CLOCK_NONE && !heading.is_marked &&
	    !heading.sleep_ns && is_like_row) {
		struct dump scratch = {.id = reader->open->id, .own_text = reader->open->own_text};
		bool is_fine;

		memcpy(scratch.own, reader->open->own, sizeof(scratch.own));
		is_fine = dump_kind(scratch.id)->read(reader->state, &scratch, row, error);
		array_deinit(&scratch.entries);
		if (is_fine)
			dump_row_wrong(row, 0, "a row like those before it", error);
		return garbled(reader, error);
	}
	if (heading.name_count || heading.clock != CLOCK_NONE || heading.is_marked ||
	    heading.sleep_ns || row->raw[row->raw_bytes - 1] == ':') {
		heading_apply(reader, &heading, row->text);
		return true;
	}
	reader->state->passed_over++;
	if (reader->open)
		reader->stray = *row;
	return true;
}

static bool line_read(struct reader *reader, const char *line, size_t bytes, uint64_t number,
		      struct error *error)
{
	struct row row = {.file = reader->file, .line = number, .called = ""};
	struct dump *before;

	/* Quoted in a mail. */
	while (bytes > 1 && line[0] == '>' && line[1] == ' ') {
		line += 2;
		bytes -= 2;
	}
	while (bytes && is_blank(line[bytes - 1]))
		bytes--;
	while (row.indent < bytes && is_blank(line[row.indent]))
		row.indent++;
	if (row.indent == bytes)
		return true;
	prefix_take(reader, &line, &bytes);
	dump_row_cut(&row, line, bytes);
	if (row.field_count == 0)
		return true;
	row.text = arena_text(&reader->state->arena, row.fields[0].at,
			      (size_t)(line + bytes - row.fields[0].at));
	before = reader->open;
	if (reader->is_of_another || !place(reader, &row)) {
		if (!reader->is_of_another)
			return other_line(reader, &row, error);
		reader->open = NULL;
		return other_line(reader, &row, error);
	}
	if (!row_read(reader, &row, error))
		return reader->state->dumps.count <= DUMPS_MAX && garbled(reader, error);
	name_use(reader);
	/* A new dump began with a name that was there already: what is before it was not in a middle. */
	if (reader->stray.line && before == reader->open && !stray_is_wrong(reader, error))
		return false;
	reader->stray.line = 0;
	return true;
}

/* ---- texts ---- */

/* "dumps/memory.stat.1" tells what is in it, if nothing inside does. */
static void name_take(struct reader *reader, const char *path)
{
	const char *base = strrchr(path, '/');
	struct heading heading;

	heading_read(reader->state, &heading,
		     strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ? path
		     : base                                                            ? base + 1
										       : path);
	heading.clock = CLOCK_NONE;
	heading.sleep_ns = 0;
	heading_apply(reader, &heading, "");
	reader->is_named =
		heading.name_count == 1 && strcmp(base ? base + 1 : path, heading.names[0]) == 0;
}

static bool nothing_found(const struct reader *reader, const char *text, size_t bytes,
			  struct error *error)
{
	const char *end = memchr(text, '\n', bytes);
	size_t length = end ? (size_t)(end - text) : bytes;

	if (bytes == 0)
		return error_at(error, reader->file, 0, 0, "is empty: no dump of /proc is in it");
	error_at(error, reader->file, 1, 0,
		 "holds no dump that is known: expected /proc/meminfo, vmstat, slabinfo, pressure, "
		 "a "
		 "cgroup's memory.stat, arcstats or the like%s",
		 length < 20 && text[0] >= '0' && text[0] <= '9'
			 ? "; a number alone needs its name above it, as in ==> memory.max <=="
			 : "");
	return error_excerpt(error, text, length);
}

bool state_read_text(struct state *state, const char *name, const char *text, size_t bytes,
		     enum state_clock clock, uint64_t time_ns, struct error *error)
{
	struct reader reader = {.state = state, .clock = clock, .time_ns = time_ns, .label = ""};
	size_t dumps = state->dumps.count;
	uint64_t number = 0;

	reader.file = arena_text(&state->arena, name, strlen(name));
	reader.is_clock_fixed = clock != CLOCK_NONE;
	text = arena_text(&state->arena, text, bytes);
	name_take(&reader, name);
	for (size_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t length = end ? (size_t)(end - text) - at : bytes - at;

		if (!line_read(&reader, text + at, length, ++number, error))
			return false;
		at += length + 1;
	}
	if (reader.garbled > GARBLED_FEW && reader.garbled * GARBLED_SHARE > reader.rows)
		return error_at(
			error, reader.file, 0, 0,
			"%" PRIu64 " of %" PRIu64
			" rows cannot be read: more than 1 %% is too much even for --lenient",
			reader.garbled, reader.garbled + reader.rows);
	if (state->dumps.count > dumps)
		return true;
	if (!reader.is_of_another)
		return nothing_found(&reader, text, bytes, error);
	state_note(state, "%s is not used", reader.file);
	return true;
}

bool state_read(struct state *state, const char *path, struct error *error)
{
	struct input *input = input_open(path, error);
	bool done;

	if (!input)
		return false;
	done = input_fill(input, STATE_FILE_BYTES_MAX + 1, error);
	if (done && input_visible(input) > STATE_FILE_BYTES_MAX)
		done = error_at(error, input->name, 0, 0,
				"is longer than 16 MiB: that is no dump of /proc");
	if (done && memchr(input->at, 0, input_visible(input)))
		done = error_at(error, input->name, 0, 0, "is not text, so it is no dump of /proc");
	if (done)
		done = state_read_text(state, input->name, (const char *)input->at,
				       input_visible(input), CLOCK_NONE, 0, error);
	input_close(input);
	return done;
}
