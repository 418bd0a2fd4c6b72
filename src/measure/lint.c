#include "measure/lint.h"

void lint_report_deinit(struct lint_report *report)
{
	array_deinit(&report->findings);
	arena_deinit(&report->arena);
}
