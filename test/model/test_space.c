/*
 * If this fails, two files lie in one place, room is lost, or a file is read from where it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/random.h"
#include "machine/model/filesystem.h"
#include "machine/model/space.h"

enum { BLOCKS = 4096, FILES = 5, FILE_PAGES = 1500 };

/* The slow, obvious one: an owner a block, a block a page. */
static struct {
	struct space *space;
	int owner[BLOCKS]; /* -1: free */
	uint64_t block[FILES][FILE_PAGES];
	enum space_state state[FILES][FILE_PAGES];
	uint32_t file;
} t;

static void given_back(void *context, const struct space_run *run)
{
	(void)context;
	for (uint64_t i = 0; i < run->pages; i++) {
		assert_int_equal(t.owner[run->block + i], t.file);
		assert_int_equal(t.block[t.file][run->page + i], run->block + i);
		assert_int_equal(t.state[t.file][run->page + i], run->state);
		t.owner[run->block + i] = -1;
		t.state[t.file][run->page + i] = SPACE_HOLE;
	}
	space_give(t.space, run->block, run->pages);
}

static void taken(void *context, const struct space_run *run)
{
	(void)context;
	for (uint64_t i = 0; i < run->pages; i++) {
		assert_int_equal(t.owner[run->block + i], -1);
		assert_int_equal(t.state[t.file][run->page + i], SPACE_HOLE);
		t.owner[run->block + i] = t.file;
		t.block[t.file][run->page + i] = run->block + i;
		t.state[t.file][run->page + i] = run->state;
	}
}

static void compare(void)
{
	uint64_t free_blocks = 0, pieces = 0;

	space_check(t.space);
	for (int i = 0; i < BLOCKS; i++) {
		free_blocks += t.owner[i] == -1;
		pieces += t.owner[i] == -1 && (i == 0 || t.owner[i - 1] != -1);
	}
	assert_int_equal(space_free_blocks(t.space), free_blocks);
	assert_int_equal(space_free_pieces(t.space), pieces);
	for (uint32_t file = 0; file < FILES; file++) {
		uint64_t runs = 0;

		for (uint64_t page = 0; page < FILE_PAGES;) {
			struct space_run run = space_find(t.space, file, page, FILE_PAGES - page);

			for (uint64_t i = 0; i < run.pages; i++) {
				assert_int_equal(run.state, t.state[file][page + i]);
				if (run.state != SPACE_HOLE)
					assert_int_equal(run.block + i, t.block[file][page + i]);
			}
			runs += run.state != SPACE_HOLE;
			page += run.pages;
		}
		assert_int_equal(space_runs(t.space, file), runs);
	}
}

static void nothing_is_lost_and_nothing_shared(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 7, 0);
	t.space = space_create();
	for (int i = 0; i < BLOCKS; i++)
		t.owner[i] = -1;
	space_give(t.space, 0, BLOCKS);
	for (int step = 0; step < 4000; step++) {
		uint64_t page = random_below(&random, FILE_PAGES),
			 pages = 1 + random_below(&random,
						  1 + random_below(&random, FILE_PAGES - page));

		t.file = (uint32_t)random_below(&random, FILES);
		switch (random_below(&random, 4)) {
		case 0:
			space_cut(t.space, t.file, page, given_back, NULL);
			break;
		case 1: { /* what was unwritten is written */
			struct space_run run = space_find(t.space, t.file, page, pages);

			if (run.state != SPACE_UNWRITTEN)
				break;
			run.state = SPACE_WRITTEN;
			space_put(t.space, t.file, &run);
			for (uint64_t i = 0; i < run.pages; i++)
				t.state[t.file][page + i] = SPACE_WRITTEN;
			break;
		}
		default:
			if (!space_fill(t.space, t.file, page, pages, random_below(&random, BLOCKS),
					1 + random_below(&random, 400),
					random_below(&random, 2) ? SPACE_WRITTEN : SPACE_UNWRITTEN,
					taken, NULL))
				assert_int_equal(space_free_blocks(t.space), 0);
		}
		if (step % 16 == 0)
			compare();
	}
	compare();
	space_destroy(t.space);
}

static void room_is_given_first_fit_and_in_pieces_when_nearly_full(void **state)
{
	struct space *space = space_create();
	uint64_t block;

	(void)state;
	assert_int_equal(space_take(space, 0, 1, &block), 0);
	space_give(space, 100, 10);
	space_give(space, 200, 50);
	space_give(space, 300, 20);
	assert_int_equal(space_take(space, 0, 20, &block), 20);
	assert_int_equal(block, 200);
	assert_int_equal(space_take(space, 300, 20, &block), 20);
	assert_int_equal(block, 300);
	/* No piece is so long: the longest there is. */
	assert_int_equal(space_take(space, 0, 64, &block), 30);
	assert_int_equal(block, 220);
	assert_int_equal(space_take(space, 105, 5, &block), 5);
	assert_int_equal(block, 105);
	assert_int_equal(space_free_blocks(space), 5);
	space_destroy(space);
}

static void what_is_read_and_written_is_asked_where_it_lies(void **state)
{
	struct space *space = space_create();
	struct io_list list = {0};
	struct filesystem_mount mount = {.io = &list};
	struct space_run runs[] = {{0, 1000, 300, SPACE_WRITTEN},
				   {300, 5000, 10, SPACE_UNWRITTEN},
				   {310, 5010, 10, SPACE_WRITTEN}};

	(void)state;
	for (int i = 0; i < 3; i++)
		space_put(space, 3, &runs[i]);
	assert_int_equal(space_runs(space, 3), 3);
	space_transfer(space, &mount, IO_READ, 3, 10, 400, 256);
	assert_int_equal(list.at.count, 3);
	assert_int_equal(list.at.at[0].offset, 1010 * 4096);
	assert_int_equal(list.at.at[0].bytes, 256 * 4096);
	assert_int_equal(list.at.at[1].index, 266);
	assert_int_equal(list.at.at[1].bytes, 34 * 4096);
	assert_int_equal(list.at.at[2].index, 310);
	assert_int_equal(list.at.at[2].file, 3);
	io_list_empty(&list);
	space_transfer(space, &mount, IO_WRITE, 3, 305, 10, 256);
	assert_int_equal(list.at.count, 2);
	assert_int_equal(list.at.at[0].offset, 5005 * 4096);
	assert_int_equal(list.at.at[0].file, 0);
	array_deinit(&list.at);
	space_destroy(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_and_nothing_shared),
		cmocka_unit_test(room_is_given_first_fit_and_in_pieces_when_nearly_full),
		cmocka_unit_test(what_is_read_and_written_is_asked_where_it_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
