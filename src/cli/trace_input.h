/*
 * trace_input: the options of every command that reads a trace, and opening it by them
 */
#ifndef REFAULT_CLI_TRACE_INPUT_H
#define REFAULT_CLI_TRACE_INPUT_H

#include "cli/command.h"
#include "op/trace.h"

struct trace_input_arguments {
	const char *format, *columns;
	bool lenient;
};

/* Their lines in a command's table; `field` is the struct above in the command's own. */
#define TRACE_INPUT_OPTIONS(type, field)                                                           \
	{"format",       0,                                                                        \
	 "NAME",         "what the trace is (`refault list formats`); recognised when not given",  \
	 OPTION_TEXT,    offsetof(struct type, field.format),                                      \
	 COMPLETE_FORMAT},                                                                         \
		{"columns",                                                                        \
		 0,                                                                                \
		 "NAME=COLUMN[,...]",                                                              \
		 "of a text with a request in each row: what is where, as in "                     \
		 "time=1,op=2,offset=3,bytes=4,unit=512",                                          \
		 OPTION_TEXT,                                                                      \
		 offsetof(struct type, field.columns),                                             \
		 COMPLETE_NONE},                                                                   \
	{                                                                                          \
		"lenient", 0, NULL,                                                                \
			"skip rows that cannot be read (but of a hundred not more than one) and "  \
			"count them; of a trace that was cut off, take what there is",             \
			OPTION_FLAG, offsetof(struct type, field.lenient), COMPLETE_NONE           \
	}

/* What they say to trace_open(). */
struct trace_options trace_input_options(const struct trace_input_arguments *arguments);

/* The name of one that was given, for an input that is no trace; else NULL. */
const char *trace_input_given(const struct trace_input_arguments *arguments);

/*
 * trace_open(), but a trace of objects is refused: "an oracleGeneral trace is about objects, not
 * about files: " and `so`.
 */
struct op_source *trace_input_open(const char *path, const struct trace_options *options,
				   const char *so, struct error *error);

/* Its reader's warnings, each a line on standard error. The trace was read to its end. */
void trace_input_warn(const struct op_source *source);

#endif
