#include "study/validate.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cache/policy_options.h"

/* "6.18.44" as a number that can be compared; false: not such a thing. */
static bool version_parse(const char *text, unsigned int *version)
{
	unsigned int major, minor;

	if (sscanf(text, "%u.%u", &major, &minor) != 2)
		return false;
	*version = major * 1000 + minor;
	return true;
}

bool validate_policy(struct policy_options *policy, const char *release, bool has_mglru,
		     enum kernel_statistics statistics, struct error *error)
{
	unsigned int wanted, version, best = 0;
	char text[128] = "";

	if (!version_parse(release, &wanted))
		return error_input(error, "\"%.60s\" is no release of a kernel", release);
	for (size_t i = 0; policy_at(i); i++) {
		const char *name = policy_name(policy_at(i)), *dash;

		if (strncmp(name, "linux-", 6) != 0 || !version_parse(name + 6, &version) ||
		    version > wanted || version <= best)
			continue;
		dash = strchr(name + 6, '-');
		if (has_mglru ? !dash || strcmp(dash, "-mglru") != 0 : dash != NULL)
			continue;
		best = version;
		/* Before 6.12 nothing depends on who reads the sums (linux-caching.md 2.8). */
		snprintf(text, sizeof(text), "%.60s%s", name,
			 version < 6012                          ? ""
			 : statistics == KERNEL_STATISTICS_FRESH ? ",statistics=fresh"
								 : ",statistics=lazy");
	}
	if (!best)
		return error_input(error, "there is no policy for a kernel as old as %.60s",
				   release);
	return policy_options_parse(policy, text, error);
}

/* What a side that failed is still known by. */
static void describe(struct result *result, const struct validate_options *options,
		     const char *machine, const char *name)
{
	struct utsname host;
	char policy[1024];

	*result = (struct result){
		.input = text_copy(name),
		.machine = text_copy(machine),
		.policy = text_copy(
			policy_options_format(policy, sizeof(policy), &options->model.policy)),
		.filesystem = text_copy(options->kernel.filesystem),
		.memory_bytes = options->model.memory_bytes,
		.is_cgroup = true,
	};
	if (uname(&host) == 0)
		result->kernel = text_copy(host.release);
	result->statistics =
		text_copy(options->kernel.statistics == KERNEL_STATISTICS_FRESH ? "fresh" : "lazy");
}

static bool is_interrupted(const struct validate_options *options)
{
	return options->kernel.interrupted && *options->kernel.interrupted;
}

bool validate_run(const struct validate_options *options, const struct kernel_source *source,
		  struct validated *validated, struct error *error)
{
	struct op_source *ops = source->open(source->context, error);
	char name[256];
	bool done;

	*validated = (struct validated){0};
	if (!ops)
		return false;
	snprintf(name, sizeof(name), "%s", ops->name);
	done = model_run(&options->model, ops, &validated->predicted, error);
	source->close(source->context, ops);
	if (!done) {
		if (error->kind == ERROR_INPUT)
			return false;
		strcpy(validated->predicted_failure, error->message);
		describe(&validated->predicted, options, "model", name);
	}
	done = options->guest ? guest_machine_run(options->guest, &options->kernel,
						  &validated->measured, error)
			      : kernel_run(&options->kernel, source, &validated->measured, error);
	if (!done) {
		/* Only what the workload met in the end is an outcome. */
		if (error->kind == ERROR_INPUT || is_interrupted(options) ||
		    !strstr(error->message, "out of memory")) {
			validated_deinit(validated);
			return false;
		}
		strcpy(validated->measured_failure, error->message);
		describe(&validated->measured, options, "kernel", name);
	}
	if (validated->measured.has_mglru && !policy_has_generations(options->model.policy.policy))
		result_note(&validated->measured,
			    "this kernel keeps pages in generations (MGLRU), and the model's "
			    "policy has "
			    "two lists: --policy linux-...-mglru, or --guest VMLINUZ,mglru=on");
	if (!validated->predicted_failure[0] && !validated->measured_failure[0])
		validation_make(&validated->validation, &validated->predicted, &validated->measured,
				options->tolerance);
	return true;
}

void validated_deinit(struct validated *validated)
{
	validation_deinit(&validated->validation);
	result_deinit(&validated->predicted);
	result_deinit(&validated->measured);
}
