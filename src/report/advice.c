#include "report/advice.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "cache/policy_options.h"
#include "measure/result.h"
#include "report/name.h"
#include "report/report.h"
#include "report/shell.h"
#include "report/table.h"

/* Can the input be named again in a command? Standard input cannot. */
static bool is_repeatable(const struct result *result, const struct report_options *options)
{
	if (!result->input || strcmp(result->input, "-") == 0 ||
	    (options->input && strcmp(options->input, "-") == 0))
		return false;
	for (const char *c = result->input; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	}
	return true;
}

/* A size as options take it, without a blank: "384MiB". */
static void size_word(FILE *out, uint64_t bytes)
{
	if (bytes % GIB == 0)
		fprintf(out, "%" PRIu64 "GiB", bytes / GIB);
	else if (bytes % MIB == 0)
		fprintf(out, "%" PRIu64 "MiB", bytes / MIB);
	else if (bytes % KIB == 0)
		fprintf(out, "%" PRIu64 "KiB", bytes / KIB);
	else
		fprintf(out, "%" PRIu64, bytes);
}

static bool is_default_policy(const char *policy)
{
	struct policy_options options;
	struct error error;
	char text[1024];

	return policy_options_parse(&options, "", &error) &&
	       strcmp(policy_options_format(text, sizeof(text), &options), policy) == 0;
}

/* The command behind the sentence; `lead` says what it is for; `subcommand` NULL: the same again. */
static void command_write(FILE *out, const char *lead, const char *subcommand,
			  const struct result *result, const struct report_options *options,
			  uint64_t memory_bytes, const char *policy)
{
	fprintf(out, "%s%s: refault %s ", ftell(out) > 0 ? "\n" : "", lead,
		subcommand          ? subcommand
		: options->is_trace ? "replay"
				    : "run");
	shell_word(out, options->input ? options->input : result->input);
	if (options->is_trace)
		fputs(result->is_cgroup ? " --cgroup-limit " : " --memory ", out);
	else
		fputs(result->is_cgroup ? " --set machine.cgroup_limit=" : " --set machine.memory=",
		      out);
	size_word(out, memory_bytes);
	if (policy && !is_default_policy(policy)) {
		fputs(" --policy ", out);
		shell_word(out, policy);
	}
	for (size_t i = 0; i < options->word_count; i++) {
		fputc(' ', out);
		shell_word(out, options->words[i]);
	}
	/* A scenario brings the rest with it. */
	if (!options->is_trace)
		return;
	if (result->filesystem && strcmp(result->filesystem, "ext4") != 0)
		fprintf(out, " --filesystem %s", result->filesystem);
	if (result->readahead_bytes && result->readahead_bytes != 128 * KIB) {
		fputs(" --readahead ", out);
		size_word(out, result->readahead_bytes);
	}
}

/* Half, in whole MiB. */
static uint64_t less_memory(uint64_t bytes)
{
	/* Not below what a machine can be made of. */
	return bytes / 2 < 8 * MIB ? bytes : bytes / 2 / MIB * MIB;
}

/* Whose pages are read again most, and whose allocations pushed out most of them. */
static bool worst_pair(const struct result *result, size_t *victim, size_t *evictor,
		       uint64_t *share, uint64_t *total)
{
	uint64_t worst = 0;

	if (!result->blame)
		return false;
	for (size_t v = 0; v < result->stream_count; v++) {
		const uint64_t *row = &result->blame[v * result->stream_count];
		uint64_t sum = 0;
		size_t most = 0;

		for (size_t e = 0; e < result->stream_count; e++) {
			sum += row[e];
			if (row[e] > row[most])
				most = e;
		}
		if (sum <= worst)
			continue;
		worst = *total = sum;
		*victim = v;
		*evictor = most;
		*share = row[most];
	}
	return worst > 0;
}

static void advice_bare(FILE *out, const struct result *result,
			const struct report_options *options)
{
	char share[SHARE_TEXT_BYTES];

	fprintf(out, "%s of the look-ups miss.",
		share_format(share, result->totals.page_misses, result->totals.page_accesses));
	if (is_repeatable(result, options)) {
		fputs("\nSide by side: refault replay ", out);
		shell_word(out, result->input);
		fprintf(out,
			" --bare --pages %" PRIu64 " --policy fifo --policy lru --policy clock",
			options->bare_pages);
	}
}

/* What to do next with what a kernel did. False: it was none. */
static bool next_for_kernel(FILE *out, const struct result *result,
			    const struct report_options *options)
{
	if (result->kernel && is_repeatable(result, options))
		command_write(out, "The model beside it", "validate", result, options,
			      result->memory_bytes, NULL);
	return result->kernel != NULL;
}

static void advice_write(FILE *out, const struct result *result,
			 const struct report_options *options)
{
	char victim_name[NAME_TEXT_BYTES], evictor_name[NAME_TEXT_BYTES];
	char size[SIZE_TEXT_BYTES], text[SHARE_TEXT_BYTES];
	size_t victim, evictor;
	uint64_t share, total;
	bool repeatable = is_repeatable(result, options);

	if (options->bare_pages) {
		advice_bare(out, result, options);
		return;
	}
	if (!(result->known >> COUNTER_reread_bytes & 1)) {
		next_for_kernel(out, result, options);
		return;
	}
	if (result->totals.reread_bytes == 0) {
		fprintf(out, "Nothing is read twice: %s is enough.",
			size_format(size, result->memory_bytes));
		if (next_for_kernel(out, result, options))
			return;
		if (repeatable && less_memory(result->memory_bytes) < result->memory_bytes)
			command_write(out, "Try", NULL, result, options,
				      less_memory(result->memory_bytes), result->policy);
		return;
	}
	if (!worst_pair(result, &victim, &evictor, &share, &total)) {
		fprintf(out, "%s is read again.", size_format(size, result->totals.reread_bytes));
		if (!next_for_kernel(out, result, options) && repeatable)
			command_write(out, "Try", "advise", result, options, result->memory_bytes,
				      result->policy);
		return;
	}
	name_show(victim_name, result->streams[victim].name, NAME_COLUMNS_MAX);
	name_show(evictor_name, result->streams[evictor].name, NAME_COLUMNS_MAX);
	if (victim == evictor)
		fprintf(out, "%s pushes out its own pages: %s of what it reads again.", victim_name,
			share_format(text, share, total));
	else
		fprintf(out, "%s of what %s reads again was pushed out by %s.",
			share_format(text, share, total), victim_name, evictor_name);
	if (next_for_kernel(out, result, options))
		return;
	if (repeatable)
		command_write(out, "Try", "advise", result, options, result->memory_bytes,
			      result->policy);
}

static void side_by_side_write(FILE *out, const struct result *results, size_t count,
			       const struct report_options *options)
{
	enum counter_id id = options->bare_pages ? COUNTER_page_misses : COUNTER_reread_bytes;
	size_t best = 0, worst = 0;
	uint64_t least, most;
	char text[SHARE_TEXT_BYTES], size[2 * SIZE_TEXT_BYTES];

	assert(count > 0);
	for (size_t i = 0; i < count; i++) {
		if (!(results[i].known >> id & 1))
			return;
		if (counter_get(&results[i].totals, id) < counter_get(&results[best].totals, id))
			best = i;
		if (counter_get(&results[i].totals, id) > counter_get(&results[worst].totals, id))
			worst = i;
	}
	least = counter_get(&results[best].totals, id);
	most = counter_get(&results[worst].totals, id);
	if (least == most) {
		fprintf(out, "No difference in what %s.",
			options->bare_pages ? "misses" : "is read again");
	} else {
		if (options->bare_pages)
			count_format(size, least);
		else
			size_format(size, least);
		fprintf(out, "Least %s: %s, %s, %s less than %s.",
			options->bare_pages ? "misses" : "read again", results[best].policy, size,
			share_format(text, most - least, most), results[worst].policy);
	}
	if (!options->bare_pages && is_repeatable(&results[0], options)) {

		command_write(out, "In detail", NULL, &results[best], options,
			      results[best].memory_bytes, results[best].policy);
	}
}

/* The sentence, and the command behind it in the same line if both fit. */
static void print_joined(FILE *out, const char *text)
{
	size_t sentence = strcspn(text, "\n");
	size_t lead = text[sentence] ? sentence + 1 + strcspn(text + sentence + 1, ":") + 2 : 0;
	bool fits = text_columns(text) <= TABLE_WIDTH_MAX;

	if (!*text)
		return;
	if (!text[sentence] || fits) {
		fprintf(out, "%.*s%s%s\n", (int)sentence, text, text[sentence] ? " " : "",
			text[sentence] ? text + sentence + 1 : "");
		return;
	}
	fprintf(out, "%.*s\n%.*s", (int)sentence, text, (int)(lead - sentence - 1),
		text + sentence + 1);
	shell_command(out, text + lead, lead - sentence - 1, 4);
}

void advice_print(FILE *out, const struct result *result, const struct report_options *options)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return;
	advice_write(memory, result, options);
	fclose(memory);
	print_joined(out, text);
	free(text);
}

/* The sentence up to the newline, or the command behind it. */
static void advice_part(FILE *out, const struct result *result,
			const struct report_options *options, bool is_command)
{
	char *text = NULL;
	size_t bytes, sentence;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return;
	advice_write(memory, result, options);
	fclose(memory);
	sentence = strcspn(text, "\n");
	if (!is_command)
		fwrite(text, 1, sentence, out);
	else if (text[sentence])
		fputs(text + sentence + 1, out);
	free(text);
}

void advice_sentence(FILE *out, const struct result *result, const struct report_options *options)
{
	advice_part(out, result, options, false);
}

void advice_command(FILE *out, const struct result *result, const struct report_options *options)
{
	advice_part(out, result, options, true);
}

void advice_side_by_side(FILE *out, const struct result *results, size_t count,
			 const struct report_options *options)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return;
	side_by_side_write(memory, results, count, options);
	fclose(memory);
	print_joined(out, text);
	free(text);
}
