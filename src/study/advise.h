/*
 * advise: what would help: each remedy tried on the same operations, and ranked
 *
 * The run as it is comes first, and tells what there is to be tried (study/remedy.h). Then each try is
 * run once; where a remedy is for one target at a time, those that it does not hurt are tried together,
 * too. What has an effect is then run with all seeds, and, on kernels that sum their statistics lazily,
 * with fresh and with lazy sums. Memory is searched: the least more with which 90 % of the re-reads are
 * gone. What comes out does not depend on how many threads ran it.
 */
#ifndef REFAULT_STUDY_ADVISE_H
#define REFAULT_STUDY_ADVISE_H

#include "base/error.h"
#include "machine/kernel/kernel.h"
#include "machine/model/model.h"
#include "measure/advice.h"
#include "source/scenario.h"

struct advise_options {
	/*
	 * Where the operations come from: a trace, opened anew for each run, by several threads at once.
	 * *streams is who is a stream where the source does not say, NULL where it does; freed by the
	 * caller of open(). NULL: a scenario.
	 */
	bool (*open)(void *context, struct op_source **source, struct stream_map **streams,
		     struct error *error);
	/* The source has been read to its end: it may be asked about it. May be NULL. */
	void (*close)(void *context, struct op_source *source);
	void *context;
	const struct scenario *scenario; /* as it is; NULL: a trace */
	const char *scenario_name;       /* as scenario_load() takes it, with `sets` */
	const char *const *sets;
	size_t set_count;
	const char *input; /* for people */

	struct model_options model; /* the machine as it is: no streams, watch or progress */
	/* the trace's streams are told apart by classes of paths (study/remedy.h) */
	bool splits_classes;
	const char *const *only; /* ids of remedies; count 0: all */
	size_t only_count;
	size_t seed_count, thread_count; /* at least 1 */

	/*
	 * Have the kernel do it, too: the tries at these places of the answer, from 1; none: all that
	 * it can do. NULL: not asked.
	 */
	const struct kernel_options *kernel;
	const size_t *confirm;
	size_t confirm_count;

	/* Called after each run, by one thread at a time; NULL: not wanted. */
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t ops,
			 uint64_t reread_bytes);
	void *progress_context;
};

/*
 * model.interrupted set meanwhile: what is known until then is in the advice. False: the input is wrong
 * as it is, or the kernel could not be asked. Free with advice_deinit().
 */
bool advise_run(const struct advise_options *options, struct advice *advice, struct error *error);

#endif
