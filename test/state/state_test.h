/*
 * What the tests of state/ share: texts read as dumps, and what is found in them.
 */
#ifndef REFAULT_TEST_STATE_TEST_H
#define REFAULT_TEST_STATE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/size.h"
#include "state/diagnosis.h"

#define UNUSED __attribute__((unused))

struct examination {
	struct state *state;
	struct diagnosis diagnosis;
};

/* Read, or fail the test with the message. */
static UNUSED void examine_with(struct examination *examination,
				const struct state_options *options, const char *name,
				const char *text)
{
	struct error error = {0};

	examination->state = state_create(options);
	if (!state_read_text(examination->state, name, text, strlen(text), CLOCK_NONE, 0, &error) ||
	    !state_finish(examination->state, &error))
		fail_msg("%s:%u: %s", error.file, (unsigned)error.line, error.message);
	diagnosis_make(&examination->diagnosis, examination->state);
}

static UNUSED void examine(struct examination *examination, const char *text)
{
	examine_with(examination, NULL, "dump.txt", text);
}

static UNUSED void dismiss(struct examination *examination)
{
	diagnosis_deinit(&examination->diagnosis);
	state_destroy(examination->state);
}

/* The finding of this id; NULL: there is none. */
static UNUSED const struct finding *found(const struct examination *examination, const char *id)
{
	for (size_t i = 0; i < examination->diagnosis.findings.list.count; i++) {
		if (strcmp(examination->diagnosis.findings.list.at[i]->id, id) == 0)
			return examination->diagnosis.findings.list.at[i];
	}
	return NULL;
}

static UNUSED bool found_as(const struct examination *examination, const char *id,
			    enum finding_kind kind)
{
	const struct finding *finding = found(examination, id);

	return finding && finding->kind == kind;
}

/* A figure of a finding; the test fails if there is none. */
static UNUSED double figure(const struct examination *examination, const char *id, const char *name)
{
	const struct finding *finding = found(examination, id);

	if (!finding)
		fail_msg("nothing is said of %s", id);
	for (size_t i = 0; i < finding->figures.count; i++) {
		if (strcmp(finding->figures.at[i].name, name) == 0)
			return finding->figures.at[i].value;
	}
	fail_msg("%s has no figure %s", id, name);
	return 0;
}

static UNUSED bool has_figure(const struct finding *finding, const char *name)
{
	for (size_t i = 0; finding && i < finding->figures.count; i++) {
		if (strcmp(finding->figures.at[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Does the finding rest on a line with this text? */
static UNUSED bool rests_on(const struct finding *finding, uint64_t line, const char *text)
{
	for (size_t i = 0; finding && i < finding->evidence.count; i++) {
		if (finding->evidence.at[i]->line == line &&
		    strstr(finding->evidence.at[i]->text, text))
			return true;
	}
	return false;
}

static UNUSED void assert_near(double value, double expected, double tolerance)
{
	if (value < expected - tolerance || value > expected + tolerance)
		fail_msg("%.9g is not %.9g within %.3g", value, expected, tolerance);
}

static UNUSED char *file_text(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t bytes;

	assert_non_null(file);
	bytes = fread(text, 1, sizeof(text) - 1, file);
	assert_int_equal(fclose(file), 0);
	text[bytes] = '\0';
	return text;
}

#endif
