/* If this fails, figures do not line up, lines run over the edge of the screen, or strangers' names steer the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/name.h"
#include "report/table.h"

static char *printed(const struct table *table, size_t indent)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	table_print(memory, table, indent, false);
	fclose(memory);
	return text;
}

static void numbers_line_up_on_the_unit(void **state)
{
	struct table *table = table_create();
	char *text;

	(void)state;
	table_column(table, "stream", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "read", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "count", TABLE_RIGHT, TABLE_KEEP);
	table_text(table, "heap");
	table_size(table, 325 * 1024 * 1024 + 209715);
	table_count(table, 38739);
	table_text(table, "wal");
	table_size(table, 0);
	table_count(table, 7);
	table_text(table, "späte");
	table_size(table, 512);
	table_unknown(table);
	text = printed(table, 2);
	assert_string_equal(text, "  stream       read   count\n"
				  "  heap    325.2 MiB  38,739\n"
				  "  wal         0           7\n"
				  "  späte     512 B         ?\n");
	free(text);
	table_destroy(table);
}

static void columns_of_zeros_can_be_left_out(void **state)
{
	struct table *table = table_create();
	char *text;

	(void)state;
	table_column(table, "a", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "gone", TABLE_RIGHT, TABLE_HIDE_ZERO);
	table_column(table, "kept", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "unknown", TABLE_RIGHT, TABLE_HIDE_ZERO);
	table_text(table, "x");
	table_count(table, 0);
	table_count(table, 0);
	table_unknown(table);
	text = printed(table, 0);
	assert_string_equal(text, "a  kept  unknown\n"
				  "x     0        ?\n");
	free(text);
	table_destroy(table);
}

static void what_does_not_fit_goes_below(void **state)
{
	struct table *table = table_create();
	char *text, *line;
	size_t seen = 0;

	(void)state;
	table_column(table, "name", TABLE_LEFT, TABLE_KEEP);
	for (int i = 0; i < 30; i++) {
		char heading[32];

		snprintf(heading, sizeof(heading), "column%d", i);
		table_column(table, heading, TABLE_RIGHT, TABLE_KEEP);
	}
	table_text(table, "first");
	for (int i = 0; i < 30; i++)
		table_count(table, (uint64_t)i + 1000);
	text = printed(table, 2);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(text_columns(line) <= TABLE_WIDTH_MAX);
		seen += strstr(line, "first") != NULL;
	}
	assert_true(seen > 2); /* each block names its rows */
	free(text);
	table_destroy(table);
}

static void names_cannot_steer_the_terminal(void **state)
{
	char text[NAME_TEXT_BYTES];

	(void)state;
	assert_string_equal(name_show(text, "a\033[2Jb\nc\x7f", 20), "a?[2Jb?c?");
	assert_string_equal(name_show(text, "\xff\xc3", 20), "??");
	assert_string_equal(name_show(text,
				      "\xc2\x9b"
				      "31m",
				      20),
			    "?31m");
	assert_string_equal(name_show(text,
				      "e\xe2\x80\xae"
				      "evil",
				      20),
			    "e?evil");
	assert_string_equal(name_show(text, "häuser/日本", 20), "häuser/日本");
}

static void long_names_keep_both_ends(void **state)
{
	char text[NAME_TEXT_BYTES], name[4096];

	(void)state;
	assert_string_equal(name_show(text, "0123456789", 10), "0123456789");
	assert_string_equal(name_show(text, "0123456789a", 10), "01234…789a");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(text_columns(name_show(text, name, NAME_COLUMNS_MAX)), NAME_COLUMNS_MAX);
	for (size_t i = 0; i + 4 < sizeof(name); i += 4)
		memcpy(name + i, "\xf0\x9f\x90\x98", 4);
	name[4092] = '\0';
	assert_int_equal(text_columns(name_show(text, name, NAME_COLUMNS_MAX)), NAME_COLUMNS_MAX);
}

static void json_names_are_utf8(void **state)
{
	char *text = name_utf8("a\xff\xe2\x82z\xe2\x82\xac");

	(void)state;
	assert_string_equal(text, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xe2\x82\xac");
	memory_free(text);
}

static void shares_say_no_more_than_they_know(void **state)
{
	char text[SHARE_TEXT_BYTES];

	(void)state;
	assert_string_equal(share_format(text, 0, 0), "-");
	assert_string_equal(share_format(text, 0, 7), "0");
	assert_string_equal(share_format(text, 1, 1000000), "<0.1 %");
	assert_string_equal(share_format(text, 66, 1000), "6.6 %");
	assert_string_equal(share_format(text, 999, 10000), "10 %");
	assert_string_equal(share_format(text, 481, 1000), "48 %");
	assert_string_equal(share_format(text, 1, 1), "100 %");
	assert_string_equal(share_format(text, UINT64_MAX, UINT64_MAX), "100 %");
	assert_string_equal(share_format(text, UINT64_MAX, 1), "large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_line_up_on_the_unit),
		cmocka_unit_test(columns_of_zeros_can_be_left_out),
		cmocka_unit_test(what_does_not_fit_goes_below),
		cmocka_unit_test(names_cannot_steer_the_terminal),
		cmocka_unit_test(long_names_keep_both_ends),
		cmocka_unit_test(json_names_are_utf8),
		cmocka_unit_test(shares_say_no_more_than_they_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
