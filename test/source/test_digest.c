/* If this fails, runs of different experiments are taken for one, or those of one are not found again. */
#include "source_test.h"

#include <stdlib.h>
#include <unistd.h>

#include "source/digest.h"

#define BEFORE "machine: {cgroup_limit: 64MiB, policy: linux-4.5}\nfiles: {data: {size: 8MiB}}\n"
#define JOBS   "jobs:\n  r: {read: data, loop: 2}\n"

static void digest_of(char digest[DIGEST_BYTES], const char *text, const char *set)
{
	struct scenario scenario;
	struct error error;

	if (!scenario_parse(&scenario, "test.yaml", text, strlen(text), &set, set ? 1 : 0, &error))
		fail_msg("%s", error.message);
	digest_scenario(digest, &scenario);
	scenario_deinit(&scenario);
}

static void what_decides_nothing_is_not_in_it(void **state)
{
	static const char *const same[] = {
		"# a comment\n" BEFORE "\n\n" JOBS,
		"name: other\nsummary: of the same\nseed: 7\n" BEFORE JOBS,
		BEFORE JOBS "compare: {activate_on_write: [always, never]}\n",
	};
	char digest[DIGEST_BYTES], other[DIGEST_BYTES];

	(void)state;
	digest_of(digest, BEFORE JOBS, NULL);
	assert_int_equal(strlen(digest), 16);
	for (size_t i = 0; i < 3; i++) {
		digest_of(other, same[i], NULL);
		assert_string_equal(digest, other);
	}
	/* The run says which policy it had, and which seed. */
	digest_of(other, BEFORE JOBS, "machine.policy=lru");
	assert_string_equal(digest, other);
	digest_of(other, BEFORE JOBS, "seed=3");
	assert_string_equal(digest, other);
}

static void what_decides_is(void **state)
{
	static const char *const sets[] = {"machine.cgroup_limit=65MiB", "files.data.size=9MiB",
					   "jobs.r.loop=3", "sync=no", "machine.readahead=64KiB"};
	char digest[DIGEST_BYTES], other[DIGEST_BYTES];

	(void)state;
	digest_of(digest, BEFORE JOBS, NULL);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		digest_of(other, BEFORE JOBS, sets[i]);
		assert_string_not_equal(digest, other);
	}
	/* Set by hand or written in the file, it is the same. */
	digest_of(digest, BEFORE "jobs:\n  r: {read: data, loop: 3}\n", NULL);
	digest_of(other, BEFORE JOBS, "jobs.r.loop=3");
	assert_string_equal(digest, other);
}

static void a_file_is_its_bytes(void **state)
{
	char path[] = "/tmp/refault-digest-XXXXXX", digest[DIGEST_BYTES], other[DIGEST_BYTES];
	int file = mkstemp(path);

	(void)state;
	assert_true(digest_file(digest, path));
	/* XXH3 of nothing, as its authors give it. */
	assert_string_equal(digest, "2d06800538d394c2");
	assert_int_equal(write(file, "abc", 3), 3);
	assert_true(digest_file(other, path));
	assert_string_not_equal(digest, other);
	close(file);
	unlink(path);
	assert_false(digest_file(digest, path));
	assert_false(digest_file(digest, "/dev/null"));
	assert_false(digest_file(digest, "-"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_decides_nothing_is_not_in_it),
		cmocka_unit_test(what_decides_is),
		cmocka_unit_test(a_file_is_its_bytes),
	};

	return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
