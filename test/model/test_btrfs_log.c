/*
 * If this fails, the tree that btrfs's fsync writes loses items, overfills leaves or writes what has
 * not changed; then its fsyncs cost anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "machine/model/fs/btrfs_log.h"

enum { LEAF_BYTES = 16283 };

static void one_leaf_then_more(void **state)
{
	struct log_tree *tree = log_tree_create();
	uint32_t count;

	(void)state;
	assert_int_equal(log_tree_changed(tree), 0);
	log_tree_put(tree, 257, LOG_INODE, 0, 160);
	assert_int_equal(log_tree_changed(tree), 1);
	assert_int_equal(log_tree_changed(tree), 0);
	for (count = 0; log_tree_leaves(tree) == 1; count++)
		log_tree_put(tree, 257, LOG_EXTENT, count, 53);
	/* The last did not fit. */
	assert_int_equal(count, (LEAF_BYTES - 185) / 78 + 1);
	assert_int_equal(log_tree_changed(tree), 3); /* two leaves and a root */
	log_tree_put(tree, 257, LOG_INODE, 0, 160);
	assert_int_equal(log_tree_changed(tree), 2);
	log_tree_check(tree);
	log_tree_empty(tree);
	assert_int_equal(log_tree_leaves(tree), 0);
	log_tree_put(tree, 257, LOG_INODE, 0, 160);
	assert_int_equal(log_tree_changed(tree), 1);
	log_tree_destroy(tree);
}

static void checksums_join_only_in_front_of_others(void **state)
{
	struct log_tree *tree = log_tree_create();

	(void)state;
	/* Behind all others each is an item: 490 times 33 bytes fit a leaf. */
	for (uint64_t i = 0; i < 490; i++)
		log_tree_checksums(tree, 1000 + 2 * i, 2);
	assert_int_equal(log_tree_leaves(tree), 1);
	for (uint64_t i = 490; i < 500; i++)
		log_tree_checksums(tree, 1000 + 2 * i, 2);
	assert_int_equal(log_tree_leaves(tree), 2);
	/* With one behind them they extend the one before, until that is reached: 1600 times 8. */
	log_tree_empty(tree);
	log_tree_checksums(tree, 1000 + 3200, 2);
	for (uint64_t i = 0; i < 1600; i++)
		log_tree_checksums(tree, 1000 + 2 * i, 2);
	assert_int_equal(log_tree_leaves(tree), 1);
	/* 16 MiB have 16 KiB, in pieces: one leaf full, and some more. */
	log_tree_empty(tree);
	log_tree_checksums(tree, 1000, 4096);
	assert_int_equal(log_tree_leaves(tree), 2);
	log_tree_check(tree);
	log_tree_destroy(tree);
}

static void any_order_keeps_the_tree_whole(void **state)
{
	struct log_tree *tree = log_tree_create();
	struct random random;

	(void)state;
	random_init(&random, 3, 0);
	for (int i = 0; i < 30000; i++) {
		uint32_t inode = 256 + (uint32_t)random_below(&random, 20);

		switch (random_below(&random, 4)) {
		case 0:
			log_tree_put(tree, inode, LOG_INODE, 0, 160);
			break;
		case 1:
			log_tree_put(tree, inode, LOG_NAME, random_below(&random, 500),
				     30 + (uint32_t)random_below(&random, 200));
			break;
		case 2:
			log_tree_put(tree, inode, LOG_EXTENT, random_below(&random, 4000), 53);
			break;
		default:
			log_tree_checksums(tree, random_below(&random, 1 << 20),
					   1 + random_below(&random, 5000));
		}
		if (i % 100 == 0)
			log_tree_check(tree);
		assert_true(log_tree_changed(tree) >= 1);
	}
	log_tree_check(tree);
	log_tree_destroy(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_leaf_then_more),
		cmocka_unit_test(checksums_join_only_in_front_of_others),
		cmocka_unit_test(any_order_keeps_the_tree_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
