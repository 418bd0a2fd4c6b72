#include "report/diagnosis.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report_private.h"
#include "report/shell.h"
#include "report/table.h"
#include "state/diagnosis.h"

enum { TEXT_COLUMN = 4, EVIDENCE_SHOWN = 8, LINE_COLUMNS = 84, FORMULA_COLUMNS = 46 };

static const char *const bold = "\033[1m", *const dim = "\033[2m", *const plain = "\033[0m";

static void styled(FILE *out, const char *style, const char *text, bool colour)
{
	fprintf(out, "%s%s%s", colour ? style : "", text, colour ? plain : "");
}

/* Printable, and cut to `columns`: texts of dumps come from strangers. */
static void stranger_print(FILE *out, const char *text, size_t columns)
{
	size_t at = 0;

	for (; *text && at < columns; text++, at++)
		fputc((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e
			      ? (*text == '\t' ? ' ' : '?')
			      : *text,
		      out);
	if (*text)
		fputs("...", out);
}

/* ---- heading ---- */

static const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Is every pair as far apart as every other? */
static bool has_one_interval(const struct state *state, uint64_t *interval_ns)
{
	bool any = false;

	*interval_ns = 0;
	for (size_t i = 0; i < state->series.count; i++) {
		const struct series *series = &state->series.at[i];

		if (series->first == series->last)
			continue;
		if (!series->has_interval || (any && series->interval_ns != *interval_ns))
			return false;
		any = true;
		*interval_ns = series->interval_ns;
	}
	return any;
}

/* "vmstat x 2 (30.0 s apart)" */
static void series_name(char text[200], const struct series *series, bool with_interval)
{
	const char *name = series->name[0] ? series->name : dump_name(series->id);
	char time[SIZE_TEXT_BYTES];
	int bytes =
		snprintf(text, 200, "%s%.80s",
			 series->id == DUMP_PRESSURE && series->name[0] ? "pressure/" : "", name);

	if (series->dump_count > 1)
		bytes += snprintf(text + bytes, 200 - (size_t)bytes, " x %zu", series->dump_count);
	if (with_interval && series->has_interval && series->interval_ns)
		snprintf(text + bytes, 200 - (size_t)bytes, " (%s apart)",
			 time_format(time, series->interval_ns));
}

/* "vmstat x 2, meminfo, slabinfo; 30.0 s apart" */
static void dumps_print(FILE *out, const struct state *state)
{
	uint64_t interval_ns;
	bool is_one = has_one_interval(state, &interval_ns);
	char time[SIZE_TEXT_BYTES];
	size_t at = 2;

	fputs("  ", out);
	for (size_t i = 0; i < state->series.count; i++) {
		char text[200];

		series_name(text, &state->series.at[i], !is_one);
		if (at + strlen(text) + 2 > 96) {
			fputs(",\n  ", out);
			at = 2;
		} else if (i) {
			fputs(", ", out);
			at += 2;
		}
		stranger_print(out, text, 90);
		at += strlen(text);
	}
	if (is_one)
		fprintf(out, "%s%s apart", at > 80 ? ",\n  " : ", ",
			time_format(time, interval_ns));
	fputc('\n', out);
}

/* The names of the first three, short enough for a line. Returns how many columns they take. */
static size_t files_print(FILE *out, const struct state *state, bool colour)
{
	char name[NAME_TEXT_BYTES];
	const char *last = "";
	size_t files = 0, columns = 0, most = NAME_COLUMNS_MAX;

	for (size_t i = 1; i < state->dumps.count; i++)
		if (strcmp(state->dumps.at[i]->file, state->dumps.at[i - 1]->file) != 0)
			most = NAME_COLUMNS;

	for (size_t i = 0; i < state->dumps.count; i++) {
		const char *file = state->dumps.at[i]->file;

		if (strcmp(file, last) == 0)
			continue;
		last = file;
		if (files++ >= 3)
			continue;
		name_show(name, path_last(file), most);
		fprintf(out, "%s%s%s%s", files > 1 ? ", " : "", colour ? bold : "", name,
			colour ? plain : "");
		columns += text_columns(name) + (files > 1 ? 2 : 0);
	}
	if (files > 3)
		columns += (size_t)fprintf(out, " and %zu more", files - 3);
	return columns;
}

static void headline(FILE *out, const struct state *state, const struct diagnosis_options *options)
{
	const struct view view = {.state = state};
	struct quantity total = quantity_now(&view, QUANTITY_total);
	char size[SIZE_TEXT_BYTES], pages[SIZE_TEXT_BYTES], text[300];
	size_t columns = strlen("this machine");

	if (options->is_live)
		styled(out, bold, "this machine", options->colour);
	else
		columns = files_print(out, state, options->colour);
	snprintf(text, sizeof(text), "%s%s%spages of %s (%s)", total.known ? "memory " : "",
		 total.known ? size_format(size, total.value) : "", total.known ? "   " : "",
		 size_format(pages, state->page_bytes), state->page_bytes_from);
	if (columns + 3 + text_columns(text) > TABLE_WIDTH_MAX)
		fprintf(out, "\n  %s\n", text);
	else
		fprintf(out, "   %s\n", text);
	dumps_print(out, state);
}

/* ---- findings ---- */

static const char *const kinds[FINDING_KINDS] = {"problem", "not_caching", "explanation",
						 "ruled_out", "cannot_tell"};
static const char *const shown_kinds[FINDING_KINDS] = {"problem", "not caching", "explanation",
						       "ruled out", "cannot tell"};

const char *finding_kind_name(int kind)
{
	return kinds[kind];
}

static const char *figure_text(char text[NUMBER_TEXT_BYTES], const struct figure *figure)
{
	switch (figure->unit) {
	case UNIT_BYTES:
		return number_format(text, figure->value, VALUE_BYTES);
	case UNIT_NS:
		return number_format(text, figure->value, VALUE_NS);
	case UNIT_PER_SECOND:
		return number_format(text, figure->value, VALUE_PER_SECOND);
	case UNIT_BYTES_PER_SECOND:
		number_format(text, figure->value, VALUE_BYTES);
		strcat(text, "/s");
		return text;
	case UNIT_PERCENT:
		snprintf(text, NUMBER_TEXT_BYTES, "%.4g %%", figure->value);
		return text;
	case UNIT_TIMES:
		snprintf(text, NUMBER_TEXT_BYTES, "%.3g x", figure->value);
		return text;
	case UNIT_PAGES:
	case UNIT_COUNT:
		break;
	}
	return number_format(text, figure->value, VALUE_COUNT);
}

/* "refaulted_bytes" as people read it. */
static const char *spaced(char text[80], const char *name)
{
	size_t i = 0;

	for (; name[i] && i < 79; i++)
		text[i] = name[i] == '_' ? ' ' : name[i];
	text[i] = '\0';
	return text;
}

static void figures_print(FILE *out, const struct finding *finding, bool colour)
{
	struct table *table = table_create();
	char text[NUMBER_TEXT_BYTES], name[80], shown[NAME_TEXT_BYTES];

	table_column(table, "figure", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "computed from", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < finding->figures.count; i++) {
		const struct figure *figure = &finding->figures.at[i];
		char formula[64];

		table_text(table, name_show(shown, spaced(name, figure->name), 31));
		table_text(table, figure_text(text, figure));
		snprintf(formula, sizeof(formula), "%.*s%s",
			 strlen(figure->formula) > FORMULA_COLUMNS ? FORMULA_COLUMNS - 3
								   : FORMULA_COLUMNS,
			 figure->formula, strlen(figure->formula) > FORMULA_COLUMNS ? "..." : "");
		table_text(table, formula);
	}
	table_print(out, table, TEXT_COLUMN, colour);
	table_destroy(table);
}

/* Its name, with the folder where there is room: /proc/pressure/memory. */
static const char *file_text(const struct entry *entry)
{
	return strlen(entry->file) <= 30 ? entry->file : path_last(entry->file);
}

static void evidence_print(FILE *out, const struct finding *finding, bool colour)
{
	for (size_t i = 0; i < finding->evidence.count && i < EVIDENCE_SHOWN; i++) {
		const struct entry *entry = finding->evidence.at[i];
		char place[80], name[NAME_TEXT_BYTES];
		int bytes = snprintf(place, sizeof(place), "%s:%" PRIu64,
				     name_show(name, file_text(entry), 30), entry->line);

		fprintf(out, "%*s%s%s%s  ", TEXT_COLUMN, "", colour ? dim : "", place,
			colour ? plain : "");
		stranger_print(out, entry->text,
			       LINE_COLUMNS > bytes ? (size_t)(LINE_COLUMNS - bytes) : 20);
		fputc('\n', out);
	}
	if (finding->evidence.count > EVIDENCE_SHOWN)
		fprintf(out, "%*sand %zu more lines (--json has all)\n", TEXT_COLUMN, "",
			finding->evidence.count - EVIDENCE_SHOWN);
}

static const char *whose(char text[NAME_TEXT_BYTES + 16], const struct finding *finding)
{
	char name[NAME_TEXT_BYTES];

	if (!finding->cgroup)
		return "";
	snprintf(text, NAME_TEXT_BYTES + 16, "   cgroup %s",
		 name_show(name, finding->cgroup, NAME_COLUMNS_MAX));
	return finding->cgroup[0] ? text : "   the cgroup";
}

/* All that is known of it. */
static void whole_print(FILE *out, const struct finding *finding, bool colour)
{
	static const char *const severities[] = {"", ", low", ", medium", ", high"};
	char text[NAME_TEXT_BYTES + 16];

	fputc('\n', out);
	styled(out, bold, shown_kinds[finding->kind], colour);
	fprintf(out, "%s   %s%s\n%*s", severities[finding->severity], finding->id,
		whose(text, finding), TEXT_COLUMN, "");
	report_wrapped(out, finding->title, TEXT_COLUMN);
	if (finding->text[0]) {
		fprintf(out, "%*s", TEXT_COLUMN, "");
		report_wrapped(out, finding->text, TEXT_COLUMN);
	}
	if (finding->figures.count)
		figures_print(out, finding, colour);
	evidence_print(out, finding, colour);
	if (finding->rule[0]) {
		fprintf(out, "%*srule: ", TEXT_COLUMN, "");
		report_wrapped(out, finding->rule, TEXT_COLUMN + 6);
	}
	if (finding->remedy[0]) {
		fprintf(out, "%*stry:  ", TEXT_COLUMN, "");
		report_wrapped(out, finding->remedy, TEXT_COLUMN + 6);
	}
}

/* Its title, and where the first of its lines is. */
static void line_print(FILE *out, const struct finding *finding)
{
	char text[NAME_TEXT_BYTES + 16];

	fprintf(out, "  %-18s ", finding->id);
	report_wrapped(out, finding->title, 21);
	if (finding->cgroup && finding->cgroup[0])
		fprintf(out, "%*s%s\n", 18, "", whose(text, finding));
	if (finding->evidence.count) {
		const struct entry *entry = finding->evidence.at[0];
		char name[NAME_TEXT_BYTES];

		fprintf(out, "%*s%s:%" PRIu64 "  ", 21, "", name_show(name, file_text(entry), 30),
			entry->line);
		stranger_print(out, entry->text, 44);
		fputc('\n', out);
	}
}

static void kind_print(FILE *out, const struct diagnosis *diagnosis, enum finding_kind kind,
		       const char *heading, bool colour)
{
	bool any = false;

	for (size_t i = 0; i < diagnosis->findings.list.count; i++) {
		const struct finding *finding = diagnosis->findings.list.at[i];

		if (finding->kind != kind)
			continue;
		if (!any && heading) {
			fputc('\n', out);
			styled(out, bold, heading, colour);
			fputc('\n', out);
		}
		any = true;
		if (heading)
			line_print(out, finding);
		else
			whole_print(out, finding, colour);
	}
}

/* ---- where memory is ---- */

static const enum quantity_id parts[] = {
	QUANTITY_free,
	QUANTITY_available,
	QUANTITY_active_file,
	QUANTITY_inactive_file,
	QUANTITY_anon,
	QUANTITY_shmem,
	QUANTITY_dirty,
	QUANTITY_slab_reclaimable,
	QUANTITY_slab_unreclaimable,
	QUANTITY_page_tables,
	QUANTITY_arc_size,
};

static void memory_print(FILE *out, const struct view *view, bool colour)
{
	struct quantity memory = quantity_memory(view);
	struct table *table = table_create();
	size_t rows = 0;

	if (!memory.known)
		memory = quantity_now(view, QUANTITY_usage);
	table_column(table, view->cgroup ? "cgroup" : "memory", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct quantity part = quantity_now(view, parts[i]);
		char name[80];

		if (!part.known)
			continue;
		rows++;
		table_text(table, spaced(name, quantity_name(parts[i])));
		table_size(table, part.value);
		if (memory.known)
			table_share(table, part.value, memory.value);
		else
			table_text(table, "");
	}
	if (rows > 1) {
		fputc('\n', out);
		table_print(out, table, INDENT, colour);
	}
	table_destroy(table);
}

/* ---- what is not shown ---- */

static void gaps_print(FILE *out, const struct diagnosis *diagnosis, bool colour)
{
	fputc('\n', out);
	styled(out, bold, "cannot be seen in these dumps", colour);
	fputc('\n', out);
	for (size_t i = 0; i < diagnosis->gaps.count; i++) {
		const struct gap *gap = &diagnosis->gaps.at[i];

		fputs("  - ", out);
		report_wrapped(out, gap->what, TEXT_COLUMN);
		if (gap->needs[0]) {
			fprintf(out, "%*sneeds: ", TEXT_COLUMN, "");
			report_wrapped(out, gap->needs, TEXT_COLUMN + 7);
		}
	}
}

static void notes_print(FILE *out, const struct state *state)
{
	char count[2 * SIZE_TEXT_BYTES];

	if (state->notes.count || state->skipped || state->passed_over)
		fputc('\n', out);
	for (size_t i = 0; i < state->notes.count; i++) {
		fputs("  note: ", out);
		report_wrapped(out, state->notes.at[i], 8);
	}
	if (state->skipped)
		fprintf(out, "  note: %s row%s could not be read and %s left out (--lenient)\n",
			count_format(count, state->skipped), state->skipped == 1 ? "" : "s",
			state->skipped == 1 ? "was" : "were");
	if (state->passed_over)
		fprintf(out, "  note: %s line%s between the dumps %s passed over\n",
			count_format(count, state->passed_over), state->passed_over == 1 ? "" : "s",
			state->passed_over == 1 ? "was" : "were");
}

static void pair_print(FILE *out, const char *cgroup)
{
	static const char lead[] = "What happens now, a pair shows: ";
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return;
	fputs("refault diagnose --interval 10s", memory);
	if (cgroup) {
		fputs(" --cgroup ", memory);
		shell_word(memory, cgroup);
	}
	fclose(memory);
	fprintf(out, "\n%s", lead);
	shell_command(out, text, sizeof(lead) - 1, 4);
	free(text);
}

static void next_print(FILE *out, const struct diagnosis *diagnosis,
		       const struct diagnosis_options *options)
{
	if (options->is_live && !options->has_interval)
		pair_print(out, options->cgroup);
	else if (diagnosis->verdict == VERDICT_UNKNOWN)
		fputs("\nA second /proc/vmstat, some seconds later, tells more: refault diagnose "
		      "BEFORE "
		      "AFTER --interval 30s\n",
		      out);
}

void diagnosis_text(FILE *out, const struct diagnosis *diagnosis,
		    const struct diagnosis_options *options)
{
	const struct state *state = diagnosis->state;
	bool colour = options->colour;

	headline(out, state, options);
	fputs("\n  ", out);
	if (colour)
		fputs(bold, out);
	report_wrapped(out, state_text(diagnosis->state, "%s.", diagnosis->summary), 2);
	if (colour)
		fputs(plain, out);
	kind_print(out, diagnosis, FINDING_PROBLEM, NULL, colour);
	kind_print(out, diagnosis, FINDING_ELSEWHERE, NULL, colour);
	kind_print(out, diagnosis, FINDING_EXPLANATION, NULL, colour);
	kind_print(out, diagnosis, FINDING_RULED_OUT, "ruled out", colour);
	if (state_has_system(state)) {
		const struct view view = {.state = state};

		memory_print(out, &view, colour);
	}
	for (size_t i = 0; i < state->cgroups.count; i++) {
		const struct view view = {.state = state, .cgroup = state->cgroups.at[i]};

		memory_print(out, &view, colour);
	}
	gaps_print(out, diagnosis, colour);
	notes_print(out, state);
	next_print(out, diagnosis, options);
}
