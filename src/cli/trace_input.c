#include "cli/trace_input.h"

#include <stdio.h>

#include "report/trace_summary.h"

struct trace_options trace_input_options(const struct trace_input_arguments *arguments)
{
	return (struct trace_options){
		.format = arguments->format,
		.columns = arguments->columns,
		.lenient = arguments->lenient,
	};
}

const char *trace_input_given(const struct trace_input_arguments *arguments)
{
	return arguments->format    ? "--format"
	       : arguments->columns ? "--columns"
	       : arguments->lenient ? "--lenient"
				    : NULL;
}

struct op_source *trace_input_open(const char *path, const struct trace_options *options,
				   const char *so, struct error *error)
{
	struct op_source *source = trace_open(path, options, error);

	if (!source || trace_has_files(source))
		return source;
	error_at(error, source->name, 0, 0, "an %s trace is about objects, not about files: %s",
		 source->format, so);
	op_source_destroy(source);
	return NULL;
}

void trace_input_warn(const struct op_source *source)
{
	(void)trace_warnings_print(stderr, source, "refault: warning: ");
}
