/*
 * compared: runs side by side, drawn
 */
#ifndef REFAULT_REPORT_COMPARED_H
#define REFAULT_REPORT_COMPARED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct compared;

/* What the sides are, the machine's figures, each stream's; who gains and who loses. */
void compared_text(FILE *out, const struct compared *compared, bool colour);

/* The same as tables of Markdown, for a mail or a ticket. */
void compared_markdown(FILE *out, const struct compared *compared);

/*
 * A line for each figure and side: stream (empty: the machine), figure, unit, side, runs, mean, least, most,
 * ratio, ratio_low, ratio_high, significant, exact. What is not known is empty.
 */
void compared_csv(FILE *out, const struct compared *compared);

/*
 * {"sides": [{"name", "input", "setting", "machine", "kernel", "policy", "filesystem", "memory_bytes",
 * "version", "runs": [{"id", "seed"}], "paired"}], "figures": [{"stream", "figure", "unit", "better",
 * "values": [{"mean", "least", "most", "ratio", "low", "high", "verdict", "significant", "exact"}]}]}, a
 * value for each side; null is what is not known. A new reference.
 */
json_t *compared_json(const struct compared *compared);

#endif
