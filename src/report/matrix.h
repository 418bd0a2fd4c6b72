/*
 * matrix: winners, losers and unchanged of a change, as text and as JSON
 */
#ifndef REFAULT_REPORT_MATRIX_H
#define REFAULT_REPORT_MATRIX_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct change;

/*
 * Losers first, the worst first; then winners, the best first; then what is unchanged in sum but not for all
 * of its streams; then the names of the rest; in the end a line that counts them.
 */
void matrix_text(FILE *out, const struct change *change, bool colour);

/*
 * {"base", "change", "metric", "seeds", "scenarios": [{"name", "verdict", "base", "changed", "effect",
 * "low", "high", "significant", "exact", "seeds", "work_change", "streams": {NAME: {...}}, ...}],
 * "winners", "losers", "unchanged", "left_out"}, scenarios as they were given. A new reference.
 */
json_t *matrix_json(const struct change *change);

#endif
