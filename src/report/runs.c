#include "report/runs.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/size.h"
#include "measure/result.h"
#include "report/name.h"
#include "report/report_private.h"
#include "report/table.h"
#include "store/store.h"

enum { TIME_BYTES = 32, INPUT_COLUMNS = 18, SETTING_COLUMNS = 22 };

const char *run_setting(const struct stored_run *run)
{
	if (run->label)
		return run->label;
	if (run->policy)
		return run->policy;
	return run->kernel ? run->kernel : "";
}

/* ---- the list ---- */

/* As the user's clock shows it. */
static const char *local_time(char text[TIME_BYTES], uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
	struct tm when;

	if (!localtime_r(&seconds, &when) || !strftime(text, TIME_BYTES, "%Y-%m-%d %H:%M", &when))
		return "?";
	return text;
}

static void size_cell(struct table *table, bool is_known, uint64_t bytes)
{
	if (is_known)
		table_size(table, bytes);
	else
		table_unknown(table);
}

/* "linux-6.18", and "kernel 6.18.44" of the kernel itself. */
static void setting_cell(struct table *table, const struct stored_run *run)
{
	char text[NAME_TEXT_BYTES + 16], name[NAME_TEXT_BYTES];

	snprintf(text, sizeof(text), "%s%s", run->kernel && !run->label ? "kernel " : "",
		 run->kernel && !run->label
			 ? name_show(name, run->kernel, SETTING_COLUMNS - strlen("kernel "))
			 : name_show(name, run_setting(run), SETTING_COLUMNS));
	table_text(table, text);
}

static void run_row(struct table *table, const struct stored_run *run, size_t digits)
{
	char text[TIME_BYTES], name[NAME_TEXT_BYTES], id[STORE_ID_BYTES], seed[24];

	snprintf(id, sizeof(id), "%.*s", (int)digits, run->id);
	snprintf(seed, sizeof(seed), "%" PRIu64, run->seed);
	table_text(table, id);
	table_text(table, local_time(text, run->time_ns));
	table_text(table, name_show(name, run->input ? run->input : "", INPUT_COLUMNS));
	setting_cell(table, run);
	size_cell(table, run->memory_bytes != 0, run->memory_bytes);
	table_text(table, seed);
	size_cell(table, run->reread_known, run->reread_bytes);
}

void runs_text(FILE *out, const struct stored_runs *runs, size_t digits, bool colour)
{
	struct table *table = table_create();

	table_column(table, "run", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "when", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "input", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "setting", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "memory", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "seed", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "read again", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = runs->list.count; i-- > 0;)
		run_row(table, &runs->list.at[i], digits);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

/* ---- JSON ---- */

static const char *utc_time(char text[TIME_BYTES], uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
	struct tm when;

	if (!gmtime_r(&seconds, &when) || !strftime(text, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &when))
		return NULL;
	return text;
}

/* What was kept as JSON in a text. */
static json_t *parsed(const char *text)
{
	json_t *json = text ? json_loads(text, 0, NULL) : NULL;

	return json ? json : json_null();
}

static json_t *number_or_null(bool is_known, uint64_t value)
{
	return is_known ? json_number(value) : json_null();
}

static json_t *machine_json(const struct stored_run *run)
{
	json_t *machine = json_object();

	json_object_set_new(machine, "kind", json_text(run->machine));
	json_object_set_new(machine, "kernel", json_text(run->kernel));
	json_object_set_new(machine, "policy", json_text(run->policy));
	json_object_set_new(machine, "switches", parsed(run->switches));
	json_object_set_new(machine, "filesystem", json_text(run->filesystem));
	json_object_set_new(machine, "memory_bytes",
			    number_or_null(run->memory_bytes != 0, run->memory_bytes));
	json_object_set_new(machine, "cgroup", json_boolean(run->is_cgroup));
	json_object_set_new(machine, "seed", json_number(run->seed));
	return machine;
}

json_t *run_json(const struct stored_run *run)
{
	json_t *json = json_object();
	char text[TIME_BYTES];

	json_object_set_new(json, "id", json_text(run->id));
	json_object_set_new(json, "number", json_number(run->number));
	json_object_set_new(json, "group", json_number(run->command_number));
	json_object_set_new(json, "time", json_text(utc_time(text, run->time_ns)));
	json_object_set_new(json, "time_ns", json_number(run->time_ns));
	json_object_set_new(json, "command", json_text(run->command));
	json_object_set_new(json, "words", parsed(run->words));
	json_object_set_new(json, "version", json_text(run->version));
	json_object_set_new(json, "input", json_text(run->input));
	json_object_set_new(json, "digest", json_text(run->digest));
	json_object_set_new(json, "setting", json_text(run->label));
	json_object_set_new(json, "machine", machine_json(run));
	json_object_set_new(json, "ops", json_number(run->op_count));
	json_object_set_new(json, "read_bytes", number_or_null(run->read_known, run->read_bytes));
	json_object_set_new(json, "reread_bytes",
			    number_or_null(run->reread_known, run->reread_bytes));
	json_object_set_new(json, "elapsed_ns",
			    number_or_null(run->elapsed_known, run->elapsed_ns));
	return json;
}

json_t *runs_json(const struct stored_runs *runs)
{
	json_t *json = json_object(), *list = json_array();

	for (size_t i = runs->list.count; i-- > 0;)
		json_array_append_new(list, run_json(&runs->list.at[i]));
	json_object_set_new(json, "runs", list);
	return json;
}

json_t *run_export_json(const struct stored *stored)
{
	json_t *json = run_json(&stored->run);

	json_object_set(json, "result", stored->json);
	return json;
}

/* ---- CSV ---- */

void csv_field(FILE *out, const char *text)
{
	bool is_plain = !text || !strpbrk(text, "\",\r\n");

	if (is_plain) {
		fputs(text ? text : "", out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

static void csv_number(FILE *out, bool is_known, uint64_t value)
{
	fputc(',', out);
	if (is_known)
		fprintf(out, "%" PRIu64, value);
}

void run_export_csv_heading(FILE *out)
{
	fputs("run,time,command,input,setting,machine,kernel,policy,filesystem,memory_bytes,seed,"
	      "version,stream,elapsed_ns",
	      out);
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
		fprintf(out, ",%s", counter_name(id));
	fputc('\n', out);
}

static void csv_row(FILE *out, const struct stored *stored, const char *stream,
		    const struct counters *counters, uint64_t known)
{
	const struct stored_run *run = &stored->run;
	char text[TIME_BYTES];
	const char *const before[] = {utc_time(text, run->time_ns),
				      run->command,
				      run->input,
				      run->label,
				      run->machine,
				      run->kernel,
				      run->policy,
				      run->filesystem};

	csv_field(out, run->id);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		fputc(',', out);
		csv_field(out, before[i]);
	}
	csv_number(out, run->memory_bytes != 0, run->memory_bytes);
	csv_number(out, true, run->seed);
	fputc(',', out);
	csv_field(out, run->version);
	fputc(',', out);
	csv_field(out, stream);
	csv_number(out, run->elapsed_known && !stream, run->elapsed_ns);
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
		csv_number(out, known >> id & 1, counter_get(counters, id));
	fputc('\n', out);
}

void run_export_csv(FILE *out, const struct stored *stored)
{
	const struct result *result = &stored->result;

	csv_row(out, stored, NULL, &result->totals, result->known);
	for (size_t i = 0; i < result->stream_count; i++)
		csv_row(out, stored, result->streams[i].name, &result->streams[i].counters,
			result->streams[i].known);
}
