/*
 * If this fails, requests are done, and threads go on, in another order than their time's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "machine/model/agenda.h"

static void an_empty_agenda_has_nothing_next(void **state)
{
	struct agenda agenda = {0};

	(void)state;
	assert_true(agenda_next_ns(&agenda) == UINT64_MAX);
	agenda_deinit(&agenda);
}

/* Some are taken, some put in, as time goes on: `id` counts those put in. */
static void the_earliest_comes_out_and_of_equals_the_first(void **state)
{
	struct agenda agenda = {0};
	struct agenda_entry last = {0};
	struct random random;
	uint32_t count = 0;

	(void)state;
	random_init(&random, 1, 0);
	for (int step = 0; step < 20000; step++) {
		if (random_below(&random, 100) < 52) {
			agenda_add(&agenda, last.ns + random_below(&random, 8), 7, count++);
		} else if (agenda.at.count > 0) {
			uint64_t next_ns = agenda_next_ns(&agenda);
			struct agenda_entry entry = agenda_take(&agenda);

			assert_int_equal(entry.ns, next_ns);
			assert_int_equal(entry.what, 7);
			assert_true(entry.ns > last.ns ||
				    (entry.ns == last.ns && entry.id >= last.id));
			last = entry;
		}
	}
	assert_true(count > 10000);
	agenda_deinit(&agenda);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_agenda_has_nothing_next),
		cmocka_unit_test(the_earliest_comes_out_and_of_equals_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
