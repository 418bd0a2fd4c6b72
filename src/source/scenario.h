/*
 * scenario: an experiment written down: a machine, files, and jobs that use them
 *
 * Read from YAML (schema.def says what may stand where, docs/scenarios.md explains it), checked
 * whole before anything runs: every mistake is named with its line, column, the key found and what
 * was expected. What only other rooms understand (policies, file systems, counters) is kept as text
 * with its node, so that they can put their complaints at the right place too (scenario_error()). A
 * scenario is a plain tree in an arena; scenario_source_create() (source/player.h) makes the stream
 * of ops out of it.
 */
#ifndef REFAULT_SOURCE_SCENARIO_H
#define REFAULT_SOURCE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "cache/cache.h"
#include "op/op.h"
#include "source/pace.h"
#include "source/schema.h"
#include "source/yaml.h"

struct generator;
struct workload;

/* Bounds: far beyond use, and such that no sum of products of them overflows unseen. */
#define SCENARIO_BYTES_MAX (UINT64_C(1) << 60)
/* What a model can be made of: cache/cache.h, cache_create(). */
#define SCENARIO_MEMORY_MIN CACHE_MEMORY_BYTES_MIN
#define SCENARIO_MEMORY_MAX CACHE_MEMORY_BYTES_MAX
#define SCENARIO_NS_MAX     (UINT64_C(1000) * 24 * 3600 * 1000000000) /* 1000 days */
#define SCENARIO_COUNT_MAX  (UINT64_C(1) << 40)

enum {
	SCENARIO_SET_FILES_MAX = 100000000,
	SCENARIO_FILES_MAX = 200000000, /* of all sets together */
	SCENARIO_THREADS_MAX = 1024,
	SCENARIO_CLIENTS_MAX = 4096, /* threads of all jobs */
	SCENARIO_STEPS_MAX = 1024,   /* of one job, inner ones too */
	SCENARIO_DEPTH_MAX = 8,      /* of steps within steps */
	SCENARIO_VARIANTS_MAX = 8,
	SCENARIO_CELLS_MAX = 64,
};

struct scenario_machine {
	const struct yaml_node *node;
	uint64_t memory_bytes; /* of the machine or, if is_cgroup, the limit */
	uint64_t cgroup_bytes;
	bool is_cgroup;
	uint64_t pinned_bytes;
	const char *policy;     /* NULL: the default one */
	const char *filesystem; /* a name */
	uint64_t readahead_bytes;
	struct pace pace;
	const struct yaml_node *device_node;
	const char *device; /* a name or a file; NULL: the pace says it all */
	uint64_t device_bytes, processors, record_bytes, metaslabs, arc_max_bytes, arc_meta_percent;
	bool barriers;
};

enum scenario_cached { SCENARIO_CACHED_NO, SCENARIO_CACHED_READ, SCENARIO_CACHED_WRITTEN };

/* A file, or a set of files of one size. */
struct scenario_file {
	const char *name;
	const struct yaml_node *node;
	const char *path;      /* single */
	const char *directory; /* sets */
	bool is_set;
	uint64_t count; /* 1 for a single file */
	uint64_t per_directory, name_length;
	uint64_t size_bytes;
	bool sparse, exists;
	uint32_t cached; /* enum scenario_cached */
	uint16_t stream; /* whose job uses it first */
};

enum step_kind {
	STEP_ITEMS, /* ops on requests or files, in the generator's order */
	STEP_GROUP, /* steps within */
	STEP_MARK,
	STEP_SYNC,
	STEP_DROP,
	STEP_WAIT,
};

enum { STEP_FILE_THIS = UINT32_MAX, STEP_FILE_NONE = UINT32_MAX - 1 };

struct scenario_step {
	const struct yaml_node *node;
	enum step_kind kind;
	enum op_kind op;
	const char *mark;
	uint64_t wait_ns;
	bool sync;

	uint32_t
		/*
		 * index; STEP_FILE_THIS: of the group around that has `each` (`set` says which set
		 * that is)
		 */
		file;
	uint32_t set;
	const char *pattern;
	const struct generator *generator;
	void *generator_options;
	uint32_t walk; /* number of its walk within the job */

	uint64_t request_bytes, offset_bytes, range_bytes; /* ops on ranges */
	bool range_given;
	bool by_request;     /* an op for each request of the range; else one for all of it */
	uint64_t file_items; /* items in one file: its requests, or 1 */
	uint64_t item_count; /* in all */
	uint64_t pass_items; /* about how many one thread takes in one execution */
	uint64_t count;      /* 0: not given */
	uint64_t fsync_every, fdatasync_every;
	bool split, close_after;
	bool direct, dontcache; /* how it reads or writes */
	bool list;              /* a directory before its first file */
	uint64_t drop_caches;   /* STEP_DROP: 1, 2 or 3 */

	uint64_t loop; /* 0: forever */
	const struct yaml_node *steps_node;
	struct scenario_step *steps; /* STEP_GROUP */
	size_t step_count;
	uint32_t each; /* file index of the set, or STEP_FILE_NONE */
};

struct scenario_job {
	const char *name;
	const struct yaml_node *node;
	uint16_t stream;
	uint64_t threads;
	uint64_t start_ns, duration_ns, think_ns;
	struct schema_rate rate;
	const struct yaml_node *after_node, *until_node, *steps_node;
	uint32_t *after, *until; /* indices of jobs */
	size_t after_count, until_count;
	uint64_t loop;             /* 0: forever */
	struct scenario_step root; /* the group of its steps */
	uint32_t walk_count;
	uint64_t
		/* about how many ops it is; 0: not known (it loops until something ends it) */
		op_count;

	const char *workload_name;
	const struct workload *workload; /* NULL: it does its steps */
	const void *workload_options;
	/* a job is one stream, that of its name; a workload has several: "db.heap", ... */
	const char *const *streams;
	size_t stream_count;
	uint16_t first_stream; /* their numbers follow; of a job without workload it is `stream` */
};

/* What is different in one run: a column of a comparison, or a line of its table. */
struct scenario_setting {
	const struct yaml_node *node;
	const char *label, *published;
	const struct yaml_node *set_node;
	const char **sets; /* "KEY=VALUE", as for --set */
	size_t set_count;
};

/* What must come out, within so much. */
struct scenario_claim {
	const struct yaml_node *node;
	const char *label, *value, *setting, *against, *cell, *published; /* NULL: not given */
	uint64_t low_ppm, high_ppm;
	size_t setting_index, against_index, cell_index; /* SIZE_MAX: none */
};

/* A row of the comparison. */
struct scenario_figure {
	const struct yaml_node *node;
	const char *label, *counter, *note;
	const struct yaml_node *jobs_node, *published_node;
	uint32_t *jobs; /* indices */
	size_t job_count;
	uint32_t counted; /* 0: at the end, 1: at the last whole pass */
	uint64_t per_bytes;
	double published[SCENARIO_VARIANTS_MAX];
	bool published_known[SCENARIO_VARIANTS_MAX];
};

struct scenario {
	struct arena arena;
	struct yaml yaml;
	const char *name, *summary, *source, *see; /* NULL: not given, but name */
	uint64_t seed;
	bool sync;
	const struct yaml_node *machine_node, *files_node, *jobs_node, *compare_node, *cells_node,
		*claims_node, *figures_node;

	struct scenario_machine machine;
	struct scenario_file *files;
	size_t file_count;
	struct scenario_job *jobs;
	size_t job_count;

	/* What is run side by side; variant_count 0: nothing. */
	const char *compare_key; /* "policy", a switch, or "settings" */
	const struct yaml_node *variant_nodes[SCENARIO_VARIANTS_MAX];
	const char *variants[SCENARIO_VARIANTS_MAX];
	size_t variant_count;
	struct scenario_setting *settings; /* by variant, if compare_key is "settings"; else NULL */
	struct scenario_setting *cells;
	size_t cell_count;
	struct scenario_claim *claims;
	size_t claim_count;
	struct scenario_figure *figures;
	size_t figure_count;

	uint64_t path_count; /* of all files */
};

/*
 * Read and check a scenario. `name` is for messages; `sets` are KEY=VALUE (yaml_set()). False:
 * ERROR_INPUT; nothing is left to free.
 */
bool scenario_parse(struct scenario *scenario, const char *name, const char *text, size_t bytes,
		    const char *const *sets, size_t set_count, struct error *error);

/*
 * The same from a file: `name` is a path (it has a slash or ends in .yaml or .yml), or the name of
 * one that ships (source/shipped.h).
 */
bool scenario_load(struct scenario *scenario, const char *name, const char *const *sets,
		   size_t set_count, struct error *error);

void scenario_deinit(struct scenario *scenario);

/*
 * Put what another room has to say about a value (its message, in `error`) at the value's place.
 * Returns false.
 */
bool scenario_error(const struct scenario *scenario, const struct yaml_node *node,
		    struct error *error);

/*
 * The path of file `index` of a set (or of a single file, index 0). Returns its length, below
 * `bytes`.
 */
size_t scenario_path(const struct scenario_file *file, uint64_t index, char *text, size_t bytes);

#endif
