/*
 * If this fails, nothing above can be believed: not the place an error names, not a size that was read from the command
 * line, not that the same seed gives the same run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"

static void an_error_says_kind_place_and_message(void **state)
{
	struct error error;

	(void)state;
	assert_false(error_at(&error, "a.csv", 7, 3, "%s is %d", "this", 5));
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_string_equal(error.file, "a.csv");
	assert_int_equal(error.line, 7);
	assert_int_equal(error.column, 3);
	assert_string_equal(error.message, "this is 5");
	assert_false(error_failed(&error, "broken"));
	assert_int_equal(error.kind, ERROR_FAILED);
	assert_int_equal(error.line, 0);
	assert_string_equal(error.file, "");
}

static void context_goes_in_front_and_keeps_the_place(void **state)
{
	struct error error;

	(void)state;
	error_at(&error, "a.csv", 7, 3, "inner");
	assert_false(error_context(&error, "outer %d", 1));
	assert_string_equal(error.message, "outer 1: inner");
	assert_int_equal(error.line, 7);
}

static void a_system_error_ends_with_the_reason(void **state)
{
	struct error error;

	(void)state;
	errno = ENOENT;
	assert_false(error_system(&error, "cannot open %s", "x"));
	assert_string_equal(error.message, "cannot open x: No such file or directory");
	assert_int_equal(error.kind, ERROR_FAILED);
}

static void what_a_stranger_wrote_cannot_move_the_terminal(void **state)
{
	struct error error;

	(void)state;
	error_at(&error, "\033[2Ja", 1, 1, "found \"%s\"",
		 "x\033]0;t\a\n\xc2\x9b"
		 "31m\xff\xe2\x80\xae");
	assert_string_equal(error.file, "?[2Ja");
	assert_string_equal(error.message, "found \"x?]0;t????"
					   "31m????\"");
	error_input(&error, "%s", "Zürich → 日本");
	assert_string_equal(error.message, "Zürich → 日本");
}

static void a_message_too_long_is_cut_not_overrun(void **state)
{
	char text[2000];
	struct error error;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_at(&error, text, 1, 1, "%s", text);
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
	assert_int_equal(strlen(error.file), sizeof(error.file) - 1);
	error_context(&error, "%s", text);
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
}

static void an_excerpt_points_at_the_wrong_bytes(void **state)
{
	const char *line = "4811000,1,read,heap,81 92,8192";
	struct error error;

	(void)state;
	error_at(&error, "b.csv", 4812, 21, "wrong");
	error.columns = 5;
	assert_false(error_excerpt(&error, line, strlen(line)));
	assert_string_equal(error.excerpt, line);
	assert_int_equal(error.excerpt_column, 21);
	assert_int_equal(error.excerpt_columns, 5);
}

static void an_excerpt_counts_characters_where_the_column_counts_bytes(void **state)
{
	const char *line = "0,1,read,Zürich/日本,x,1";
	struct error error;

	(void)state;
	error_at(&error, "b.csv", 1, 25, "wrong");
	error.columns = 1;
	error_excerpt(&error, line, strlen(line));
	assert_string_equal(error.excerpt, line);
	assert_int_equal(error.excerpt_column, 20);
	assert_int_equal(error.excerpt_columns, 1);
}

static void an_excerpt_of_a_long_line_shows_the_wrong_place(void **state)
{
	static const size_t places[] = {0, 10, 75, 80, 86, 400, 5000, 9990, 9995};
	char line[10000];

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct error error = {0};

		memset(line, 'a', sizeof(line));
		memcpy(line + places[i], "WRONG", 5);
		error_at(&error, "t.csv", 7, places[i] + 1, "x");
		error.columns = 5;
		error_excerpt(&error, line, sizeof(line));
		assert_int_equal(strlen(error.excerpt), EXCERPT_COLUMNS_MAX);
		assert_memory_equal(error.excerpt + error.excerpt_column - 1, "WRONG", 5);
		assert_int_equal(error.excerpt_columns, 5);
		assert_int_equal(memcmp(error.excerpt, "...", 3) == 0, places[i] > 75);
		assert_int_equal(strcmp(error.excerpt + EXCERPT_COLUMNS_MAX - 3, "...") == 0,
				 places[i] < 9990);
	}
}

/* Else the marks would run out of the terminal, or stand under nothing. */
static void an_excerpt_that_is_all_wrong_is_cut_with_its_marks(void **state)
{
	struct error error = {0};
	char line[3 * 5000];

	(void)state;
	for (size_t i = 0; i < sizeof(line); i += 3)
		memcpy(line + i, "\xe2\x82\xac", 3); /* a euro sign */
	error_at(&error, "t.csv", 7, 3 * 100 + 1, "x");
	error.columns = 3 * 4000;
	error_excerpt(&error, line, sizeof(line));
	assert_int_equal(strlen(error.excerpt), 3 * (EXCERPT_COLUMNS_MAX - 6) + 6);
	assert_int_equal(error.excerpt_column, 3 + 20 + 1);
	assert_int_equal(error.excerpt_columns, EXCERPT_COLUMNS_MAX - 6 - 20);

	error_at(&error, "t.csv", 1, 1, "x");
	error.columns = sizeof(line);
	error_excerpt(&error, line, sizeof(line));
	assert_int_equal(error.excerpt_column, 1);
	assert_int_equal(error.excerpt_columns, EXCERPT_COLUMNS_MAX - 3);

	error_at(&error, "t.csv", 1, sizeof(line) + 1, "x");
	error_excerpt(&error, line, sizeof(line));
	assert_int_equal(error.excerpt_column, EXCERPT_COLUMNS_MAX + 1);
	assert_int_equal(error.excerpt_columns, 1);
}

static void size_is(const char *text, uint64_t expected)
{
	struct error error = {0};
	uint64_t bytes = 1;

	if (!size_parse(&bytes, text, "memory", &error))
		fail_msg("%s: %s", text, error.message);
	if (bytes != expected)
		fail_msg("%s is read as %llu", text, (unsigned long long)bytes);
}

static void size_is_wrong(const char *text, const char *message)
{
	struct error error = {0};
	uint64_t bytes = 77;

	assert_false(size_parse(&bytes, text, "memory", &error));
	assert_string_equal(error.message, message);
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_int_equal(bytes, 77);
}

static void sizes_are_read_as_people_write_them(void **state)
{
	(void)state;
	size_is("0", 0);
	size_is("4096", 4096);
	size_is("8KiB", 8192);
	size_is("256MiB", UINT64_C(256) << 20);
	size_is("1.5GiB", UINT64_C(3) << 29);
	size_is(".5GiB", UINT64_C(1) << 29);
	size_is("16g", UINT64_C(16) << 30);
	size_is("16 GiB", UINT64_C(16) << 30);
	size_is("20TiB", UINT64_C(20) << 40);
	size_is("1KB", 1000);
	size_is("2TB", UINT64_C(2000000000000));
	size_is("100B", 100);
	size_is("0.1KiB", 102);
	size_is("18446744073709551615", UINT64_MAX);
	size_is("16383PiB", UINT64_C(16383) << 50);
}

static void wrong_sizes_are_refused_with_the_reason(void **state)
{
	(void)state;
	size_is_wrong("-1", "memory \"-1\" is negative");
	size_is_wrong("", "memory \"\" is not a size (like 4096, 8KiB, 512MiB or 1.5GiB)");
	size_is_wrong("GiB", "memory \"GiB\" is not a size (like 4096, 8KiB, 512MiB or 1.5GiB)");
	size_is_wrong("4,096",
		      "memory \"4,096\" is not a size (like 4096, 8KiB, 512MiB or 1.5GiB)");
	size_is_wrong("1 2GiB",
		      "memory \"1 2GiB\" is not a size (like 4096, 8KiB, 512MiB or 1.5GiB)");
	size_is_wrong("1.5", "memory \"1.5\" is not a whole number of bytes");
	size_is_wrong("18446744073709551616", "memory \"18446744073709551616\" is too large");
	size_is_wrong("16384PiB", "memory \"16384PiB\" is too large");
	size_is_wrong("4Gigs",
		      "memory \"4Gigs\" has an unknown unit \"Gigs\" (known: B, KiB, MiB, GiB, "
		      "TiB, PiB, KB, MB, GB, TB, PB)");
	size_is_wrong("4GiB.",
		      "memory \"4GiB.\" has an unknown unit \"GiB.\" (known: B, KiB, MiB, GiB, "
		      "TiB, PiB, KB, MB, GB, TB, PB)");
}

static void time_is(const char *text, uint64_t expected)
{
	struct error error = {0};
	uint64_t ns = 1;

	if (!time_parse(&ns, text, "time", &error))
		fail_msg("%s: %s", text, error.message);
	if (ns != expected)
		fail_msg("%s is read as %llu", text, (unsigned long long)ns);
}

static void times_are_read_as_people_write_them(void **state)
{
	struct error error = {0};
	uint64_t ns;

	(void)state;
	time_is("5", 5 * NS_PER_SECOND);
	time_is("10ms", 10 * NS_PER_MS);
	time_is("1.5s", 1500 * NS_PER_MS);
	time_is("1.5m", 90 * NS_PER_SECOND);
	time_is("2min", 120 * NS_PER_SECOND);
	time_is("2h", 7200 * NS_PER_SECOND);
	time_is("8.9us", 8900);
	time_is("7ns", 7);
	assert_false(time_parse(&ns, "0.5ns", "pause", &error));
	assert_string_equal(error.message, "pause \"0.5ns\" is not a whole number of nanoseconds");
	assert_false(time_parse(&ns, "600000000h", "pause", &error));
	assert_string_equal(error.message, "pause \"600000000h\" is too large");
}

static void numbers_are_whole_and_nothing_else(void **state)
{
	struct error error = {0};
	uint64_t number = 0;

	(void)state;
	assert_true(number_parse(&number, "4812", "seed", &error));
	assert_int_equal(number, 4812);
	assert_false(number_parse(&number, "-4", "seed", &error));
	assert_string_equal(error.message, "seed \"-4\" is negative");
	assert_false(number_parse(&number, "4 ", "seed", &error));
	assert_string_equal(error.message, "seed \"4 \" is not a whole number");
	assert_false(number_parse(&number, "", "seed", &error));
	assert_string_equal(error.message, "seed \"\" is not a whole number");
	assert_false(number_parse(&number, "18446744073709551616", "seed", &error));
	assert_string_equal(error.message, "seed \"18446744073709551616\" is too large");
	assert_int_equal(number, 4812);
}

static void decimals_are_the_nearest_double(void **state)
{
	static const char *const wrong[] = {"", ".", "1.", "x", "1.2.3", "-1", "1e3", "1.5 apples"};
	struct error error = {0};
	double number = 0;

	(void)state;
	assert_true(decimal_parse(&number, "4.96", "published", &error));
	assert_true(number == 4.96);
	assert_true(decimal_parse(&number, "0.1", "published", &error));
	assert_true(number == 0.1);
	assert_true(decimal_parse(&number, "2349.5", "published", &error));
	assert_true(number == 2349.5);
	assert_true(decimal_parse(&number, "27262988288", "published", &error));
	assert_true(number == 27262988288.0);
	assert_true(decimal_parse(&number, "35.7KiB", "published", &error));
	assert_true(number == 36556);
	assert_true(decimal_parse(&number, "1.14ms", "published", &error));
	assert_true(number == 1140000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (decimal_parse(&number, wrong[i], "published", &error))
			fail_msg("\"%s\" is %g", wrong[i], number);
		assert_int_equal(error.kind, ERROR_INPUT);
		assert_non_null(strstr(error.message, "published"));
	}
	assert_true(number == 1140000);
}

static void sizes_counts_and_times_are_written_for_people(void **state)
{
	char text[2 * SIZE_TEXT_BYTES];

	(void)state;
	assert_string_equal(size_format(text, 0), "0");
	assert_string_equal(size_format(text, 512), "512 B");
	assert_string_equal(size_format(text, 4096), "4 KiB");
	assert_string_equal(size_format(text, 325268275), "310.2 MiB");
	assert_string_equal(size_format(text, (UINT64_C(1) << 30) - 1), "1 GiB");
	assert_string_equal(size_format(text, UINT64_C(20) << 40), "20 TiB");
	assert_string_equal(size_format(text, UINT64_MAX), "16 EiB");
	assert_string_equal(count_format(text, 0), "0");
	assert_string_equal(count_format(text, 999), "999");
	assert_string_equal(count_format(text, 12345678), "12,345,678");
	assert_string_equal(count_format(text, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(time_format(text, 0), "0");
	assert_string_equal(time_format(text, 999), "999 ns");
	assert_string_equal(time_format(text, 8900), "8.9 µs");
	assert_string_equal(time_format(text, 999900), "1.00 ms");
	assert_string_equal(time_format(text, 2400000), "2.40 ms");
	assert_string_equal(time_format(text, UINT64_C(41000000000)), "41.0 s");
	assert_string_equal(time_format(text, UINT64_C(7200) * NS_PER_SECOND), "2.0 h");
	assert_string_equal(time_format(text, UINT64_MAX), "5124095.6 h");
}

static void pages_round_the_way_they_say(void **state)
{
	(void)state;
	assert_int_equal(pages_from_bytes_up(0), 0);
	assert_int_equal(pages_from_bytes_up(1), 1);
	assert_int_equal(pages_from_bytes_up(4096), 1);
	assert_int_equal(pages_from_bytes_down(4095), 0);
	assert_int_equal(pages_from_bytes_up(UINT64_MAX), UINT64_C(1) << 52);
	assert_int_equal(bytes_from_pages(3), 12288);
}

static void an_array_keeps_what_was_pushed_and_zeroes_the_rest(void **state)
{
	ARRAY(uint32_t) array = {0};

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t *new = array_push(&array);

		assert_int_equal(*new, 0);
		*new = i + 1;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array.at[i], i + 1);
	assert_int_equal(array.count, 1000);
	array_deinit(&array);
	assert_null(array.at);
	assert_int_equal(array.capacity, 0);
}

static void an_arena_gives_aligned_zeroed_memory_of_any_size(void **state)
{
	struct arena arena = {0};
	unsigned char *kept[300];

	(void)state;
	for (size_t i = 0; i < 300; i++) {
		size_t bytes = i % 50 == 49 ? 100000 : i * 7;

		kept[i] = arena_alloc(&arena, bytes);
		assert_int_equal((uintptr_t)kept[i] % 16, 0);
		for (size_t j = 0; j < bytes; j++)
			assert_int_equal(kept[i][j], 0);
		memset(kept[i], (int)i, bytes);
	}
	assert_int_equal(kept[200][0], 200);
	assert_int_equal(kept[49][99999], 49);
	assert_string_equal(arena_text(&arena, "hello, world", 5), "hello");
	assert_true(arena.used_bytes >= 600000);
	arena_deinit(&arena);
	assert_int_equal(arena.used_bytes, 0);
	assert_non_null(arena_alloc(&arena, 1));
	arena_deinit(&arena);
}

/* Numbers of the reference implementation (prng.di.unimi.it), state 1, 2, 3, 4. */
static void the_generator_is_the_published_one(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(41943041),
		UINT64_C(58720359),
		UINT64_C(3588806011781223),
		UINT64_C(3591011842654386),
		UINT64_C(9228616714210784205),
		UINT64_C(9973669472204895162),
	};
	struct random random = {{1, 2, 3, 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(random_next(&random), expected[i]);
}

static void a_seed_repeats_and_its_streams_differ(void **state)
{
	struct random a, b, c, d;
	int same = 0;

	(void)state;
	random_init(&a, 42, 0);
	random_init(&b, 42, 0);
	random_init(&c, 42, 1);
	random_init(&d, 43, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t number = random_next(&a);

		assert_int_equal(number, random_next(&b));
		same += number == random_next(&c);
		same += number == random_next(&d);
	}
	assert_int_equal(same, 0);
}

static void random_below_is_even_and_stays_below(void **state)
{
	unsigned int counts[6] = {0};
	struct random random;

	(void)state;
	random_init(&random, 1, 0);
	for (int i = 0; i < 60000; i++) {
		uint64_t number = random_below(&random, 6);

		assert_true(number < 6);
		counts[number]++;
	}
	for (int i = 0; i < 6; i++)
		assert_in_range(counts[i], 9600, 10400);
	for (int i = 0; i < 100; i++)
		assert_int_equal(random_below(&random, 1), 0);
	for (int i = 0; i < 100; i++)
		assert_true(random_below(&random, UINT64_MAX) < UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_says_kind_place_and_message),
		cmocka_unit_test(context_goes_in_front_and_keeps_the_place),
		cmocka_unit_test(a_system_error_ends_with_the_reason),
		cmocka_unit_test(what_a_stranger_wrote_cannot_move_the_terminal),
		cmocka_unit_test(a_message_too_long_is_cut_not_overrun),
		cmocka_unit_test(an_excerpt_points_at_the_wrong_bytes),
		cmocka_unit_test(an_excerpt_counts_characters_where_the_column_counts_bytes),
		cmocka_unit_test(an_excerpt_of_a_long_line_shows_the_wrong_place),
		cmocka_unit_test(an_excerpt_that_is_all_wrong_is_cut_with_its_marks),
		cmocka_unit_test(sizes_are_read_as_people_write_them),
		cmocka_unit_test(wrong_sizes_are_refused_with_the_reason),
		cmocka_unit_test(times_are_read_as_people_write_them),
		cmocka_unit_test(numbers_are_whole_and_nothing_else),
		cmocka_unit_test(decimals_are_the_nearest_double),
		cmocka_unit_test(sizes_counts_and_times_are_written_for_people),
		cmocka_unit_test(pages_round_the_way_they_say),
		cmocka_unit_test(an_array_keeps_what_was_pushed_and_zeroes_the_rest),
		cmocka_unit_test(an_arena_gives_aligned_zeroed_memory_of_any_size),
		cmocka_unit_test(the_generator_is_the_published_one),
		cmocka_unit_test(a_seed_repeats_and_its_streams_differ),
		cmocka_unit_test(random_below_is_even_and_stays_below),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
