/*
 * If this fails, docs/scenarios.md tells people of keys that are not there, or keeps quiet about some that are: the tables in it and the
 * code's must be the same. To write the tables anew: REFAULT_PRINT_SCHEMA=1 build/test/source/test_schema
 */
#include "source_test.h"

#include <stdlib.h>

#include "source/generator.h"
#include "source/schema.h"
#include "source/workload.h"

static void row_format(char *row, size_t bytes, const struct schema_key *key)
{
	char expects[160];
	bool required = strcmp(key->fallback, "required") == 0;

	snprintf(row, bytes, "| `%s` | %s | %s%s%s | %s |\n", key->name,
		 schema_expects(expects, key), key->fallback[0] && !required ? "`" : "",
		 key->fallback, key->fallback[0] && !required ? "`" : "", key->meaning);
}

static size_t rows_count(const char *text)
{
	size_t count = 0;

	for (; (text = strstr(text, "\n| `")); text++)
		count++;
	return count;
}

static void table_check(const char *text, const char *heading, const struct schema_key *keys,
			size_t count)
{
	char head[80], row[600];
	const char *begin, *end;
	char *part;

	if (getenv("REFAULT_PRINT_SCHEMA"))
		printf("### %s\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
		       heading);
	snprintf(head, sizeof(head), "\n### %s\n", heading);
	begin = strstr(text, head);
	for (size_t i = 0; i < count; i++) {
		row_format(row, sizeof(row), &keys[i]);
		if (getenv("REFAULT_PRINT_SCHEMA"))
			printf("%s", row);
	}
	if (getenv("REFAULT_PRINT_SCHEMA")) {
		printf("\n");
		return;
	}
	if (!begin)
		fail_msg("docs/scenarios.md has no heading ### %s", heading);
	end = strstr(begin + strlen(head) - 1, "\n##");
	part = strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
	for (size_t i = 0; i < count; i++) {
		row_format(row, sizeof(row), &keys[i]);
		if (!strstr(part, row))
			fail_msg("docs/scenarios.md, ### %s, needs the row\n%s", heading, row);
	}
	if (rows_count(part) != count)
		fail_msg("docs/scenarios.md, ### %s, has %zu rows, and there are %zu keys", heading,
			 rows_count(part), count);
	free(part);
}

static char *file_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t bytes = 0;

	if (!file)
		fail_msg("cannot read %s: the tests run from the project's root", path);
	if (getdelim(&text, &bytes, '\0', file) < 0)
		fail_msg("%s is empty", path);
	fclose(file);
	return text;
}

static void the_documentation_has_the_tables_of_the_code(void **state)
{
	char *text = file_read("docs/scenarios.md");
	const struct generator *generator;
	const struct workload *workload;

	(void)state;
	for (int section = 0; section < SCHEMA_SECTION_COUNT; section++) {
		struct schema_table table = schema_table((enum schema_section)section, NULL);

		table_check(text, schema_section_name((enum schema_section)section), table.keys,
			    table.count);
	}
	for (size_t i = 0; (generator = generator_at(i)); i++) {
		char line[300];

		snprintf(line, sizeof(line), "\n* `%s`: %s", generator->name, generator->summary);
		if (getenv("REFAULT_PRINT_SCHEMA"))
			printf("%s\n", line + 1);
		else if (!strstr(text, line))
			fail_msg("docs/scenarios.md needs the line%s", line);
		if (generator->key_count) {
			snprintf(line, sizeof(line), "pattern %s", generator->name);
			table_check(text, line, generator->keys, generator->key_count);
		}
	}
	for (size_t i = 0; (workload = workload_at(i)); i++) {
		char line[300];

		snprintf(line, sizeof(line), "\n* `%s`: %s", workload->name, workload->summary);
		if (getenv("REFAULT_PRINT_SCHEMA"))
			printf("%s\n", line + 1);
		else if (!strstr(text, line))
			fail_msg("docs/scenarios.md needs the line%s", line);
		snprintf(line, sizeof(line), "workload %s", workload->name);
		table_check(text, line, workload->keys, workload->key_count);
	}
	free(text);
}

static void every_default_is_one_that_the_key_takes(void **state)
{
	(void)state;
	for (int section = 0; section < SCHEMA_SECTION_COUNT; section++) {
		struct schema_table table = schema_table((enum schema_section)section, NULL);

		for (size_t i = 0; i < table.count; i++) {
			assert_non_null(table.keys[i].meaning);
			assert_true(table.keys[i].low <= table.keys[i].high);
			assert_true((table.keys[i].words != NULL) ==
				    (table.keys[i].type == SCHEMA_WORD));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documentation_has_the_tables_of_the_code),
		cmocka_unit_test(every_default_is_one_that_the_key_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
