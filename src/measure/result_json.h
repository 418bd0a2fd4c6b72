/*
 * result_json: a result as `--json` prints it (report/json.c), read back
 *
 * For results that another program, or the same one in another machine, has made.
 */
#ifndef REFAULT_MEASURE_RESULT_JSON_H
#define REFAULT_MEASURE_RESULT_JSON_H

#include "base/error.h"
#include "measure/result.h"

/*
 * Read what report_json() wrote. Keys that are not there are unknown, or nothing. False
 * (ERROR_FAILED): it is no JSON object; `result` is empty then. Free with result_deinit().
 */
bool result_json_read(struct result *result, const char *text, size_t bytes, struct error *error);

#endif
