/*
 * If this fails, a mistake in a device's profile is carried out in silence, or docs/devices.md tells people of keys that are not there. To
 * write its tables anew: REFAULT_PRINT_SCHEMA=1 build/test/model/test_device_profile
 */
#include "model_test.h"

#include <inttypes.h>

#include "machine/model/device.h"
#include "machine/model/device/kind.h"
#include "machine/model/device/profile.h"

/* ---- mistakes ---- */

#define FLASH                                                                                      \
	"kind: flash\nchannels: 2\nread_latency: 100us\nwrite_latency: 20us\n"                     \
	"read_bandwidth: 4GB/s\nwrite_bandwidth: 4GB/s\n"
#define DISK                                                                                       \
	"kind: disk\ncapacity: 1TB\nseek_min: 1ms\nseek_full: 11ms\nrevolution: 10ms\n"            \
	"outer_rate: 100MB/s\ninner_rate: 100MB/s\n"

static void wrong_profile(const char *text, uint64_t line, uint64_t column, const char *says)
{
	struct error error = {0};
	struct device_profile *profile =
		device_profile_read("mine/fast.yaml", text, strlen(text), &error);

	if (profile)
		fail_msg("taken: %s", text);
	assert_int_equal(error.kind, ERROR_INPUT);
	if (!strstr(error.message, says) || error.line != line || error.column != column)
		fail_msg("%" PRIu64 ":%" PRIu64 ": %s\nand not %" PRIu64 ":%" PRIu64 ": %s",
			 error.line, error.column, error.message, line, column, says);
	assert_string_equal(error.file, "mine/fast.yaml");
}

static void a_mistake_has_its_place(void **state)
{
	(void)state;
	wrong_profile("channels: 2\n", 1, 1, "needs the key \"kind\"");
	wrong_profile("kind: flsh\n", 1, 7, "nearest is \"flash\"");
	wrong_profile("kind: [flash]\n", 1, 7, "must be a single value");
	wrong_profile(FLASH "chanels: 3\n", 7, 1, "nearest: \"channels\"");
	wrong_profile(FLASH "seek_min: 3ms\n", 7, 1, "has no key \"seek_min\"");
	wrong_profile("kind: flash\nchannels: 2\n", 1, 1, "needs the key \"read_latency\"");
	wrong_profile(FLASH "flush_time: 3MB\n", 7, 13, "unknown unit \"MB\"");
	wrong_profile(FLASH "cache: 3ms\n", 7, 8, "unknown unit \"ms\"");
	wrong_profile(FLASH "read_iops: 4k\n", 7, 12, "is not a whole number");
	wrong_profile(FLASH "read_sigma: 3\n", 7, 13, "out of range");
	wrong_profile(FLASH "tail_time: 2s\n", 7, 12, "out of range");
	wrong_profile(FLASH "flush_holds: all\n", 7, 14, "nothing|writes|everything");
	wrong_profile(FLASH "cache_volatile: maybe\n", 7, 17, "neither yes nor no");
	wrong_profile(FLASH "request_max: 1KiB\n", 7, 14, "out of range");
	wrong_profile("- kind: flash\n", 1, 1, "must be a mapping");
	wrong_profile("kind: {\n", 2, 1, "");
}

static void numbers_that_contradict_each_other_are_refused(void **state)
{
	(void)state;
	wrong_profile(FLASH "cache: 1GiB\n", 7, 1, "needs the key \"drain\"");
	wrong_profile(FLASH "cache: 1KiB\ndrain: 1MB/s\n", 7, 8, "at least 4 MiB");
	wrong_profile(FLASH "cache: 8MiB\ndrain: 1MB/s\ndrain_begin: 8MiB\n", 9, 14,
		      "less than the cache");
	wrong_profile(FLASH "program_time_max: 1ms\nprogram_time_min: 2ms\n", 8, 1,
		      "more than program_time_max");
	wrong_profile(FLASH "erase_time_max: 1ms\nerase_time_min: 2ms\n", 8, 1,
		      "more than erase_time_max");
	/* Two dies, 32 KiB in 1 ms each: 65 MB/s. */
	wrong_profile(FLASH "cache: 8MiB\ndrain: 66MB/s\nprogram_time_min: 1ms\n"
			    "program_time_max: 1ms\n",
		      8, 8, "at most 65 MB/s");
	wrong_profile("kind: disk\ncapacity: 1TB\nseek_min: 12ms\nseek_full: 11ms\n"
		      "revolution: 10ms\nouter_rate: 100MB/s\ninner_rate: 100MB/s\n",
		      3, 11, "more than seek_full");
	wrong_profile("kind: disk\ncapacity: 1TB\nseek_min: 1ms\nseek_full: 11ms\n"
		      "revolution: 10ms\nouter_rate: 100MB/s\ninner_rate: 101MB/s\n",
		      7, 13, "more than outer_rate");
	wrong_profile(DISK "cache: 4KiB\n", 8, 8, "at least 1 MiB");
}

static void a_name_is_looked_for_and_the_nearest_is_said(void **state)
{
	struct error error = {0};

	(void)state;
	assert_null(device_profile_load("optane-900", &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_non_null(strstr(error.message, "no device \"optane-900\" (nearest: optane-900p)"));
	assert_null(device_profile_load("./nowhere.yaml", &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_non_null(strstr(error.message, "cannot read device ./nowhere.yaml"));
}

static void numbers_behind_a_name_are_other_ones(void **state)
{
	struct error error = {0};
	struct device_profile *profile =
		device_profile_load("vm-disk,request_max=64KiB,flush_time=2ms", &error);
	struct device *device;

	(void)state;
	assert_non_null(profile);
	assert_string_equal(device_profile_name(profile),
			    "vm-disk,request_max=64KiB,flush_time=2ms");
	device = device_create(profile, GIB, 1);
	assert_int_equal(device_request_bytes_max(device), 64 * KIB);
	device_destroy(device);
	device_profile_free(profile);
	assert_null(device_profile_load("vm-disk,flush_tim=2ms", &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_non_null(strstr(error.message, "flush_tim"));
	assert_null(device_profile_load("vm-dis,flush_time=2ms", &error));
	assert_non_null(strstr(error.message, "no device \"vm-dis\""));
	assert_null(device_profile_load("vm-disk,flush_time=2ms,5", &error));
}

static void what_ships_loads_and_says_where_its_numbers_come_from(void **state)
{
	static const char *const wanted[] = {"gp3",      "hdd-5400",    "hdd-7200",     "instant",
					     "nvme-tlc", "optane-900p", "raid0-3x7200", "sata-ssd"};
	const char *name, *summary;
	size_t found = 0;

	(void)state;
	for (size_t i = 0; (name = device_profile_shipped(i, &summary)); i++) {
		struct error error;
		struct device_profile *profile = device_profile_load(name, &error);

		if (!profile)
			fail_msg("%s:%" PRIu64 ": %s", error.file, error.line, error.message);
		assert_string_equal(device_profile_name(profile), name);
		assert_string_equal(device_profile_summary(profile), summary);
		assert_true(*summary);
		assert_true(*device_profile_source(profile) || strcmp(name, "instant") == 0);
		device_profile_free(profile);
		for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++)
			found += strcmp(wanted[k], name) == 0;
	}
	assert_int_equal(found, sizeof(wanted) / sizeof(wanted[0]));
}

/* "read_latency: 8.9us   # [1], ...": a number without its source is an opinion. */
static void each_number_that_ships_has_its_source(void **state)
{
	const char *name, *summary;

	(void)state;
	for (size_t i = 0; (name = device_profile_shipped(i, &summary)); i++) {
		char path[200], row[400];
		FILE *file;

		snprintf(path, sizeof(path), "devices/%s.yaml", name);
		file = fopen(path, "r");
		if (!file)
			fail_msg("cannot read %s: the tests run from the project's root", path);
		while (fgets(row, sizeof(row), file)) {
			const char *value = strstr(row, ": ");

			if (row[0] == '#' || !value || strncmp(row, "kind", 4) == 0 ||
			    strncmp(row, "summary", 7) == 0 || strncmp(row, "source", 6) == 0)
				continue;
			if (!strstr(value, " # "))
				fail_msg("%s: no source: %s", path, row);
		}
		fclose(file);
	}
}

/* ---- the documentation ---- */

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
	char head[80], row[600], expects[160], *part;
	bool prints = getenv("REFAULT_PRINT_SCHEMA");
	const char *begin, *end;

	snprintf(head, sizeof(head), "\n### %s\n", heading);
	begin = strstr(text, head);
	if (prints)
		printf("### %s\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
		       heading);
	else if (!begin)
		fail_msg("docs/devices.md has no heading ### %s", heading);
	end = begin ? strstr(begin + strlen(head) - 1, "\n##") : NULL;
	part = begin ? strndup(begin, end ? (size_t)(end - begin) : strlen(begin)) : strdup("");
	for (size_t i = 0; i < count; i++) {
		bool required = strcmp(keys[i].fallback, "required") == 0;
		const char *quote = keys[i].fallback[0] && !required ? "`" : "";

		snprintf(row, sizeof(row), "| `%s` | %s | %s%s%s | %s |\n", keys[i].name,
			 schema_expects(expects, &keys[i]), quote, keys[i].fallback, quote,
			 keys[i].meaning);
		if (prints)
			printf("%s", row);
		else if (!strstr(part, row))
			fail_msg("docs/devices.md, ### %s, needs the row\n%s", heading, row);
	}
	if (prints)
		printf("\n");
	else if (rows_count(part) != count)
		fail_msg("docs/devices.md, ### %s, has %zu rows, and there are %zu keys", heading,
			 rows_count(part), count);
	free(part);
}

static void the_documentation_has_the_tables_of_the_code(void **state)
{
	struct schema_table all = device_profile_keys(NULL);
	const struct device_kind *kind;
	FILE *file = fopen("docs/devices.md", "r");
	char *text = NULL;
	size_t bytes = 0;

	(void)state;
	if (!file || getdelim(&text, &bytes, '\0', file) < 0)
		fail_msg("cannot read docs/devices.md: the tests run from the project's root");
	fclose(file);
	table_check(text, "every profile", all.keys, all.count);
	for (size_t i = 0; (kind = device_kind_at(i)); i++) {
		if (kind->key_count)
			table_check(text, kind->name, kind->keys, kind->key_count);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mistake_has_its_place),
		cmocka_unit_test(numbers_that_contradict_each_other_are_refused),
		cmocka_unit_test(a_name_is_looked_for_and_the_nearest_is_said),
		cmocka_unit_test(numbers_behind_a_name_are_other_ones),
		cmocka_unit_test(what_ships_loads_and_says_where_its_numbers_come_from),
		cmocka_unit_test(each_number_that_ships_has_its_source),
		cmocka_unit_test(the_documentation_has_the_tables_of_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
