#include "study/trial.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "source/player.h"

bool trial_machine(const struct scenario *scenario, struct model_options *model,
		   struct device_profile **device, struct error *error)
{
	const struct scenario_machine *machine = &scenario->machine;

	*device = NULL;
	*model = (struct model_options){
		.memory_bytes = machine->memory_bytes,
		.is_cgroup = machine->is_cgroup,
		.pinned_bytes = machine->pinned_bytes,
		.readahead_bytes = machine->readahead_bytes,
		.seed = scenario->seed,
		.pace = machine->pace,
		.device_bytes = machine->device_bytes,
		.processors = (uint32_t)machine->processors,
		.record_bytes = machine->record_bytes,
		.metaslabs = (uint32_t)machine->metaslabs,
		.arc_max_bytes = machine->arc_max_bytes,
		.arc_meta_percent = (uint32_t)machine->arc_meta_percent,
		.no_barriers = !machine->barriers,
	};
	if (!filesystem_choose(&model->filesystem, machine->filesystem, error))
		return scenario_error(scenario, yaml_get(machine->node, "filesystem"), error);
	if (machine->policy && !*machine->policy) {
		error_input(error, "policy is empty");
		return scenario_error(scenario, yaml_get(machine->node, "policy"), error);
	}
	if (!policy_options_parse(&model->policy, machine->policy ? machine->policy : "", error))
		return scenario_error(scenario, yaml_get(machine->node, "policy"), error);
	if (machine->device) {
		*device = device_profile_load(machine->device, error);
		if (!*device)
			return scenario_error(scenario, machine->device_node, error);
		model->device = *device;
	}
	return true;
}

bool trial_open(struct trial *trial, const char *name, const char *const *sets, size_t set_count,
		struct error *error)
{
	*trial = (struct trial){0};
	if (!scenario_load(&trial->scenario, name, sets, set_count, error))
		return false;
	if (trial_machine(&trial->scenario, &trial->model, &trial->device, error))
		return true;
	scenario_deinit(&trial->scenario);
	return false;
}

void trial_close(struct trial *trial)
{
	result_deinit(&trial->result);
	device_profile_free(trial->device);
	scenario_deinit(&trial->scenario);
}

bool trial_play(const struct scenario *scenario, const struct model_options *model,
		struct result *result, uint64_t *elapsed_ns, struct error *error)
{
	struct op_source *source = scenario_source_create(scenario, model->seed, error);
	bool done;

	if (!source)
		return false;
	done = model_run(model, source, result, error);
	*elapsed_ns = done ? scenario_source_elapsed_ns(source) : 0;
	op_source_destroy(source);
	return done;
}

struct work {
	struct trial *trials;
	size_t count;
	struct error *errors; /* by trial */
	bool *done;
	atomic_size_t next;
};

static void *work_on(void *argument)
{
	struct work *work = argument;
	size_t index;

	while ((index = atomic_fetch_add(&work->next, 1)) < work->count) {
		struct trial *trial = &work->trials[index];

		/* All take about as long: the bar shows the first. */
		if (index > 0)
			trial->model.progress = NULL;
		work->done[index] = trial_play(&trial->scenario, &trial->model, &trial->result,
					       &trial->elapsed_ns, &work->errors[index]);
	}
	return NULL;
}

bool trials_run(struct trial *trials, size_t count, size_t workers, struct error *error)
{
	struct work work = {
		.trials = trials,
		.count = count,
		.errors = memory_alloc(count, sizeof(*work.errors)),
		.done = memory_alloc(count, sizeof(*work.done)),
	};
	pthread_t *threads = memory_alloc(workers + 1, sizeof(*threads));
	size_t thread_count = 0, failed = 0;

	while (thread_count + 1 < count && thread_count + 1 < workers &&
	       pthread_create(&threads[thread_count], NULL, work_on, &work) == 0)
		thread_count++;
	work_on(&work);
	while (thread_count-- > 0)
		pthread_join(threads[thread_count], NULL);
	while (failed < count && work.done[failed])
		failed++;
	if (failed < count)
		*error = work.errors[failed];
	memory_free(threads);
	memory_free(work.errors);
	memory_free(work.done);
	return failed == count;
}
