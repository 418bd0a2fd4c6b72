#include "report/remedies.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/glyph.h"
#include "base/size.h"
#include "measure/advice.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report.h"
#include "report/report_private.h"
#include "report/shell.h"
#include "report/table.h"

enum {
	TITLE_COLUMNS = 38,
	TITLE_COLUMNS_TIME = 30,
	PAYS_COLUMNS = 26,
	PAYS_COLUMNS_TIME = 20,
	TEXT_COLUMN = 4,
	CHANGE_BYTES = 48
};

/* ---- a figure of a change ---- */

/* "-49 %", "+31 ±2 %", "0", "?" */
static const char *change_format(char text[CHANGE_BYTES], const struct effect *effect)
{
	double half = (effect->high - effect->low) / 2 * 100, change = effect->change * 100;

	if (!effect->is_known)
		return strcpy(text, "?");
	if (half < 0.5 && fabs(change) < 0.5)
		return strcpy(text, "0");
	if (half < 0.5)
		snprintf(text, CHANGE_BYTES, "%+.0f %%", change);
	else
		snprintf(text, CHANGE_BYTES, "%+.0f%s%.0f %%", change, glyph(GLYPH_PLUS_MINUS),
			 half);
	return text;
}

static void size_cell(struct table *table, double bytes)
{
	table_size(table, bytes > 0 ? (uint64_t)bytes : 0);
}

static bool knows_time(const struct advice *advice)
{
	return advice->knows_time;
}

/* ---- the table ---- */

/* In the table: those that help, that cost, and that fail; what does nothing is a line below. */
static bool is_shown(const struct advice_remedy *remedy)
{
	return remedy->verdict != ADVICE_NO_EFFECT;
}

static void table_row(struct table *table, const struct advice *advice,
		      const struct advice_remedy *remedy, size_t place)
{
	char text[NAME_TEXT_BYTES], change[CHANGE_BYTES], number[24];

	snprintf(number, sizeof(number), "%zu", place);
	table_text(table, number);
	table_text(table, name_show(text, remedy->title,
				    knows_time(advice) ? TITLE_COLUMNS_TIME : TITLE_COLUMNS));
	if (remedy->verdict == ADVICE_FAILED || !remedy->reads.is_known) {
		table_unknown(table);
		table_unknown(table);
	} else {
		size_cell(table, remedy->reads.changed);
		table_text(table, change_format(change, &remedy->reads));
	}
	if (knows_time(advice)) {
		table_text(table, change_format(change, &remedy->rate));
		if (advice->knows_p99)
			table_text(table, change_format(change, &remedy->p99));
	}
	table_text(table, remedy->verdict == ADVICE_FAILED ? "fails"
			  : remedy->pays
				  ? name_show(text, remedy->pays,
					      knows_time(advice) ? PAYS_COLUMNS_TIME : PAYS_COLUMNS)
				  : "nobody");
}

static void table_of(FILE *out, const struct advice *advice, bool colour, bool helps, size_t most)
{
	struct table *table = table_create();
	size_t rows = 0;

	table_column(table, "", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "remedy", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "reads", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "change", TABLE_UNIT, TABLE_KEEP);
	if (knows_time(advice)) {
		table_column(table, "throughput", TABLE_UNIT, TABLE_KEEP);
		if (advice->knows_p99)
			table_column(table, "p99", TABLE_UNIT, TABLE_KEEP);
	}
	table_column(table, "who pays", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < advice->remedies.count && rows < most; i++) {
		const struct advice_remedy *remedy = advice->remedies.at[i];

		if (!is_shown(remedy) || (remedy->verdict == ADVICE_HELPS) != helps)
			continue;
		table_row(table, advice, remedy, i + 1);
		rows++;
	}
	if (rows)
		table_print(out, table, INDENT, colour);
	table_destroy(table);
}

/* ---- how each is applied ---- */

/* Where it is other than it was. */
static void longest_line(FILE *out, const struct advice_remedy *remedy)
{
	char from[SIZE_TEXT_BYTES], to[SIZE_TEXT_BYTES];

	if (remedy->longest.is_known && fabs(remedy->longest.change) >= 0.05)
		fprintf(out, "%*slongest wait: %s %s %s\n", TEXT_COLUMN, "",
			time_format(from, (uint64_t)remedy->longest.base), glyph(GLYPH_ARROW),
			time_format(to, (uint64_t)remedy->longest.changed));
}

static void streams_line(FILE *out, const struct advice_remedy *remedy)
{
	char line[600] = "", size[SIZE_TEXT_BYTES], name[NAME_TEXT_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < remedy->stream_count && used < sizeof(line) - 100; i++) {
		const struct effect *reads = &remedy->streams[i].reads;
		double by = reads->changed - reads->base;

		if (!reads->is_known || fabs(by) < (double)(MIB / 4) ||
		    fabs(by) < 0.01 * reads->base)
			continue;
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s %s%s",
					 used ? ", " : "",
					 name_show(name, remedy->streams[i].name, 24),
					 by < 0 ? "-" : "+", size_format(size, (uint64_t)fabs(by)));
	}
	if (!used)
		return;
	fprintf(out, "%*sreads by stream: ", TEXT_COLUMN, "");
	report_wrapped(out, line, TEXT_COLUMN + 17);
}

static void written_line(FILE *out, const struct advice_remedy *remedy)
{
	char from[SIZE_TEXT_BYTES], to[SIZE_TEXT_BYTES];

	if (remedy->writes.is_known && fabs(remedy->writes.change) >= 0.05)
		fprintf(out, "%*swritten: %s %s %s\n", TEXT_COLUMN, "",
			size_format(from, (uint64_t)remedy->writes.base), glyph(GLYPH_ARROW),
			size_format(to, (uint64_t)remedy->writes.changed));
}

/* Of a thousandth of them nobody would notice. */
static void inodes_line(FILE *out, const struct advice_remedy *remedy)
{
	char from[2 * SIZE_TEXT_BYTES], to[2 * SIZE_TEXT_BYTES];

	if (remedy->inodes.is_known && fabs(remedy->inodes.changed - remedy->inodes.base) >= 100 &&
	    fabs(remedy->inodes.changed - remedy->inodes.base) * 1000 >= remedy->inodes.base)
		fprintf(out, "%*sinodes read again: %s %s %s\n", TEXT_COLUMN, "",
			count_format(from, (uint64_t)remedy->inodes.base), glyph(GLYPH_ARROW),
			count_format(to, (uint64_t)remedy->inodes.changed));
}

static void measured_line(FILE *out, const struct advice_remedy *remedy)
{
	char from[SIZE_TEXT_BYTES], to[SIZE_TEXT_BYTES], predicted[CHANGE_BYTES];

	if (remedy->measured.failure) {
		fprintf(out, "%*son this kernel: ", TEXT_COLUMN, "");
		report_wrapped(out, remedy->measured.failure, TEXT_COLUMN + 16);
	}
	if (remedy->measured.is_known)
		fprintf(out, "%*son this kernel: %s %s %s, %+.0f %% (predicted %s)\n", TEXT_COLUMN,
			"", size_format(from, remedy->measured.base_bytes), glyph(GLYPH_ARROW),
			size_format(to, remedy->measured.changed_bytes),
			remedy->measured.change * 100, change_format(predicted, &remedy->reads));
}

static void remedy_print(FILE *out, const struct advice_remedy *remedy, size_t place, bool colour)
{
	char text[1200];

	fprintf(out, "\n%s%zu ", colour ? "\033[1m" : "", place);
	report_wrapped(out, remedy->title, TEXT_COLUMN);
	fputs(colour ? "\033[0m" : "", out);
	if (remedy->how) {
		fprintf(out, "%*s", TEXT_COLUMN, "");
		report_wrapped(out, remedy->how, TEXT_COLUMN);
	}
	if (remedy->command) {
		fprintf(out, "%*s", TEXT_COLUMN, "");
		shell_command(out, remedy->command, TEXT_COLUMN, TEXT_COLUMN + 4);
	}
	snprintf(text, sizeof(text), "%s%s%s%s%s", remedy->since ? "since " : "",
		 remedy->since ? remedy->since : "", remedy->since && remedy->risk ? "; " : "",
		 remedy->risk ? "risk: " : "", remedy->risk ? remedy->risk : "");
	if (text[0]) {
		fprintf(out, "%*s", TEXT_COLUMN, "");
		report_wrapped(out, text, TEXT_COLUMN);
	}
	streams_line(out, remedy);
	written_line(out, remedy);
	longest_line(out, remedy);
	inodes_line(out, remedy);
	if (remedy->failure) {
		fprintf(out, "%*sit fails: ", TEXT_COLUMN, "");
		report_wrapped(out, remedy->failure, TEXT_COLUMN + 10);
	}
	measured_line(out, remedy);
}

/* ---- what is not in the table ---- */

static void no_effect_print(FILE *out, const struct advice *advice)
{
	char line[4000];
	const size_t begin = (size_t)snprintf(
		line, sizeof(line), "no effect (within %s1 %%):", glyph(GLYPH_PLUS_MINUS));
	size_t used = begin;

	for (size_t i = 0; i < advice->remedies.count && used < sizeof(line) - 200; i++) {
		const struct advice_remedy *remedy = advice->remedies.at[i];

		if (remedy->verdict == ADVICE_NO_EFFECT)
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %.150s",
						 used > begin ? ";" : "", remedy->title);
	}
	if (used == begin)
		return;
	fprintf(out, "\n%*s", INDENT, "");
	report_wrapped(out, line, INDENT);
}

/* Is this reason told with an earlier one? */
static bool is_told(const struct advice *advice, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(advice->left_out.at[i].why, advice->left_out.at[index].why) == 0)
			return true;
	return false;
}

/* Each reason once, with all that it is the reason for. */
static void left_out_print(FILE *out, const struct advice *advice)
{
	char line[4000] = "not tried:";
	const size_t begin = strlen(line);
	size_t used = begin;

	for (size_t i = 0; i < advice->left_out.count && used < sizeof(line) - 600; i++) {
		const char *why = advice->left_out.at[i].why;

		if (is_told(advice, i))
			continue;
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %.200s: %s",
					 used > begin ? ";" : "", why, advice->left_out.at[i].id);
		for (size_t k = i + 1; k < advice->left_out.count; k++)
			if (strcmp(advice->left_out.at[k].why, why) == 0 &&
			    used < sizeof(line) - 200)
				used += (size_t)snprintf(line + used, sizeof(line) - used, ", %s",
							 advice->left_out.at[k].id);
	}
	if (used == begin)
		return;
	fprintf(out, "\n%*s", INDENT, "");
	report_wrapped(out, line, INDENT);
}

/* Two at once, where that is worth it. */
static void together_print(FILE *out, const struct advice *advice)
{
	const struct advice_remedy *both = advice->together;
	char size[SIZE_TEXT_BYTES], reads[CHANGE_BYTES], rate[CHANGE_BYTES];

	if (!both)
		return;
	fprintf(out, "\n%*stogether: ", INDENT, "");
	report_wrapped(out, both->title, INDENT + 10);
	fprintf(out, "%*sreads %s, %s", TEXT_COLUMN, "",
		size_format(size, (uint64_t)both->reads.changed),
		change_format(reads, &both->reads));
	if (both->rate.is_known)
		fprintf(out, "; throughput %s", change_format(rate, &both->rate));
	fputs("; more than either does\n", out);
	streams_line(out, both);
	longest_line(out, both);
}

/* What bounds the run, where it is not the cache. */
static void bounds_print(FILE *out, const struct advice *advice)
{
	if (!advice->bounds.count ||
	    (advice->headline != ADVICE_NOT_CACHING && advice->headline != ADVICE_NOTHING))
		return;
	fprintf(out, "\n%*swhat it waits for:\n", INDENT, "");
	for (size_t i = 0; i < advice->bounds.count; i++) {
		fprintf(out, "%*s", TEXT_COLUMN, "");
		report_wrapped(out, advice->bounds.at[i].text, TEXT_COLUMN);
	}
}

static void base_print(FILE *out, const struct advice *advice)
{
	char read[SIZE_TEXT_BYTES], again[SIZE_TEXT_BYTES], written[SIZE_TEXT_BYTES],
		time[SIZE_TEXT_BYTES], number[NUMBER_TEXT_BYTES], share[SHARE_TEXT_BYTES];
	char line[400];
	size_t used;

	used = (size_t)snprintf(
		line, sizeof(line), "as it is: %s read, %s of it again (%s), %s written",
		size_format(read, (uint64_t)advice->read_bytes),
		size_format(again, (uint64_t)advice->reread_bytes),
		share_format(share, (uint64_t)advice->reread_bytes, (uint64_t)advice->read_bytes),
		size_format(written, (uint64_t)advice->write_bytes));
	if (advice->knows_time)
		used += (size_t)snprintf(line + used, sizeof(line) - used, ", %s %s/s",
					 number_format(number, advice->rate, VALUE_COUNT),
					 advice->work);
	if (advice->knows_p99)
		snprintf(line + used, sizeof(line) - used, ", p99 %s",
			 time_format(time, (uint64_t)advice->p99_ns));
	fprintf(out, "%*s", INDENT, "");
	report_wrapped(out, line, INDENT);
}

static void heading_print(FILE *out, const struct advice *advice, bool colour)
{
	char memory[SIZE_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES], name[NAME_TEXT_BYTES],
		machine[1200];
	const char *slash = strrchr(advice->input, '/');

	name_show(name, slash ? slash + 1 : advice->input, NAME_COLUMNS_MAX);
	count_format(count, advice->op_count);
	snprintf(machine, sizeof(machine), "%s %s   policy %s   %s",
		 advice->is_cgroup ? "cgroup limit" : "memory",
		 size_format(memory, advice->memory_bytes), advice->policy, advice->filesystem);
	fprintf(out, "%s%s%s   %s ops", colour ? "\033[1m" : "", name, colour ? "\033[0m" : "",
		count);
	if (text_columns(name) + strlen(count) + 10 + text_columns(machine) > TABLE_WIDTH_MAX)
		fprintf(out, "\n%*s%s\n", INDENT, "", machine);
	else
		fprintf(out, "   %s\n", machine);
}

static void confirm_print(FILE *out, const struct report_options *options, const char *places)
{
	static const char lead[] = "Confirm on this kernel: ";
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return;
	fputs("refault advise ", memory);
	shell_word(memory, options->input);
	for (size_t i = 0; i < options->word_count; i++) {
		fputc(' ', memory);
		shell_word(memory, options->words[i]);
	}
	fprintf(memory, " --confirm --places %s", places);
	fclose(memory);
	fprintf(out, "\n%s", lead);
	shell_command(out, text, sizeof(lead) - 1, TEXT_COLUMN);
	free(text);
}

static void next_print(FILE *out, const struct advice *advice, const struct report_options *options)
{
	char places[64] = "";
	size_t used = 0, found = 0;

	if (!advice->is_cgroup || !options->input)
		return;
	for (size_t i = 0; i < advice->remedies.count && found < 2; i++) {
		const struct advice_remedy *remedy = advice->remedies.at[i];

		if (remedy->measured.is_known)
			return;
		if (remedy->verdict != ADVICE_HELPS || !remedy->can_be_confirmed)
			continue;
		used += (size_t)snprintf(places + used, sizeof(places) - used, "%s%zu",
					 found ? "," : "", i + 1);
		found++;
	}
	if (!found)
		return;
	confirm_print(out, options, places);
}

void remedies_text(FILE *out, const struct advice *advice, const struct report_options *options)
{
	enum { SHOWN_MAX = 12, COSTS_MAX = 5 };
	char count[2 * SIZE_TEXT_BYTES];
	size_t shown = 0;

	heading_print(out, advice, options->colour);
	fputc('\n', out);
	fprintf(out, "%*s", INDENT, "");
	report_wrapped(out, advice->text, INDENT);
	if (!advice->failure)
		base_print(out, advice);
	if (advice->remedies.count && advice->remedies.at[0]->verdict == ADVICE_HELPS) {
		fputc('\n', out);
		table_of(out, advice, options->colour, true, SHOWN_MAX);
	}
	for (size_t i = 0; i < advice->remedies.count && shown < SHOWN_MAX; i++) {
		const struct advice_remedy *remedy = advice->remedies.at[i];

		if (remedy->verdict != ADVICE_HELPS && !remedy->measured.is_known &&
		    !remedy->measured.failure)
			continue;
		remedy_print(out, remedy, i + 1, options->colour);
		shown++;
	}
	together_print(out, advice);
	bounds_print(out, advice);
	no_effect_print(out, advice);
	left_out_print(out, advice);
	if (advice->remedies.count &&
	    advice->remedies.at[advice->remedies.count - 1]->verdict >= ADVICE_COSTS) {
		fprintf(out, "\n%*scost more than they save:\n", INDENT, "");
		table_of(out, advice, options->colour, false, COSTS_MAX);
	}
	fprintf(out, "\n%*s%s runs, %zu seed%s%s.", INDENT, "",
		count_format(count, advice->run_count), advice->seed_count,
		advice->seed_count == 1 ? " (nothing is drawn by lot)" : "s",
		advice->both_statistics ? ", fresh and lazy statistics" : "");
	if (advice->is_interrupted)
		fputs(" Interrupted: there would have been more.", out);
	fputc('\n', out);
	if (options->skipped_rows)
		fprintf(out, "%*s%s rows could not be read and were left out (--lenient)\n", INDENT,
			"", count_format(count, options->skipped_rows));
	next_print(out, advice, options);
}

/* ---- for programs ---- */

static json_t *real_json(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value)
							   : json_real(value);
}

static json_t *effect_json(const struct effect *effect)
{
	if (!effect->is_known)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "base", real_json(effect->base), "changed",
			 real_json(effect->changed), "change", real_json(effect->change), "low",
			 real_json(effect->low), "high", real_json(effect->high));
}

static json_t *measured_json(const struct advice_measured *measured)
{
	if (!measured->is_known && !measured->failure)
		return json_null();
	if (!measured->is_known)
		return json_pack("{s:o}", "failure", json_text(measured->failure));
	return json_pack("{s:o, s:o, s:o}", "base", json_number(measured->base_bytes), "changed",
			 json_number(measured->changed_bytes), "change",
			 real_json(measured->change));
}

static json_t *remedy_json(const struct advice_remedy *remedy, size_t place)
{
	json_t *json = json_object(), *streams = json_array();

	for (size_t i = 0; i < remedy->stream_count; i++)
		json_array_append_new(
			streams, json_pack("{s:o, s:o}", "name", json_text(remedy->streams[i].name),
					   "reads", effect_json(&remedy->streams[i].reads)));
	json_object_set_new(json, "place", place ? json_number(place) : json_null());
	json_object_set_new(json, "id", json_string(remedy->id));
	json_object_set_new(json, "target", json_text(remedy->target));
	json_object_set_new(json, "title", json_text(remedy->title));
	json_object_set_new(json, "verdict", json_string(advice_verdict_name(remedy->verdict)));
	json_object_set_new(json, "score",
			    remedy->verdict == ADVICE_FAILED ? json_null()
							     : real_json(remedy->score));
	json_object_set_new(json, "reads", effect_json(&remedy->reads));
	json_object_set_new(json, "rereads", effect_json(&remedy->rereads));
	json_object_set_new(json, "writes", effect_json(&remedy->writes));
	json_object_set_new(json, "throughput", effect_json(&remedy->rate));
	json_object_set_new(json, "p99_ns", effect_json(&remedy->p99));
	json_object_set_new(json, "longest_ns", effect_json(&remedy->longest));
	json_object_set_new(json, "inodes_reallocated", effect_json(&remedy->inodes));
	json_object_set_new(json, "streams", streams);
	json_object_set_new(json, "memory_bytes", json_number(remedy->memory_bytes));
	json_object_set_new(json, "samples", json_number(remedy->sample_count));
	json_object_set_new(json, "how", json_text(remedy->how ? remedy->how : remedy->command));
	json_object_set_new(json, "command", json_text(remedy->command));
	json_object_set_new(json, "since", json_text(remedy->since));
	json_object_set_new(json, "risk", json_text(remedy->risk));
	json_object_set_new(json, "pays", json_text(remedy->pays));
	json_object_set_new(json, "failure", json_text(remedy->failure));
	json_object_set_new(json, "can_be_confirmed", json_boolean(remedy->can_be_confirmed));
	json_object_set_new(json, "measured", measured_json(&remedy->measured));
	return json;
}

static json_t *base_json(const struct advice *advice)
{
	if (advice->failure)
		return json_pack("{s:o}", "failure", json_text(advice->failure));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read_bytes",
			 real_json(advice->read_bytes), "reread_bytes",
			 real_json(advice->reread_bytes), "write_bytes",
			 real_json(advice->write_bytes), "per_second",
			 advice->knows_time ? real_json(advice->rate) : json_null(), "work",
			 json_text(advice->work), "p99_ns",
			 advice->knows_p99 ? real_json(advice->p99_ns) : json_null(), "longest_ns",
			 advice->knows_p99 ? real_json(advice->longest_ns) : json_null());
}

static json_t *bounds_json(const struct advice *advice)
{
	json_t *bounds = json_array();

	for (size_t i = 0; i < advice->bounds.count; i++) {
		const struct advice_bound *bound = &advice->bounds.at[i];

		json_array_append_new(bounds,
				      json_pack("{s:s, s:o, s:b, s:o}", "id", bound->id, "share",
						json_real(bound->share), "limit", bound->is_limit,
						"text", json_text(bound->text)));
	}
	return bounds;
}

json_t *remedies_json(const struct advice *advice, const struct report_options *options)
{
	json_t *json = json_object(), *remedies = json_array(), *left_out = json_array();

	for (size_t i = 0; i < advice->remedies.count; i++)
		json_array_append_new(remedies, remedy_json(advice->remedies.at[i], i + 1));
	for (size_t i = 0; i < advice->left_out.count; i++)
		json_array_append_new(left_out,
				      json_pack("{s:o, s:o}", "id",
						json_text(advice->left_out.at[i].id), "why",
						json_text(advice->left_out.at[i].why)));
	json_object_set_new(json, "input", json_text(advice->input));
	json_object_set_new(json, "operations", json_number(advice->op_count));
	json_object_set_new(
		json, "machine",
		json_pack("{s:o, s:o, s:o, s:b, s:o}", "policy", json_text(advice->policy),
			  "filesystem", json_text(advice->filesystem), "memory_bytes",
			  json_number(advice->memory_bytes), "is_cgroup", advice->is_cgroup,
			  "readahead_bytes", json_number(advice->readahead_bytes)));
	json_object_set_new(json, "headline",
			    json_pack("{s:s, s:o}", "kind", advice_headline_name(advice->headline),
				      "text", json_text(advice->text)));
	json_object_set_new(json, "base", base_json(advice));
	json_object_set_new(json, "remedies", remedies);
	json_object_set_new(json, "together",
			    advice->together ? remedy_json(advice->together, 0) : json_null());
	json_object_set_new(json, "bounds", bounds_json(advice));
	json_object_set_new(json, "left_out", left_out);
	json_object_set_new(json, "runs", json_number(advice->run_count));
	json_object_set_new(json, "seeds", json_number(advice->seed_count));
	json_object_set_new(json, "statistics",
			    json_string(advice->both_statistics ? "fresh and lazy" : "one"));
	json_object_set_new(json, "interrupted", json_boolean(advice->is_interrupted));
	json_object_set_new(json, "skipped_rows", json_number(options->skipped_rows));
	return json;
}
