/*
 * number: any single figure as text, with as many digits as say something
 */
#ifndef REFAULT_REPORT_NUMBER_H
#define REFAULT_REPORT_NUMBER_H

#include "measure/value.h"

enum { NUMBER_TEXT_BYTES = 48 };

/*
 * "12,345", "0.523", "4.12 ms", "1,028 /s", "10.2 KiB"; "?" of what is no number. Returns `text`.
 */
const char *number_format(char text[NUMBER_TEXT_BYTES], double value, enum value_unit unit);

#endif
