/*
 * If these fail, somebody with a typo in a scenario is left alone with it: each mistake must be named with its line and column, and
 * what was expected; nothing wrong may run.
 */
#include "source_test.h"

#define RIGHT                                                                                      \
	"machine: {memory: 16MiB}\n"                                                               \
	"files:\n"                                                                                 \
	"  data: {size: 1MiB}\n"                                                                   \
	"  many: {count: 100}\n"                                                                   \
	"jobs:\n"

struct mistake {
	const char *text;
	uint64_t line, column;
	const char *says; /* part of the message */
};

static const struct mistake mistakes[] = {
	/* not YAML, or not of the kind we take */
	{"", 1, 1, "empty"},
	{"# nothing but a comment\n", 1, 1, "empty"},
	{"a: \"open\n", 1, 5, "not YAML"},
	{"a: 1\n b: 2\n", 1, 4, "not YAML"},
	{"a: 1\n\tb: 2\n", 1, 4, "not YAML"},
	{"a: b: c\n", 1, 5, "not YAML"},
	{"x: \x01\n", 1, 4, "byte 0x01 is not text"},
	{"x: \xff\n", 1, 4, "byte 0xff is not UTF-8"},
	{"just words\n", 1, 1, "must be a mapping"},
	{"- a\n- b\n", 1, 1, "must be a mapping"},
	{"a: 1\na: 2\n", 2, 1, "\"a\" is given twice, first on line 1"},
	{"a: &x 1\n", 1, 4, "anchors"},
	{"a: *x\n", 1, 4, "aliases"},
	{"a: !int 1\n", 1, 4, "tags"},
	{"a: 1\n---\nb: 1\n", 2, 1, "a second document"},
	{"%YAML 1.1\n---\na: 1\n", 1, 1, "directives"},
	{"[a, b]: 1\n", 1, 1, "a key must be a word"},
	{"a: [[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]\n", 1, 27, "nested more than"},

	/* keys */
	{RIGHT "  r: {read: data}\nmachin: {}\n", 7, 1, "no key \"machin\" (nearest: \"machine\")"},
	{RIGHT "  r: {raed: data}\n", 6, 7, "no key \"raed\" (nearest: \"read\")"},
	{RIGHT "  r: {read: data, wibble: 3}\n", 6, 19, "no key \"wibble\" (known: "},
	{RIGHT "  r:\n    steps:\n      - read: data\n        lop: 2\n", 9, 9,
	 "no key \"lop\" (nearest: \"loop\")"},
	{"files: {}\njobs: {a: {sync: yes}}\n", 1, 1, "needs the key \"machine\""},
	{"machine: {memory: 1GiB}\nfiles: {}\n", 1, 1, "needs the key \"jobs\""},
	{RIGHT "  r: {threads: 2}\n", 6, 3, "does nothing"},
	{RIGHT "  r: {read: data, write: data}\n", 6, 19, "does two things"},
	{RIGHT "  r: {stat: data, request: 4KiB}\n", 6, 19,
	 "\"request\" means nothing to \"stat\""},
	{RIGHT "  r: {stat: data, direct: yes}\n", 6, 19, "\"direct\" means nothing to \"stat\""},
	{RIGHT "  r: {read: data, direct: yes, dontcache: yes}\n", 6, 32, "it is dontcache"},
	{RIGHT "  r: {read: data, request: 1000, direct: yes}\n", 6, 34, "multiples of 512"},
	{RIGHT "  r: {read: data, list: yes}\n", 6, 19, "files of a set"},
	{RIGHT "  r: {drop_caches: 4}\n", 6, 20, "out of range (1 .. 3)"},
	{RIGHT "  r: {drop_caches: 1, request: 4KiB}\n", 6, 23, "\"request\" means nothing"},
	{RIGHT "  r: {read: data, theta: 0.9}\n", 6, 19, "\"theta\" belongs to pattern zipf"},
	{RIGHT "  r: {steps: [{read: data}], request: 4KiB}\n", 6, 30, "no key \"request\""},

	/* values */
	{"machine: {memory: 16MiX}\nfiles: {}\njobs: {}\n", 1, 19, "unknown unit \"MiX\""},
	{"machine: {memory: -1}\nfiles: {}\njobs: {}\n", 1, 19, "negative"},
	{"machine: {memory: 99999999999999999999}\nfiles: {}\njobs: {}\n", 1, 19, "too large"},
	{"machine: {memory: 4KiB}\nfiles: {}\njobs: {}\n", 1, 19, "out of range (4 MiB .. 4 TiB)"},
	{"machine: {memory: [1]}\nfiles: {}\njobs: {}\n", 1, 19, "single value, not a list"},
	{"machine: {memory: }\nfiles: {}\njobs: {}\n", 1, 11, "single value, not nothing"},
	{"machine: 16GiB\nfiles: {}\njobs: {}\n", 1, 10, "machine must be a mapping"},
	{"machine: {}\nfiles: {}\njobs: {}\n", 1, 1, "needs memory"},
	{"machine: {memory: 1GiB, cgroup_limit: 1GiB}\nfiles: {}\njobs: {}\n", 1, 25,
	 "only one can be its limit"},
	{"machine: {memory: 1GiB, pinned: 1GiB}\nfiles: {}\njobs: {}\n", 1, 33,
	 "less than the memory, 1 GiB"},
	{"machine: {memory: 1GiB, device: {read_bandwidth: fast}}\nfiles: {}\njobs: {}\n", 1, 50,
	 "read_bandwidth \"fast\""},
	{RIGHT "  r: {read: data, request: 0}\n", 6, 28, "out of range"},
	{RIGHT "  r: {read: data, start: soon}\n", 6, 26, "is not a time"},
	{RIGHT "  r: {read: data, rate: 50}\n", 6, 25, "is not a rate (like 500/s or 20MiB/s)"},
	{RIGHT "  r: {read: data, rate: 0/s}\n", 6, 25, "more than 0"},
	{RIGHT "  r: {read: data, loop: always}\n", 6, 25, "neither a number nor \"forever\""},
	{RIGHT "  r: {read: data, loop: 0}\n", 6, 25, "out of range"},
	{RIGHT "  r: {read: data, threads: 5000}\n", 6, 28, "out of range (1 .. 1024)"},
	{RIGHT "  r: {read: data, split: perhaps}\n", 6, 26, "neither yes nor no"},
	{RIGHT "  r: {read: data, pattern: zipff}\n", 6, 28,
	 "no pattern \"zipff\" (nearest: \"zipf\")"},
	{RIGHT "  r: {read: data, pattern: zipf, theta: high}\n", 6, 41, "not a decimal number"},
	{RIGHT "  r: {read: data, pattern: zipf, theta: 4.5}\n", 6, 41, "out of range"},
	{RIGHT "  r: {steps: []}\n", 6, 7, "steps is empty"},
	{RIGHT "  r:\n    steps:\n", 7, 5, "steps is empty"},
	{RIGHT "  r: {steps: [3]}\n", 6, 15, "must be a mapping"},
	{RIGHT "  r: {steps: [{mark: }]}\n", 6, 16, "a mark needs a label"},
	{RIGHT "  r: {steps: [{wait: 0}]}\n", 6, 22, "out of range"},

	/* files */
	{"machine: {memory: 1GiB}\nfiles: {a: {size: 1, cached: yes}}\njobs: {}\n", 2, 30,
	 "none of no|read|written"},
	{"machine: {memory: 1GiB}\nfiles: {a: {exists: no, cached: read}}\njobs: {}\n", 2, 25,
	 "cannot be cached"},
	{"machine: {memory: 1GiB}\nfiles: {a: {count: 0}}\njobs: {}\n", 2, 20, "out of range"},
	{"machine: {memory: 1GiB}\nfiles: {a: {count: 100, name_length: 1}}\njobs: {}\n", 2, 38,
	 "at least 2 for 100 different names"},
	{"machine: {memory: 1GiB}\nfiles: {a: {count: 99999999, size: 1EB}}\njobs: {}\n", 2, 36,
	 "unit"},
	{"machine: {memory: 1GiB}\nfiles: {a: {count: 99999999, size: 1PiB}}\njobs: {}\n", 2, 9,
	 "more than an EiB"},
	{"machine: {memory: 1GiB}\nfiles: {a: {directory: d}}\njobs: {}\n", 2, 13, "has no count"},
	{"machine: {memory: 1GiB}\nfiles: {a: {count: 3, path: d}}\njobs: {}\n", 2, 23,
	 "not a path"},
	{"machine: {memory: 1GiB}\nfiles: {a/: {}}\njobs: {}\n", 2, 9, "an empty name in it"},
	{"machine: {memory: 1GiB}\nfiles: {a: {}, b: {path: a/b}}\njobs: {}\n", 2, 16,
	 "\"a\" is a file already"},
	{"machine: {memory: 1GiB}\nfiles: {a: {}, b: {path: a}}\njobs: {}\n", 2, 16, "in the way"},

	/* what is referred to */
	{RIGHT "  r: {read: date}\n", 6, 13, "no file \"date\" (nearest: \"data\")"},
	{RIGHT "  r: {read: [data]}\n", 6, 13, "must name a file, not a list"},
	{RIGHT "  r: {read: this}\n", 6, 13, "only in the steps of an \"each\""},
	{RIGHT "  r: {each: data, steps: [{stat: this}]}\n", 6, 13, "needs a set of files"},
	{RIGHT "  r: {read: data, until: reade}\n", 6, 26, "no job \"reade\""},
	{RIGHT "  reader: {read: data}\n  b: {read: data, after: raeder}\n", 7, 26,
	 "no job \"raeder\" (nearest: \"reader\")"},
	{RIGHT "  r: {read: data, after: [r, [r]]}\n", 6, 30, "must name jobs"},
	{RIGHT "  r: {read: many}\n", 6, 7, "nothing to read"},
	{RIGHT "  r: {read: data, offset: 512KiB, bytes: 1MiB}\n", 6, 3,
	 "never grows beyond 1 MiB"},
	{"machine: {memory: 1GiB}\nfiles: {a: {exists: no, size: 1}}\njobs: {r: {read: a}}\n", 3, 8,
	 "does not exist at the start, and no job creates it"},

	/* what never ends */
	{RIGHT "  r: {read: data, loop: forever}\n", 6, 19, "\"r\" never ends"},
	{RIGHT "  a: {read: data}\n  b: {read: data, until: a}\n", 7, 19, "does its steps once"},
	{"machine: {cgroup_limit: 8TiB}\nfiles: {}\njobs: {}\n", 1, 25,
	 "out of range (4 MiB .. 4 TiB)"},
	{RIGHT "  a: {read: data, loop: forever, until: b}\n  b: {read: data, after: a}\n", 6, 3,
	 "in a circle: a -> b -> a"},
	{RIGHT "  a: {read: data, after: a}\n", 6, 3, "in a circle: a -> a"},
	{RIGHT "  a: {read: data}\n  b: {read: data, loop: forever, until: [a, c]}\n"
	       "  c: {read: data, loop: forever}\n",
	 8, 19, "\"c\" never ends"},
	{RIGHT "  r: {loop: 9, steps: [{wait: 1s}]}\n", 6, 3, "a loop that only waits"},
	{RIGHT "  r: {duration: 1s, steps: [{read: data, loop: forever}, {mark: x}]}\n", 6, 58,
	 "never reached"},

	/* comparisons */
	{RIGHT "  r: {read: data}\ncompare: {a: [1], b: [2]}\n", 7, 1, "takes one key"},
	{RIGHT "  r: {read: data}\ncompare: {policy: lru}\n", 7, 19, "must be a list of 1 to 8"},
	{RIGHT "  r: {read: data}\ncompare: {policy: [lru, {}]}\n", 7, 25, "a list of values"},
	{RIGHT "  r: {read: data}\nfigures: [{label: x}]\n", 7, 11, "needs the key \"counter\""},
	{RIGHT "  r: {read: data}\ncompare: {policy: [lru, fifo]}\n"
	       "figures: [{label: x, counter: y, published: [1]}]\n",
	 8, 45, "one value for each of the 2"},
	{RIGHT "  r: {read: data}\nfigures: [{label: x, counter: y, counted: whole_passes}]\n", 7,
	 34, "needs jobs"},
};

static void each_mistake_is_named_with_its_place(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *mistake = &mistakes[i];
		struct scenario scenario;
		struct error error = {0};

		if (scenario_parse(&scenario, "test.yaml", mistake->text, strlen(mistake->text),
				   NULL, 0, &error))
			fail_msg("mistake %zu is taken for right:\n%s", i, mistake->text);
		if (error.kind != ERROR_INPUT || error.line != mistake->line ||
		    error.column != mistake->column || !strstr(error.message, mistake->says))
			wrong++, print_error("mistake %zu: expected %llu:%llu ... %s ...\n"
					     "  got %llu:%llu: %s\n%s",
					     i, (unsigned long long)mistake->line,
					     (unsigned long long)mistake->column, mistake->says,
					     (unsigned long long)error.line,
					     (unsigned long long)error.column, error.message,
					     mistake->text);
		assert_string_equal(error.file, "test.yaml");
	}
	assert_int_equal(wrong, 0);
}

static void the_wrong_line_is_shown_with_its_bytes_marked(void **state)
{
	const char *text = RIGHT "  r: {read: date}\n";
	struct scenario scenario;
	struct error error;

	(void)state;
	assert_false(scenario_parse(&scenario, "t", text, strlen(text), NULL, 0, &error));
	assert_string_equal(error.excerpt, "  r: {read: date}");
	assert_int_equal(error.excerpt_column, 13);
	assert_int_equal(error.excerpt_columns, 4);
}

static void defaults_are_filled_in(void **state)
{
	struct scenario scenario;

	(void)state;
	scenario_right(&scenario, RIGHT "  r: {read: data}\n");
	assert_string_equal(scenario.name, "test");
	assert_int_equal(scenario.seed, 1);
	assert_true(scenario.sync);
	assert_false(scenario.machine.is_cgroup);
	assert_null(scenario.machine.policy);
	assert_string_equal(scenario.machine.filesystem, "ext4");
	assert_int_equal(scenario.machine.readahead_bytes, 128 * 1024);
	assert_int_equal(scenario.machine.pace.read_bytes_per_s, 2000000000);
	assert_string_equal(scenario.files[0].path, "data");
	assert_true(scenario.files[0].exists);
	assert_string_equal(scenario.files[1].directory, "many");
	assert_int_equal(scenario.jobs[0].threads, 1);
	assert_int_equal(scenario.jobs[0].loop, 1);
	assert_int_equal(scenario.jobs[0].root.steps[0].request_bytes, 128 * 1024);
	assert_int_equal(scenario.jobs[0].root.steps[0].item_count, 8);
	scenario_deinit(&scenario);
}

static void set_changes_values_before_they_are_checked(void **state)
{
	static const char *const sets[] = {
		"machine.memory=32MiB", "files.data.size=2MiB",
		"files.new.v2.size=5",  "jobs.r.steps.0.read=new.v2",
		"jobs.r.loop=3",        "jobs.q={read: data, after: [r]}",
	};
	const char *text = "machine: {memory: 16MiB}\nfiles:\n  data: {size: 1MiB}\n"
			   "  new.v2: {}\njobs: {r: {steps: [{read: data}]}}\n";
	struct scenario scenario;
	struct error error;

	(void)state;
	assert_true(scenario_parse(&scenario, "t", text, strlen(text), sets, 6, &error));
	assert_int_equal(scenario.machine.memory_bytes, 32 << 20);
	assert_int_equal(scenario.files[0].size_bytes, 2 << 20);
	assert_int_equal(scenario.jobs[0].root.steps[0].file, 1);
	assert_int_equal(scenario.jobs[0].loop, 3);
	assert_int_equal(scenario.jobs[1].after_count, 1);
	scenario_deinit(&scenario);
}

static void mistakes_in_set_name_the_argument(void **state)
{
	static const struct {
		const char *set, *file, *says;
	} cases[] = {
		{"machine.memry=1GiB", "--set machine.memry=1GiB", "nearest: \"memory\""},
		{"machine.memory=much", "--set machine.memory=much", "is not a size"},
		{"seed.x=1", "--set seed.x=1", "single value"},
		{"machine.memory.x=1", "--set machine.memory.x=1", "memory is not a mapping"},
		{"jobs.r.steps.9.read=a", "--set jobs.r.steps.9.read=a", "no number from 0 to 0"},
		{"jobs..x=1", "--set jobs..x=1", "an empty key"},
		{"nonsense", "", "is not KEY=VALUE"},
		{"=1", "", "is not KEY=VALUE"},
		{"seed=[1", "--set seed=[1", "not YAML"},
	};
	const char *text = "machine: {memory: 16MiB}\nfiles: {data: {size: 1MiB}}\n"
			   "jobs: {r: {steps: [{read: data}]}}\n";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scenario scenario;
		struct error error;

		assert_false(scenario_parse(&scenario, "t", text, strlen(text), &cases[i].set, 1,
					    &error));
		assert_string_equal(error.file, cases[i].file);
		if (!strstr(error.message, cases[i].says))
			fail_msg("--set %s: %s", cases[i].set, error.message);
	}
}

static void an_empty_value_takes_an_optional_part_away(void **state)
{
	static const char *const sets[] = {"compare="};
	const char *text = RIGHT "  r: {read: data}\ncompare: {policy: [lru, fifo]}\n";
	struct scenario scenario;
	struct error error;

	(void)state;
	assert_true(scenario_parse(&scenario, "t", text, strlen(text), sets, 1, &error));
	assert_int_equal(scenario.variant_count, 0);
	scenario_deinit(&scenario);
}

static void two_made_up_names_may_not_meet(void **state)
{
	struct scenario scenario;
	struct error error;

	(void)state;
	scenario_right(&scenario,
		       "machine: {memory: 16MiB}\nfiles:\n  a: {directory: d, count: 10}\n"
		       "  b: {directory: d, count: 5}\njobs: {r: {stat: a}}\n");
	assert_null(scenario_source_create(&scenario, 1, &error));
	assert_int_equal(error.line, 4);
	assert_non_null(strstr(error.message, "\"d/0\" of \"b\" is already another file"));
	scenario_deinit(&scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_is_named_with_its_place),
		cmocka_unit_test(the_wrong_line_is_shown_with_its_bytes_marked),
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(set_changes_values_before_they_are_checked),
		cmocka_unit_test(mistakes_in_set_name_the_argument),
		cmocka_unit_test(an_empty_value_takes_an_optional_part_away),
		cmocka_unit_test(two_made_up_names_may_not_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
