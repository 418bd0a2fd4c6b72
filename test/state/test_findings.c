/*
 * If this fails, somebody is told to look in the wrong place: a problem is not seen, one is seen that is none, or a figure is
 * not what its lines say. Each case is one that really happened.
 */
#include "state_test.h"

/* Thirty seconds of a small board whose file pages do not fit. */
static void file_pages_thrash_and_swap_does_not(void **unused)
{
	struct examination e;
	const struct finding *finding;

	(void)unused;
	examine(&e, file_text("test/state/samples/procfs-pair.txt"));
	assert_int_equal(e.diagnosis.verdict, VERDICT_CACHING);
	finding = found(&e, "file-thrash");
	assert_int_equal(finding->kind, FINDING_PROBLEM);
	assert_int_equal(finding->severity, SEVERITY_HIGH);
	assert_true(figure(&e, "file-thrash", "file_refaults_pages") == 36000);
	assert_true(figure(&e, "file-thrash", "file_refaults_bytes") == 147456000);
	assert_near(figure(&e, "file-thrash", "file_refaults_bytes_per_second") / MIB, 4.6875,
		    1e-9);
	assert_true(figure(&e, "file-thrash", "activated_pages") == 24000);
	assert_near(figure(&e, "file-thrash", "activated_share"), 66.6667, 1e-3);
	assert_true(figure(&e, "file-thrash", "anon_refaults_pages") == 0);
	assert_true(figure(&e, "file-thrash", "read_bytes") == 153600 * 1024.0);
	assert_near(figure(&e, "file-thrash", "refaulted_share_of_reads"), 93.75, 1e-9);
	assert_true(figure(&e, "file-thrash", "major_faults") == 8400);
	assert_near(figure(&e, "file-thrash", "through_mappings_share"), 23.333, 1e-3);
	assert_true(rests_on(finding, 7, "workingset_refault_file 1880500"));
	assert_true(rests_on(finding, 22, "workingset_refault_file 1916500"));
	assert_true(found_as(&e, "swapping", FINDING_RULED_OUT));
	assert_true(found_as(&e, "dirty", FINDING_RULED_OUT));
	assert_true(figure(&e, "shrinkers", "slabs_scanned") == 40960);
	assert_true(figure(&e, "slab-caches", "dentry_slab_bytes") == 17240064);
	assert_true(figure(&e, "slab-caches", "dentry_object_bytes") == 16934400);
	assert_true(figure(&e, "slab-caches", "ext4_inode_cache_slab_bytes") == 11059200);
	assert_true(figure(&e, "slab-caches", "radix_tree_node_slab_bytes") == 3506176);
	assert_true(figure(&e, "negative-dentries", "negative_dentries") == 61900);
	assert_near(figure(&e, "negative-dentries", "negative_share"), 70.181, 1e-3);
	assert_true(figure(&e, "negative-dentries", "negative_bytes") == 61900 * 192);
	assert_null(found(&e, "shadow-nodes"));
	dismiss(&e);
}

/* C40: read once the working set is 100 MiB, read twice 400 MiB, and 100 MiB is needed both times. */
static void active_cache_is_not_leaked_memory(void **unused)
{
	static const char *const texts[] = {
		"anon 104857600\nfile 314572800\ninactive_file 0\nactive_file 314572800\n"
		"==> memory.current <==\n419430400\n==> memory.max <==\n536870912\n"
		"==> memory.events <==\nlow 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
		"cache 314572800\nrss 104857600\ninactive_file 0\nactive_file 314572800\n"
		"hierarchical_memory_limit 536870912\n"
		"==> memory.usage_in_bytes <==\n419430400\n",
	};
	struct examination e;

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		examine(&e, texts[i]);
		assert_true(e.diagnosis.verdict != VERDICT_CACHING);
		assert_true(found_as(&e, "working-set", FINDING_EXPLANATION));
		assert_true(figure(&e, "working-set", "working_set_bytes") == 400.0 * MIB);
		assert_true(figure(&e, "working-set", "needed_bytes") == 100.0 * MIB);
		assert_non_null(strstr(e.diagnosis.summary, "not leaked memory"));
		dismiss(&e);
	}
	/* Read once. */
	examine(&e, "anon 104857600\nfile 314572800\ninactive_file 314572800\nactive_file 0\n"
		    "==> memory.current <==\n419430400\n");
	assert_null(found(&e, "working-set"));
	dismiss(&e);
}

/* C43: 232 of 256 MiB are a process's own, 40 MiB of code go round. */
static void a_cgroup_at_its_limit_reads_for_ever(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e,
		"t=0\nanon 243269632\nfile 23068672\nactive_file 11534336\ninactive_file 11534336\n"
		"slab_reclaimable 1048576\nworkingset_refault_file 1000000\n"
		"t=10\nanon 243269632\nfile 23068672\nactive_file 11534336\ninactive_file "
		"11534336\n"
		"slab_reclaimable 1048576\nworkingset_refault_file 1400000\n"
		"==> memory.current <==\n268435456\n==> memory.max <==\n268435456\n"
		"==> memory.events <==\nlow 0\nhigh 0\nmax 90123\noom 0\noom_kill 0\n");
	assert_int_equal(e.diagnosis.verdict, VERDICT_CACHING);
	assert_true(found_as(&e, "cgroup-limit", FINDING_PROBLEM));
	assert_int_equal(found(&e, "cgroup-limit")->severity, SEVERITY_HIGH);
	/* 268435456 - (268435456 - 23068672 - 1048576) */
	assert_true(figure(&e, "cgroup-limit", "room_for_file_pages_bytes") == 24117248);
	assert_true(figure(&e, "cgroup-limit", "oom_kills") == 0);
	assert_non_null(strstr(found(&e, "cgroup-limit")->text, "nobody is killed"));
	assert_true(found_as(&e, "killed", FINDING_RULED_OUT));
	dismiss(&e);
	/* The same usage, and nothing comes back: cache fills what there is. */
	examine(&e, "t=0\nanon 1048576\nfile 260046848\nactive_file 0\ninactive_file 260046848\n"
		    "workingset_refault_file 12\n"
		    "t=10\nanon 1048576\nfile 260046848\nactive_file 0\ninactive_file 260046848\n"
		    "workingset_refault_file 12\n"
		    "==> memory.current <==\n268435456\n==> memory.max <==\n268435456\n");
	assert_int_equal(e.diagnosis.verdict, VERDICT_NONE);
	assert_true(found_as(&e, "cgroup-limit", FINDING_EXPLANATION));
	dismiss(&e);
}

/* C31: a million names. They are given back, unless they are in use. */
static void dentries_that_fill_a_cgroup_are_given_back(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e,
		"anon 125829120\nfile 4096\nslab_reclaimable 125829120\nslab_unreclaimable "
		"1048576\n"
		"slab 126877696\n==> memory.max <==\n268435456\n==> memory.current <==\n262144000\n"
		"==> memory.events <==\nmax 12\noom 0\noom_kill 0\n");
	assert_true(found_as(&e, "cgroup-slab", FINDING_EXPLANATION));
	assert_true(e.diagnosis.verdict != VERDICT_CACHING);
	dismiss(&e);
	/* 90,000 files held open: what is not on the LRU list cannot be reclaimed. */
	examine(&e, "MemTotal: 1048576 kB\n==> dentry-state <==\n91000\t1000\t45\t0\t0\t0\n");
	assert_true(found_as(&e, "pinned-dentries", FINDING_PROBLEM));
	assert_true(figure(&e, "pinned-dentries", "dentries_in_use") == 90000);
	dismiss(&e);
}

/* C24, and a kernel before 5.0, whose 0 says nothing. */
static void negative_dentries_are_counted_or_not_known(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "MemTotal: 1048576 kB\n1316000\t1310000\t45\t0\t1300000\t0\n");
	assert_true(found_as(&e, "negative-dentries", FINDING_PROBLEM));
	dismiss(&e);
	examine(&e, "MemTotal: 1048576 kB\n1316000\t1310000\t45\t0\t0\t0\n");
	assert_true(found_as(&e, "negative-dentries", FINDING_CANNOT_TELL));
	dismiss(&e);
	examine(&e, "Linux version 6.1.0-13-amd64 (x) #1\nMemTotal: 1048576 "
		    "kB\n1316000\t1310000\t45\t0\t0\t0\n");
	assert_true(found_as(&e, "negative-dentries", FINDING_RULED_OUT));
	dismiss(&e);
}

/* C33: 4.6 times its limit, and after dropping inodes still above the metadata's. */
static void an_arc_over_its_limits(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "c 4 536870912\nc_min 4 4194304\nc_max 4 536870912\nsize 4 2469606195\n"
		    "arc_meta_used 4 2382914816\narc_meta_limit 4 134217728\narc_prune 4 5\n");
	assert_true(found_as(&e, "arc-over", FINDING_PROBLEM));
	assert_near(figure(&e, "arc-over", "times_its_limit"), 4.6, 0.01);
	assert_true(found_as(&e, "arc-metadata", FINDING_PROBLEM));
	assert_near(figure(&e, "arc-metadata", "times_the_limit"), 17.75, 0.01);
	dismiss(&e);
	examine(&e,
		"c 4 536870912\nc_min 4 4194304\nc_max 4 536870912\nsize 4 2469606195\n"
		"arc_meta_used 4 2382914816\narc_meta_limit 4 134217728\narc_prune 4 5\nhits 4 5\n"
		"c 4 536870912\nc_min 4 4194304\nc_max 4 536870912\nsize 4 450000000\n"
		"arc_meta_used 4 377701312\narc_meta_limit 4 134217728\narc_prune 4 9\nhits 4 6\n");
	assert_null(found(&e, "arc-over"));
	assert_int_equal(found(&e, "arc-metadata")->severity, SEVERITY_MEDIUM);
	assert_non_null(strstr(found(&e, "arc-metadata")->text, "fell from"));
	dismiss(&e);
}

/* C35: pruning goes on, and metadata does not go down. */
static void an_arc_that_prunes_in_vain(void **unused)
{
	static const char text[] =
		"t=0\nc 4 16800000000\nc_min 4 1000\nc_max 4 16800000000\nsize 4 16600000000\n"
		"arc_meta_used 4 16200000000\narc_meta_limit 4 12600000000\narc_prune 4 1000\n"
		"t=60\nc 4 16800000000\nc_min 4 1000\nc_max 4 16800000000\nsize 4 16600000000\n"
		"arc_meta_used 4 16200000000\narc_meta_limit 4 12600000000\narc_prune 4 91000\n";
	struct examination e;
	const struct finding *finding;

	(void)unused;
	examine(&e, text);
	finding = found(&e, "arc-metadata");
	assert_int_equal(finding->severity, SEVERITY_HIGH);
	assert_true(figure(&e, "arc-metadata", "prunes") == 90000);
	assert_non_null(strstr(finding->text, "not too little memory"));
	assert_non_null(strstr(finding->remedy, "zfs_arc_meta_limit"));
	assert_int_equal(e.diagnosis.verdict, VERDICT_CACHING);
	dismiss(&e);
	/* Since 2.2 there is a limit for dnodes alone. */
	examine(&e,
		"t=0\nc 4 100\nc_min 4 1\nc_max 4 100000000\nsize 4 100\ndnode_size 4 20000000\n"
		"arc_dnode_limit 4 10000000\narc_prune 4 1000\narc_meta_used 4 50\n"
		"t=60\nc 4 100\nc_min 4 1\nc_max 4 100000000\nsize 4 100\ndnode_size 4 20000000\n"
		"arc_dnode_limit 4 10000000\narc_prune 4 2000\narc_meta_used 4 50\n");
	assert_true(has_figure(found(&e, "arc-metadata"), "arc_dnode_bytes"));
	dismiss(&e);
}

static void an_arc_at_its_floor(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "c 4 1073741824\nc_min 4 1073741824\nc_max 4 8589934592\nsize 4 1060000000\n"
		    "arc_no_grow 4 1\nmemory_available_bytes 3 -5000000\n");
	assert_true(found_as(&e, "arc-floor", FINDING_PROBLEM));
	assert_true(figure(&e, "arc-floor", "arc_available_bytes") == -5000000);
	dismiss(&e);
	/* 0.8 begins at the top: here it has been pressed down, even if nothing says so now. */
	examine(&e, "c 4 1073741824\nc_min 4 1073741824\nc_max 4 8589934592\nsize 4 1060000000\n"
		    "arc_no_grow 4 0\narc_meta_min 4 16777216\n");
	assert_true(found_as(&e, "arc-floor", FINDING_PROBLEM));
	dismiss(&e);
	/* 2.1, full at the floor: perhaps about to grow. */
	examine(&e, "c 4 1073741824\nc_min 4 1073741824\nc_max 4 8589934592\nsize 4 1060000000\n"
		    "arc_no_grow 4 0\narc_meta_min 4 16777216\ncached_only_in_progress 4 0\n");
	assert_true(found_as(&e, "arc-floor", FINDING_EXPLANATION));
	dismiss(&e);
	/* ZFS 2 begins there, and is not full yet. */
	examine(&e, "c 4 1073741824\nc_min 4 1073741824\nc_max 4 8589934592\nsize 4 100000000\n"
		    "arc_no_grow 4 0\n");
	assert_null(found(&e, "arc-floor"));
	dismiss(&e);
	/* Fixed by whoever set both to the same. */
	examine(&e, "c 4 1073741824\nc_min 4 1073741824\nc_max 4 1073741824\nsize 4 1060000000\n"
		    "arc_no_grow 4 1\n");
	assert_null(found(&e, "arc-floor"));
	dismiss(&e);
}

/* C38. */
static void a_machine_that_swaps_beside_a_large_arc(void **unused)
{
	static const char text[] =
		"MemTotal: 67108864 kB\nMemFree: 700000 kB\nMemAvailable: 900000 kB\nBuffers: 1000 "
		"kB\n"
		"Cached: 800000 kB\nActive(file): 300000 kB\nInactive(file): 400000 kB\n"
		"AnonPages: 8000000 kB\nSlab: 3000000 kB\nSReclaimable: 1000000 kB\nSUnreclaim: "
		"2000000 kB\n"
		"SwapTotal: 8388608 kB\nSwapFree: 2097152 kB\n"
		"size 4 51539607552\nc 4 51539607552\nc_min 4 2147483648\nc_max 4 64424509440\n"
		"/sys/kernel/mm/lru_gen/enabled:0x0007\n";
	struct examination e;

	(void)unused;
	examine(&e, text);
	assert_int_equal(e.diagnosis.verdict, VERDICT_CACHING);
	assert_true(found_as(&e, "arc-swap", FINDING_PROBLEM));
	assert_true(figure(&e, "arc-swap", "mglru") == 7);
	assert_non_null(strstr(found(&e, "arc-swap")->remedy, "swappiness"));
	assert_true(found_as(&e, "unaccounted", FINDING_EXPLANATION));
	dismiss(&e);
}

/* C50: 64 GB, 12.8 GB may be dirty, 300 MB/s. */
static void a_dirty_limit_that_takes_long_to_write(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "t=0\nnr_dirty 1700000\nnr_writeback 100000\nnr_dirty_threshold 3125000\n"
		    "nr_dirty_background_threshold 1562500\npgpgout 1000\nnr_written 10\n"
		    "t=10\nnr_dirty 1800000\nnr_writeback 100000\nnr_dirty_threshold 3125000\n"
		    "nr_dirty_background_threshold 1562500\npgpgout 2930688\nnr_written 732500\n");
	assert_true(found_as(&e, "dirty-limit", FINDING_PROBLEM));
	assert_near(figure(&e, "dirty-limit", "drain_seconds_of_the_limit"), 42.7, 0.1);
	assert_true(figure(&e, "dirty-limit", "dirty_limit_bytes") == 12.8e9);
	/* Below the middle of the two, nobody is held back yet. */
	assert_true(found_as(&e, "dirty", FINDING_RULED_OUT));
	assert_true(figure(&e, "dirty", "throttled_from_bytes") == 9.6e9);
	dismiss(&e);
	examine(&e, "nr_dirty 2300000\nnr_writeback 100000\nnr_dirty_threshold 3125000\n"
		    "nr_dirty_background_threshold 1562500\n");
	assert_true(found_as(&e, "dirty", FINDING_PROBLEM));
	dismiss(&e);
}

/* C41: pages of files on disks are written, those on tmpfs cannot be. */
static void a_cgroup_that_writes_is_throttled_and_not_killed(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "anon 4194304\nfile 190000000\nfile_dirty 30000000\nfile_writeback "
		    "20000000\nshmem 0\n"
		    "active_file 0\ninactive_file 190000000\n"
		    "==> memory.current <==\n209000000\n==> memory.max <==\n209715200\n");
	assert_true(found_as(&e, "dirty", FINDING_PROBLEM));
	assert_non_null(strstr(found(&e, "dirty")->text, "device's speed"));
	assert_null(found(&e, "shmem"));
	dismiss(&e);
	examine(&e,
		"anon 4194304\nfile 190000000\nfile_dirty 0\nfile_writeback 0\nshmem 190000000\n"
		"active_file 0\ninactive_file 0\n"
		"==> memory.current <==\n209000000\n==> memory.max <==\n209715200\n");
	assert_true(found_as(&e, "shmem", FINDING_ELSEWHERE));
	assert_int_equal(e.diagnosis.verdict, VERDICT_ELSEWHERE);
	dismiss(&e);
}

/* C59. */
static void caches_that_are_thrown_away(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "t=0\ndrop_pagecache 12\ndrop_slab 12\npgfault 1\nnr_file_pages 50000\n"
		    "t=60\ndrop_pagecache 13\ndrop_slab 13\npgfault 2\nnr_file_pages 1000\n");
	assert_true(found_as(&e, "dropped-caches", FINDING_PROBLEM));
	assert_true(figure(&e, "dropped-caches", "page_cache_lost_bytes") == 49000 * 4096.0);
	dismiss(&e);
	examine(&e, "drop_pagecache 40\ndrop_slab 40\n==> /proc/uptime <==\n3456000.00 1.00\n");
	assert_true(found_as(&e, "dropped-caches", FINDING_PROBLEM));
	dismiss(&e);
	examine(&e, "drop_pagecache 1\ndrop_slab 0\n==> /proc/uptime <==\n3456000.00 1.00\n");
	assert_true(found_as(&e, "dropped-caches", FINDING_EXPLANATION));
	dismiss(&e);
	examine(&e, "drop_pagecache 0\ndrop_slab 0\n");
	assert_true(found_as(&e, "dropped-caches", FINDING_RULED_OUT));
	dismiss(&e);
}

/* C46. */
static void images_that_are_cached_twice(void **unused)
{
	static const char header[] =
		"NAME       SIZELIMIT OFFSET AUTOCLEAR RO BACK-FILE      DIO LOG-SEC\n";
	struct examination e;
	char text[400];

	(void)unused;
	snprintf(text, sizeof(text), "%s/dev/loop0 0 0 0 0 /srv/my disk.img 0 512\n", header);
	examine(&e, text);
	assert_true(found_as(&e, "loop", FINDING_EXPLANATION));
	dismiss(&e);
	snprintf(text, sizeof(text), "%s/dev/loop0 0 0 0 0 /srv/my disk.img 1 512\n", header);
	examine(&e, text);
	assert_true(found_as(&e, "loop", FINDING_RULED_OUT));
	dismiss(&e);
}

/* Not caching: a leak, slab that is none, huge pages, page tables, a processor, first reads. */
static void what_is_no_caching_problem(void **unused)
{
	static const struct {
		const char *text, *id;
	} cases[] = {
		{"t=0\nMemTotal: 1000000 kB\nAnonPages: 100000 kB\nCached: 500000 kB\npgfault 1\n"
		 "workingset_refault_file 5\n"
		 "t=60\nMemTotal: 1000000 kB\nAnonPages: 400000 kB\nCached: 300000 kB\npgfault 2\n"
		 "workingset_refault_file 5\n",
		 "anon-growth"},
		{"MemTotal: 16000000 kB\nMemFree: 1000000 kB\nSUnreclaim: 6000000 "
		 "kB\nSReclaimable: 1 kB\n",
		 "slab-unreclaimable"},
		{"MemTotal: 16000000 kB\nMemFree: 1000000 kB\nHugePages_Total: "
		 "4096\nHugePages_Free: 4000\n"
		 "Hugepagesize: 2048 kB\n",
		 "huge-pages"},
		{"MemTotal: 16000000 kB\nMemFree: 1000000 kB\nPageTables: 3000000 kB\n",
		 "page-tables"},
		{"MemTotal: 16000000 kB\nMemFree: 100000 kB\nMemAvailable: 300000 kB\nAnonPages: "
		 "15000000 kB\n",
		 "memory-short"},
		{"t=0\npgpgin 0\nworkingset_refault_file 0\nt=10\npgpgin "
		 "1000000\nworkingset_refault_file 10\n",
		 "new-reads"},
		{"t=0\npswpin 0\npswpout 0\npgfault 1\nt=10\npswpin 50000\npswpout 60000\npgfault "
		 "2\n",
		 "swapping"},
		{"t=0\ncpu 0 0 0 0 0 0 0 0\nt=10\ncpu 990 0 5 5 0 0 0 0\n", "processor"},
		{"==> /proc/pressure/memory <==\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
		 "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
		 "==> /proc/pressure/io <==\nsome avg10=80.00 avg60=0.00 avg300=0.00 total=0\n"
		 "full avg10=70.00 avg60=0.00 avg300=0.00 total=0\n",
		 "pressure"},
		{"MemTotal: 16000000 kB\nMemFree: 1000000 kB\nCached: 1000000 kB\nAnonPages: "
		 "1000000 kB\n"
		 "Slab: 100000 kB\n",
		 "unaccounted"},
	};
	struct examination e;

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		examine(&e, cases[i].text);
		if (!found(&e, cases[i].id) || e.diagnosis.verdict != VERDICT_ELSEWHERE)
			fail_msg("%s: %s", cases[i].id, e.diagnosis.summary);
		assert_non_null(strstr(e.diagnosis.summary, "not a caching problem"));
		dismiss(&e);
	}
}

/* Counters by zone, and the names of their time. */
static void old_kernels_are_understood(void **unused)
{
	struct examination e;

	(void)unused;
	/* 2.6.18: pgsteal_ZONE is of both, kswapd_steal of kswapd. */
	examine(&e, "t=0\nnr_dirty 5\nnr_slab 10\npgpgin 100\npgscan_kswapd_normal "
		    "0\npgscan_kswapd_dma 0\n"
		    "pgscan_direct_normal 0\nkswapd_steal 0\npgsteal_normal 0\npgsteal_dma "
		    "0\nallocstall 0\n"
		    "t=10\nnr_dirty 5\nnr_slab 10\npgpgin 200\npgscan_kswapd_normal 30000\n"
		    "pgscan_kswapd_dma 1000\npgscan_direct_normal 20000\nkswapd_steal 25000\n"
		    "pgsteal_normal 40000\npgsteal_dma 500\nallocstall 700\n");
	assert_true(found_as(&e, "reclaim", FINDING_PROBLEM));
	assert_true(figure(&e, "reclaim", "scanned_background_pages") == 31000);
	assert_true(figure(&e, "reclaim", "scanned_direct_pages") == 20000);
	assert_true(figure(&e, "reclaim", "reclaimed_pages") == 40500);
	assert_true(figure(&e, "reclaim", "stalls") == 700);
	assert_true(found_as(&e, "file-thrash", FINDING_CANNOT_TELL));
	dismiss(&e);
	/* 3.10: by zone and by whom; pgscan_direct_throttle is none of them. */
	examine(&e, "t=0\npgscan_kswapd_dma32 0\npgscan_direct_dma32 0\npgscan_direct_throttle 0\n"
		    "pgsteal_kswapd_dma32 0\npgsteal_direct_dma32 0\nallocstall 0\n"
		    "t=10\npgscan_kswapd_dma32 90000\npgscan_direct_dma32 "
		    "100\npgscan_direct_throttle 77777\n"
		    "pgsteal_kswapd_dma32 80000\npgsteal_direct_dma32 50\nallocstall 3\n");
	assert_true(found_as(&e, "reclaim", FINDING_EXPLANATION));
	assert_true(figure(&e, "reclaim", "scanned_direct_pages") == 100);
	dismiss(&e);
	/* 4.4: one counter for refaults, of file pages alone. */
	examine(&e, "t=0\nworkingset_refault 0\nworkingset_activate 0\npgpgin 0\n"
		    "t=10\nworkingset_refault 50000\nworkingset_activate 50000\npgpgin 200000\n");
	assert_true(figure(&e, "file-thrash", "refaulted_share_of_reads") == 100);
	assert_true(figure(&e, "file-thrash", "activated_share") == 100);
	dismiss(&e);
	/* Stalls by zone, since 4.10. */
	examine(&e,
		"t=0\nallocstall_normal 0\nallocstall_movable 0\npgscan_kswapd 0\npgscan_direct 0\n"
		"t=10\nallocstall_normal 100\nallocstall_movable 200\npgscan_kswapd "
		"10\npgscan_direct 90\n");
	assert_true(figure(&e, "reclaim", "stalls") == 300);
	dismiss(&e);
}

/* Pages of 64 KiB: sixteen times the bytes. */
static void pages_are_as_large_as_they_are(void **unused)
{
	static const char text[] =
		"t=0\nworkingset_refault_file 0\nworkingset_activate_file 0\npgpgin "
		"0\nnr_free_pages 10000\n"
		"t=10\nworkingset_refault_file 3000\nworkingset_activate_file 0\npgpgin 200000\n"
		"nr_free_pages 10000\nMemFree: 640000 kB\n";
	const struct state_options options = {.page_bytes = 16 * KIB};
	struct examination e;

	(void)unused;
	examine(&e, text);
	assert_true(figure(&e, "file-thrash", "file_refaults_bytes") == 3000 * 65536.0);
	assert_near(figure(&e, "file-thrash", "refaulted_share_of_reads"), 96, 1e-9);
	dismiss(&e);
	examine_with(&e, &options, "x",
		     "t=0\nworkingset_refault_file 0\nt=10\nworkingset_refault_file 3000\n");
	assert_true(figure(&e, "file-thrash", "file_refaults_bytes") == 3000 * 16384.0);
	dismiss(&e);
	/* A kernel that prints the slab in bytes. */
	examine(&e, "nr_free_pages 10000\nnr_file_pages 10000\nnr_slab_reclaimable 48640000\n"
		    "nr_slab_unreclaimable 1000\n");
	assert_true(quantity_now(&(const struct view){.state = e.state}, QUANTITY_slab_reclaimable)
			    .value == 48640000);
	dismiss(&e);
}

static void nothing_is_less_than_nothing(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "t=0\nworkingset_refault_file 500\npgpgin 500\npgfault 9\n"
		    "t=10\nworkingset_refault_file 3\npgpgin 2\npgfault 1\n");
	assert_true(found_as(&e, "file-thrash", FINDING_CANNOT_TELL));
	for (size_t i = 0; i < e.diagnosis.findings.list.count; i++) {
		const struct finding *finding = e.diagnosis.findings.list.at[i];

		for (size_t j = 0; j < finding->figures.count; j++)
			assert_true(finding->figures.at[j].value >= 0);
	}
	dismiss(&e);
}

/* One vmstat, one meminfo, nothing wrong: no alarm, and what a second one would show. */
static void one_dump_is_said_to_be_one(void **unused)
{
	struct examination e;
	bool wants_second = false;

	(void)unused;
	examine(&e,
		"MemTotal: 16000000 kB\nMemFree: 300000 kB\nMemAvailable: 14000000 kB\n"
		"Buffers: 100000 kB\nCached: 13500000 kB\nActive(file): 9000000 kB\n"
		"Inactive(file): 4500000 kB\nAnonPages: 900000 kB\nSlab: 600000 kB\n"
		"SReclaimable: 500000 kB\nSUnreclaim: 100000 kB\nShmem: 10000 kB\nDirty: 100 kB\n"
		"nr_free_pages 75000\nworkingset_refault_file 1000000\npgpgin 100000000\n"
		"nr_dirty 25\nnr_dirty_threshold 700000\nnr_dirty_background_threshold 350000\n");
	assert_int_equal(e.diagnosis.verdict, VERDICT_UNKNOWN);
	assert_true(found_as(&e, "free-memory", FINDING_EXPLANATION));
	assert_true(found_as(&e, "file-thrash", FINDING_CANNOT_TELL));
	assert_null(found(&e, "memory-short"));
	assert_null(found(&e, "unaccounted"));
	for (size_t i = 0; i < e.diagnosis.gaps.count; i++)
		wants_second |= strstr(e.diagnosis.gaps.at[i].needs, "seconds later") != NULL;
	assert_true(wants_second);
	dismiss(&e);
}

/* Two cgroups in one file are two. */
static void cgroups_are_kept_apart(void **unused)
{
	struct examination e;

	(void)unused;
	examine(&e, "==> /sys/fs/cgroup/a/memory.stat <==\nanon 1\nfile 100\nactive_file "
		    "100\ninactive_file 0\n"
		    "==> /sys/fs/cgroup/a/memory.current <==\n101\n"
		    "==> /sys/fs/cgroup/b/memory.stat <==\nanon 500\nfile 0\nactive_file "
		    "0\ninactive_file 0\n"
		    "==> /sys/fs/cgroup/b/memory.current <==\n500\n");
	assert_int_equal(e.state->cgroups.count, 2);
	assert_true(figure(&e, "working-set", "working_set_bytes") == 101);
	assert_string_equal(found(&e, "working-set")->cgroup, "/a");
	dismiss(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_pages_thrash_and_swap_does_not),
		cmocka_unit_test(active_cache_is_not_leaked_memory),
		cmocka_unit_test(a_cgroup_at_its_limit_reads_for_ever),
		cmocka_unit_test(dentries_that_fill_a_cgroup_are_given_back),
		cmocka_unit_test(negative_dentries_are_counted_or_not_known),
		cmocka_unit_test(an_arc_over_its_limits),
		cmocka_unit_test(an_arc_that_prunes_in_vain),
		cmocka_unit_test(an_arc_at_its_floor),
		cmocka_unit_test(a_machine_that_swaps_beside_a_large_arc),
		cmocka_unit_test(a_dirty_limit_that_takes_long_to_write),
		cmocka_unit_test(a_cgroup_that_writes_is_throttled_and_not_killed),
		cmocka_unit_test(caches_that_are_thrown_away),
		cmocka_unit_test(images_that_are_cached_twice),
		cmocka_unit_test(what_is_no_caching_problem),
		cmocka_unit_test(old_kernels_are_understood),
		cmocka_unit_test(pages_are_as_large_as_they_are),
		cmocka_unit_test(nothing_is_less_than_nothing),
		cmocka_unit_test(one_dump_is_said_to_be_one),
		cmocka_unit_test(cgroups_are_kept_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
