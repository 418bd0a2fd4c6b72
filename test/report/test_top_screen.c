/*
 * If these fail, `refault top` writes over itself or over the edge of a terminal, sends a terminal what
 * a file's name says, needs more than ASCII where there is no more, or says 0 of what it does not know.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glyph.h"
#include "base/memory.h"
#include "base/size.h"
#include "report/name.h"
#include "report/top.h"

static const uint32_t history[] = {0, 500000, TOP_NO_RATIO, 1000000};

/* Everything known, and large. */
static void view_make(struct top_view *view)
{
	static const struct top_slab slabs[] = {{"ext4_inode_cache", 1234567890, 1000},
						{"dentry", 123456789, 100}};
	struct top_view_file *file;

	*view = (struct top_view){
		.interval_ns = NS_PER_SECOND,
		.page_bytes = 4096,
		.is_counting = true,
		.sees_reads = true,
		.counts = {.accesses = 12345678,
			   .misses = 345678,
			   .inserted = 345999,
			   .evicted = 300000,
			   .dropped = 20000,
			   .unused = 1000},
		.hits = {true, 12000000},
		.refaults = {true, 98765},
		.conservation = {.known = true,
				 .holds = true,
				 .counted_pages = 25999,
				 .level_pages = 26000,
				 .error_pages = -1,
				 .tolerance_pages = 16},
		.slabs = slabs,
		.slab_count = 2,
	};
	for (size_t i = 0; i < TOP_LEVELS; i++)
		view->levels[i] = (struct top_amount){true, 987654321987};
	for (size_t i = 0; i < TOP_COUNTERS; i++)
		view->counters[i] = (struct top_amount){true, 1234567};
	for (size_t i = 0; i < 60; i++) {
		file = array_push(&view->files);
		file->total.path =
			i == 1 ? "/data/\033[2J\n\xff/\xc3\xa4" : "/data/base/16384/2619";
		file->total.resident = (struct top_amount){true, 123456789};
		file->total.size = (struct top_amount){true, 1000};
		file->total.is_counted = true;
		file->accesses = (struct top_amount){true, 1000};
		file->misses = (struct top_amount){true, 1};
		file->refaults = file->evicted = (struct top_amount){true, 1};
	}
}

static struct top_shown shown_make(const struct top_view *view)
{
	return (struct top_shown){
		.view = view,
		.target = "ext4 at /var/lib/postgresql/a/long/way/down",
		.note = "",
		.system = "Linux 6.18.44",
		.time = "12:00:01",
		.every_ns = NS_PER_SECOND,
		.has_keys = true,
		.history = history,
		.history_count = 4,
	};
}

static void fits(const struct top_screen *screen, bool is_ascii)
{
	size_t row = 0, column = 0;

	for (size_t i = 0; i < screen->pieces.count; i++) {
		const struct top_piece *piece = &screen->pieces.at[i];

		if (piece->row != row)
			column = 0;
		assert_true(piece->row > row || (piece->row == row && piece->column >= column));
		row = piece->row;
		column = piece->column + text_columns(piece->text);
		assert_in_range(row, 0, screen->rows - 1);
		assert_in_range(column, 0, screen->columns);
		for (const char *at = piece->text; *at; at++) {
			assert_in_range((unsigned char)*at, 0x20, is_ascii ? 0x7e : 0xff);
			assert_int_not_equal(*at, 0x7f);
		}
	}
}

static void a_screen_of_any_size_is_kept_to(void **state)
{
	static const size_t sizes[][2] = {{24, 80}, {50, 200}, {14, 100},  {10, 40},
					  {2, 5},   {1, 1},    {500, 1000}};
	struct top_view view;
	struct top_screen screen;

	(void)state;
	view_make(&view);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int kind = 0; kind < 16; kind++) {
			struct top_shown shown = shown_make(&view);

			shown.is_ascii = kind & 1;
			glyphs_use_ascii(shown.is_ascii);
			shown.is_help = kind & 2;
			shown.is_paused = kind & 4;
			if (kind & 8)
				shown.note = "this kernel does not have the tracepoints \xc3\xa4";
			shown.sort = (enum top_sort)(kind % TOP_SORTS);
			top_screen_draw(&screen, &shown, sizes[i][0], sizes[i][1]);
			fits(&screen, shown.is_ascii);
			top_screen_deinit(&screen);
		}
	}
	glyphs_use_ascii(false);
	top_view_deinit(&view);
}

static char *printed(const struct top_shown *shown, size_t rows, size_t columns)
{
	struct top_screen screen;
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	top_screen_draw(&screen, shown, rows, columns);
	top_screen_print(memory, &screen);
	top_screen_deinit(&screen);
	fclose(memory);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void the_answer_is_at_the_top_and_files_below(void **state)
{
	struct top_view view;
	struct top_shown shown;
	char *text;

	(void)state;
	view_make(&view);
	shown = shown_make(&view);
	shown.sort = TOP_BY_REFAULTS;
	text = printed(&shown, 24, 80);
	has(text, "hit ratio  97.2 %");
	has(text, "missed/s 345,678");
	has(text, "▁▅ █");
	has(text,
	    "conserved  yes   counted +25,999   kernel +26,000   error -1 (at most 16) pages");
	has(text, "AGAIN/S*");
	has(text, "/data/base/16384/2619");
	free(text);
	view.conservation.holds = false;
	view.hits.known = false;
	view.why = TOP_WHY_NOT_CONSERVED;
	shown.is_ascii = true;
	text = printed(&shown, 50, 200);
	has(text, "hit ratio  -  the counts do not agree with the kernel's statistics");
	has(text, "conserved  NO");
	free(text);
	top_view_deinit(&view);
}

static void lines_fit_100_columns_and_say_nothing_of_what_is_not_known(void **state)
{
	struct top_view view, nothing = {.interval_ns = NS_PER_SECOND, .page_bytes = 4096};
	struct top_shown shown;
	char text[4096] = "", *line;
	FILE *memory = fmemopen(text, sizeof(text), "w");

	(void)state;
	view_make(&view);
	shown = shown_make(&view);
	top_line_heading(memory);
	top_line_print(memory, &shown);
	shown.view = &nothing;
	top_line_print(memory, &shown);
	fclose(memory);
	line = strtok(text, "\n");
	for (int i = 0; line && i < 4; i++, line = strtok(NULL, "\n")) {
		assert_in_range(strlen(line), 1, 100);
		if (i == 2)
			has(line, " 97.20 ");
		if (i == 3)
			assert_null(strpbrk(line + 8, "0123456789"));
	}
	top_view_deinit(&view);
}

static void in_json_what_is_not_known_is_null(void **state)
{
	struct top_view view, nothing = {.interval_ns = NS_PER_SECOND,
					 .page_bytes = 4096,
					 .why = TOP_WHY_NOT_COUNTING};
	struct top_shown shown;
	json_t *json;

	(void)state;
	view_make(&view);
	shown = shown_make(&view);
	json = top_json(&shown, 5);
	assert_int_equal(json_array_size(json_object_get(json, "files")), 5);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(json, "pages"), "hits")),
		12000000);
	assert_true(json_real_value(json_object_get(json, "hit_ratio")) > 0.97199 &&
		    json_real_value(json_object_get(json, "hit_ratio")) < 0.97201);
	assert_true(json_is_null(json_object_get(json, "no_ratio_because")));
	json_decref(json);
	shown.view = &nothing;
	json = top_json(&shown, 5);
	assert_true(json_is_null(json_object_get(json, "hit_ratio")));
	assert_true(json_is_null(json_object_get(json, "conservation")));
	assert_true(json_is_null(json_object_get(json_object_get(json, "pages"), "misses")));
	assert_true(json_is_null(json_object_get(json_object_get(json, "levels"), "slab_bytes")));
	assert_true(json_is_null(json_object_get(json_object_get(json, "kernel"), "read_bytes")));
	assert_string_equal(json_string_value(json_object_get(json, "no_ratio_because")),
			    "nothing is counted");
	json_decref(json);
	top_view_deinit(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_screen_of_any_size_is_kept_to),
		cmocka_unit_test(the_answer_is_at_the_top_and_files_below),
		cmocka_unit_test(lines_fit_100_columns_and_say_nothing_of_what_is_not_known),
		cmocka_unit_test(in_json_what_is_not_known_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
