/* If this fails, a report runs what a file's name says, claims what nobody knows, marks a wrong knee or is another one each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/result_json.h"
#include "report/curve.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/section.h"
#include "report/svg.h"

struct printed {
	FILE *file;
	char *text;
	size_t bytes;
};

static void begin(struct printed *printed)
{
	printed->file = open_memstream(&printed->text, &printed->bytes);
}

static char *end(struct printed *printed)
{
	fclose(printed->file);
	return printed->text;
}

static char *marked_up(const char *text)
{
	struct printed printed;

	begin(&printed);
	markup_text(printed.file, text);
	return end(&printed);
}

static void assert_marked_up(const char *text, const char *expected)
{
	char *got = marked_up(text);

	assert_string_equal(got, expected);
	free(got);
}

static void texts_are_escaped(void **state)
{
	(void)state;
	assert_marked_up("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
	assert_marked_up("\x1b[31m\x7f", "\xef\xbf\xbd[31m\xef\xbf\xbd");
	assert_marked_up("tab\tnew\n", "tab\tnew\n");
	assert_marked_up("\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd");
	/* U+0085, U+202E, U+2066, U+FFFF; but U+2026 and U+2067's neighbours stay. */
	assert_marked_up("\xc2\x85", "\xef\xbf\xbd");
	assert_marked_up("\xe2\x80\xae\xe2\x81\xa6\xef\xbf\xbf",
			 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_marked_up("\xe2\x80\xa6\xc3\xa9", "\xe2\x80\xa6\xc3\xa9");
}

static void json_cannot_end_its_script(void **state)
{
	json_t *json = json_pack("{s:s}", "</script><!--", "a&b>\xe2\x80\xa8");
	struct printed printed;
	char *text;

	(void)state;
	begin(&printed);
	markup_json(printed.file, json, 6);
	text = end(&printed);
	assert_string_equal(text,
			    "{\"\\u003c/script\\u003e\\u003c!--\":\"a\\u0026b\\u003e\\u2028\"}");
	free(text);
	json_decref(json);
}

/* ---- whole pages ---- */

/* A run of two streams; `again` < 0: it is not known. */
static void run_make(struct stored *stored, uint64_t memory, int64_t again, const char *stream)
{
	json_t *blame = json_pack("{s:{s:{s:i}}}", stream, "wal", "pages", 75);
	struct error error;
	char *text;

	*stored = (struct stored){0};
	stored->json =
		json_pack("{s:{s:s, s:i}, s:{s:o, s:i, s:i, s:i}, s:[], s:{s:{s:i}, s:{s:i}}, s:o, "
			  "s:{s:s, s:s, s:I, s:b, s:i, s:s}}",
			  "input", "name", "db.csv", "ops", 1000, "totals", "reread_bytes",
			  again < 0 ? json_null() : json_integer(again), "read_bytes", 1 << 20,
			  "page_accesses", 100, "page_misses", 50, "marks", "streams", stream,
			  "read_bytes", 1 << 20, "wal", "read_bytes", 0, "blame", blame, "machine",
			  "kind", "model", "policy", "linux-6.18", "memory_bytes",
			  (json_int_t)memory, "cgroup", 1, "seed", 7, "filesystem", "ext4");
	assert_non_null(stored->json);
	text = json_dumps(stored->json, 0);
	assert_true(result_json_read(&stored->result, text, strlen(text), &error));
	free(text);
	snprintf(stored->run.id, sizeof(stored->run.id), "%x", (unsigned int)(memory >> 20));
	stored->run.input = text_copy("db.csv");
	stored->run.policy = text_copy("linux-6.18");
	stored->run.experiment = text_copy("");
	stored->run.version = text_copy("0.1.0");
	stored->run.words = text_copy("[\"replay\",\"it's.csv\",\"--cgroup-limit\",\"1MiB\"]");
	stored->run.memory_bytes = memory;
	stored->drawing = json_object();
}

static char *page_of(const struct stored *runs, size_t count, size_t *charts)
{
	struct printed printed;
	struct sheet sheet;
	struct page page;

	sheet_init(&sheet);
	page_init(&page, runs, count, NULL, "0.1.0");
	page_draw(&page, &sheet);
	sheet_finish(&sheet);
	begin(&printed);
	page_write(printed.file, &page, &sheet);
	*charts = sheet.charts.count;
	page_deinit(&page);
	sheet_deinit(&sheet);
	return end(&printed);
}

static void a_page_tells_it(void **state)
{
	struct stored run;
	size_t charts;
	char *page, *again;

	(void)state;
	run_make(&run, 4 << 20, 300 << 10, "heap");
	page = page_of(&run, 1, &charts);
	assert_int_equal(charts, 1); /* who evicted whom: no time was kept, no samples */
	assert_non_null(
		strstr(page, "<h1>100 % of what heap reads again was pushed out by wal.</h1>"));
	assert_non_null(
		strstr(page, "heap reads 300 KiB again; 100 % of it had been pushed out by wal."));
	assert_non_null(strstr(
		page, "refault replay &#39;it&#39;\\&#39;&#39;s.csv&#39; --cgroup-limit 1MiB"));
	assert_non_null(strstr(page, "The MIT License"));
	/* No time was kept: no latencies, and it says how to have them. */
	assert_null(strstr(page, "<section id=\"part-latency\""));
	assert_non_null(strstr(page, "<li>Latency: latencies are kept with a device"));
	again = page_of(&run, 1, &charts);
	assert_string_equal(page, again);
	free(again);
	free(page);
	stored_deinit(&run);
}

static void a_hostile_stream_is_only_text(void **state)
{
	struct stored run;
	size_t charts;
	char *page;

	(void)state;
	run_make(&run, 4 << 20, 300 << 10, "</script><img src=x onerror=alert(1)>\"'\x1b");
	page = page_of(&run, 1, &charts);
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "\x1b"));
	assert_non_null(
		strstr(page, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;"));
	free(page);
	stored_deinit(&run);
}

static void what_is_not_known_is_no_zero(void **state)
{
	struct stored run;
	size_t charts;
	char *page;

	(void)state;
	run_make(&run, 4 << 20, -1, "heap");
	page = page_of(&run, 1, &charts);
	assert_null(strstr(page, "<th scope=\"col\">read again</th>"));
	assert_non_null(strstr(page, "<th scope=\"col\">read</th>"));
	free(page);
	stored_deinit(&run);
}

static void the_knee_is_between_runs(void **state)
{
	struct stored runs[3];
	struct curves curves;
	struct page page;
	size_t charts;
	char *text;

	(void)state;
	/* Not in their order: 1000, 200 and 0 KiB again at 4, 8 and 16 MiB. */
	run_make(&runs[0], 8 << 20, 200 << 10, "heap");
	run_make(&runs[1], 16 << 20, 0, "heap");
	run_make(&runs[2], 4 << 20, 1000 << 10, "heap");
	page_init(&page, runs, 3, NULL, "0.1.0");
	curves_make(&curves, &page);
	assert_int_equal(curves.count, 1);
	assert_int_equal(curves.at[0].count, 3);
	assert_int_equal(curves.at[0].points[0].memory, 4 << 20);
	/* 100 KiB are left half way from 200 to 0. */
	assert_true(curves.at[0].knee == 12 << 20);
	curves_deinit(&curves);
	page_deinit(&page);
	text = page_of(runs, 3, &charts);
	assert_int_equal(charts, 3 + 2); /* a map for each, two curves */
	assert_non_null(
		strstr(text, "<h1>90 % of the re-reads are gone at 12 MiB (linux-6.18).</h1>"));
	assert_non_null(strstr(text, "id=\"curve-misses\""));
	free(text);
	for (size_t i = 0; i < 3; i++)
		stored_deinit(&runs[i]);
}

static void without_a_knee_nothing_is_claimed(void **state)
{
	struct stored runs[2];
	struct curves curves;
	struct page page;

	(void)state;
	run_make(&runs[0], 4 << 20, 1000 << 10, "heap");
	run_make(&runs[1], 8 << 20, 500 << 10, "heap");
	page_init(&page, runs, 2, NULL, "0.1.0");
	curves_make(&curves, &page);
	assert_true(isnan(curves.at[0].knee));
	assert_non_null(strstr(curves_knees(&curves, &page), "None of these sizes removes 90 %"));
	curves_deinit(&curves);
	/* Another seed is the same curve, another file system none at all. */
	json_object_set_new(json_object_get(runs[1].json, "machine"), "filesystem",
			    json_string("xfs"));
	curves_make(&curves, &page);
	assert_int_equal(curves.count, 0);
	curves_deinit(&curves);
	page_deinit(&page);
	for (size_t i = 0; i < 2; i++)
		stored_deinit(&runs[i]);
}

static void lines_with_gaps_and_giants_are_drawn(void **state)
{
	static const double x[] = {1, 2, 3, 4}, y[] = {1, NAN, 1.8e19, 0};
	const struct line_series series = {.name = "<a>", .x = x, .y = y, .count = 4};
	struct line_chart chart = {.name = "c",
				   .title = "t",
				   .x_label = "x",
				   .y_label = "y",
				   .summary = "s",
				   .x_unit = AXIS_SECONDS,
				   .y_unit = AXIS_NS,
				   .y_is_log = true,
				   .series = &series,
				   .series_count = 1};
	struct sheet sheet;

	(void)state;
	sheet_init(&sheet);
	sheet_lines(&sheet, &chart);
	chart.y_is_log = false;
	chart.y_unit = AXIS_BYTES;
	sheet_lines(&sheet, &chart);
	sheet_finish(&sheet);
	assert_int_equal(sheet.charts.count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_null(strstr(sheet.charts.at[i].drawn, "nan"));
		assert_null(strstr(sheet.charts.at[i].drawn, "inf"));
		/* The gap begins a new piece. */
		assert_non_null(
			strstr(strchr(strstr(sheet.charts.at[i].drawn, "d=\"M") + 4, 'M'), "M"));
	}
	assert_true(json_is_null(json_array_get(
		json_object_get(
			json_array_get(json_object_get(json_array_get(sheet.data, 0), "series"), 0),
			"y"),
		1)));
	sheet_deinit(&sheet);
}

static void each_section_has_a_name_of_its_own(void **state)
{
	(void)state;
	assert_string_equal(section_at(0)->name, "headline");
	for (size_t i = 0; section_at(i); i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(section_at(i)->name, section_at(k)->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(json_cannot_end_its_script),
		cmocka_unit_test(a_page_tells_it),
		cmocka_unit_test(a_hostile_stream_is_only_text),
		cmocka_unit_test(what_is_not_known_is_no_zero),
		cmocka_unit_test(the_knee_is_between_runs),
		cmocka_unit_test(without_a_knee_nothing_is_claimed),
		cmocka_unit_test(lines_with_gaps_and_giants_are_drawn),
		cmocka_unit_test(each_section_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
