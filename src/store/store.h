/*
 * store: runs kept, to be shown, compared, explained and drawn later
 *
 * One SQLite file. What a command ran is kept in one transaction: the command (what was asked, when,
 * by which version), and each of its runs with its whole result as `--json` prints it. Runs of one
 * command are a group; they come in its order. Nothing is ever changed once it is kept, only deleted.
 *
 * The file is in WAL mode: any number of processes may keep and read at once, and one that is killed
 * leaves either all of its runs or none. A schema version is in it (PRAGMA user_version): what an
 * older refault wrote is brought up to date when it is opened to write, what a newer one wrote is
 * refused.
 *
 * A run costs its result in zstd: some 3 to 30 KiB, 100 KiB with a long series.
 *
 * How to have a result again, as the command had it:
 *
 *     struct store *store;
 *     struct stored stored;
 *     uint64_t number;
 *
 *     if (store_open(&store, path, STORE_READ, &error) && store_find(store, "@last", &number, &error) &&
 *         store_load(store, number, &stored, &error))
 *             use(&stored.result, stored.json);
 *     stored_deinit(&stored);
 *     store_close(store);
 */
#ifndef REFAULT_STORE_STORE_H
#define REFAULT_STORE_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "measure/result.h"

struct store;

/* $XDG_DATA_HOME/refault/runs.db, or ~/.local/share/refault/runs.db. False (ERROR_FAILED): neither
 * variable names a place (a relative $XDG_DATA_HOME counts as none). */
bool store_default_path(char *path, size_t bytes, struct error *error);

enum store_access {
	STORE_READ,  /* a file that is not there is a store without runs */
	STORE_WRITE, /* made if it is not there, with the folders to the default one; brought up to
			date */
};

/*
 * `path` NULL: the default one. Close with store_close(), which takes NULL. False: it cannot be opened
 * (ERROR_FAILED), or is no store, or a newer refault's (ERROR_INPUT); *store is NULL then.
 */
bool store_open(struct store **store, const char *path, enum store_access access,
		struct error *error);
void store_close(struct store *store);
const char *store_path(const struct store *store);

/* ---- keeping ---- */

/* All texts are the caller's; NULL: not known, or nothing to say. */
struct kept_run {
	const char *label;  /* what is set differently in it, among the runs of its command */
	const char *input;  /* the trace's or scenario's name */
	const char *digest; /* of what it says (source/digest.h) */
	/*
	 * What else decides what comes out, but for the machine and the seed, which the result tells:
	 * equal for runs that are the same experiment. Not NULL.
	 */
	const char *experiment;
	json_t *result;  /* as report_json() makes it; borrowed */
	json_t *drawing; /* what drawing it as text needs besides; borrowed, NULL: nothing */
};

struct kept_command {
	const char *name;         /* "run" */
	const char *const *words; /* what was asked, from the name on */
	size_t word_count;
	const char *version; /* refault's */
	uint64_t time_ns;    /* since 1970 */
	/* What it printed, of several runs; NULL: that follows from the run. */
	const char *text;
	json_t *json; /* borrowed; without "runs" if those are the results themselves */
	const struct kept_run *runs;
	size_t run_count;
};

enum { STORE_ID_BYTES = 17 }; /* 16 hexadecimal digits and a NUL */

/*
 * Keep it, and write each run's id into ids[0 .. run_count - 1]. When this returns true, it is on the
 * disk. Waits for others that write, at most ten seconds. False (ERROR_FAILED): nothing of it is kept.
 */
bool store_keep(struct store *store, const struct kept_command *command,
		char (*ids)[STORE_ID_BYTES], struct error *error);

/* ---- finding ---- */

/* What is known of a run without its result; texts are owned, NULL: not known. */
struct stored_run {
	uint64_t number; /* the order in which runs were kept; never used again */
	char id[STORE_ID_BYTES];
	uint64_t command_number; /* equal for the runs of one command */
	uint64_t time_ns;        /* since 1970 */
	char *command, *version;
	char *words; /* what was asked, as a JSON array of texts */
	char *label, *input, *digest, *experiment;
	char *machine, *kernel, *policy, *filesystem;
	char *switches;        /* the policy's, as a JSON object */
	uint64_t memory_bytes; /* 0: not known */
	bool is_cgroup;
	uint64_t seed, op_count;
	bool read_known, reread_known, elapsed_known;
	uint64_t read_bytes, reread_bytes, elapsed_ns;
};

struct stored_runs {
	ARRAY(struct stored_run) list;
};

/* All of them, the oldest first. Free with stored_runs_deinit(), after a failure too. */
bool store_list(struct store *store, struct stored_runs *runs, struct error *error);
void stored_runs_deinit(struct stored_runs *runs);
void stored_run_deinit(struct stored_run *run);

/*
 * The run that `name` names: the beginning of an id that no other run's has, @last, or @-2 for the
 * last but one (@-1 is @last). False: there is none, or there are several (ERROR_INPUT).
 */
bool store_find(struct store *store, const char *name, uint64_t *number, struct error *error);

/* The same of so many names, all at one moment: nobody's new run comes between @last and @-2. */
bool store_find_all(struct store *store, const char *const *names, size_t count, uint64_t *numbers,
		    struct error *error);

/* How many digits tell all ids apart; at least 7. */
bool store_id_digits(struct store *store, size_t *digits, struct error *error);

/* ---- loading ---- */

/* A run with its result, all owned. */
struct stored {
	struct stored_run run;
	json_t *json;         /* what `--json` printed of it (architecture.md says what is in it) */
	struct result result; /* the same, read back (measure/result_json.h) */
	json_t *drawing;      /* what was kept for drawing it: an object, perhaps empty */
};

/* Free with stored_deinit(), after a failure too. False: it is gone, or damaged (ERROR_FAILED). */
bool store_load(struct store *store, uint64_t number, struct stored *stored, struct error *error);
void stored_deinit(struct stored *stored);

/* What a command printed of several runs, owned; text NULL: it ran one, whose result tells all. */
struct stored_answer {
	char *text;
	json_t *json;      /* if it has no "runs", those are the results of `numbers` */
	uint64_t *numbers; /* its runs that are still there, in its order */
	size_t count;
	size_t kept_count; /* how many there were */
};

bool store_load_answer(struct store *store, uint64_t command_number, struct stored_answer *answer,
		       struct error *error);
void stored_answer_deinit(struct stored_answer *answer);

/* ---- deleting ---- */

/* All of these or, if it fails (ERROR_FAILED), none. What is gone already is no failure. */
bool store_delete(struct store *store, const uint64_t *numbers, size_t count, struct error *error);

#endif
