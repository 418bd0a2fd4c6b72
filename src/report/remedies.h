/*
 * remedies: what would help, for people and for programs
 */
#ifndef REFAULT_REPORT_REMEDIES_H
#define REFAULT_REPORT_REMEDIES_H

#include <jansson.h>
#include <stdio.h>

struct advice;
struct report_options;

/* The answer, the remedies in a table, best first, how each is applied, and what has no effect. */
void remedies_text(FILE *out, const struct advice *advice, const struct report_options *options);

/*
 * {"input", "machine": {...}, "headline": {"kind", "text"}, "base": {...}, "remedies": [{"place", "id",
 * "target", "title", "verdict", "score", "reads": EFFECT, "rereads": EFFECT, "writes": EFFECT,
 * "throughput": EFFECT, "p99_ns": EFFECT, "streams": [{"name", "reads": EFFECT}], "memory_bytes",
 * "how", "since", "risk", "pays", "failure", "can_be_confirmed", "measured"}], "left_out": [{"id",
 * "why"}], "runs", "seeds", "statistics", "interrupted"}; an EFFECT is {"base", "changed", "change",
 * "low", "high"}, or null where that is not known. A new reference.
 */
json_t *remedies_json(const struct advice *advice, const struct report_options *options);

#endif
