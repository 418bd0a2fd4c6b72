/*
 * fuzz_state: any text as dumps of a system
 *
 * Beyond not crashing: lenient accepts what strict does, with the same dumps; no figure is below 0 but one that may be; what is
 * concluded rests on lines that are there; and the report is written, as text and as JSON.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diagnosis.h"
#include "state/diagnosis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static size_t lines(const uint8_t *data, size_t bytes)
{
	size_t count = bytes > 0;

	for (size_t i = 0; i < bytes; i++)
		count += data[i] == '\n';
	return count;
}

static void finding_check(const struct finding *finding, size_t line_count)
{
	assert(finding->title[0]);
	for (size_t i = 0; i < finding->figures.count; i++) {
		const struct figure *figure = &finding->figures.at[i];

		assert(figure->value == figure->value);
		assert(figure->value >= 0 || strcmp(figure->name, "arc_available_bytes") == 0);
		assert(figure->formula[0]);
	}
	for (size_t i = 0; i < finding->evidence.count; i++) {
		assert(finding->evidence.at[i]->line > 0);
		assert(finding->evidence.at[i]->line <= line_count);
	}
	assert(finding->kind != FINDING_PROBLEM || finding->evidence.count > 0);
}

static void report(const struct diagnosis *diagnosis)
{
	const struct diagnosis_options options = {.colour = true};
	char *text = NULL;
	size_t text_bytes;
	FILE *file = open_memstream(&text, &text_bytes);
	json_t *json = diagnosis_json(diagnosis);

	diagnosis_text(file, diagnosis, &options);
	fclose(file);
	assert(text_bytes > 0);
	assert(json_array_size(json_object_get(json, "findings")) ==
	       diagnosis->findings.list.count);
	json_decref(json);
	free(text);
}

static struct state *read_state(const uint8_t *data, size_t bytes, bool lenient, bool *fine)
{
	const struct state_options options = {.lenient = lenient};
	struct state *state = state_create(&options);
	struct error error = {0};

	*fine = state_read_text(state, "fuzz", (const char *)data, bytes, CLOCK_NONE, 0, &error) &&
		state_finish(state, &error);
	assert(*fine || (error.kind == ERROR_INPUT && error.message[0]));
	return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	bool is_strict_fine, is_mild_fine;
	struct state *strict, *mild;
	struct diagnosis diagnosis;

	if (memchr(data, 0, bytes))
		return 0; /* state_read() refuses those */
	strict = read_state(data, bytes, false, &is_strict_fine);
	mild = read_state(data, bytes, true, &is_mild_fine);
	if (is_strict_fine) {
		assert(is_mild_fine && strict->dumps.count == mild->dumps.count);
		assert(mild->skipped == 0);
	}
	if (is_mild_fine) {
		diagnosis_make(&diagnosis, mild);
		assert(diagnosis.summary && diagnosis.gaps.count > 0);
		for (size_t i = 0; i < diagnosis.findings.list.count; i++)
			finding_check(diagnosis.findings.list.at[i], lines(data, bytes));
		report(&diagnosis);
		diagnosis_deinit(&diagnosis);
	}
	state_destroy(strict);
	state_destroy(mild);
	return 0;
}
