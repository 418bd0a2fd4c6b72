/*
 * size: bytes, pages and times, and how people write them
 *
 * A page is 4 KiB, always: the model's granule (a folio is 1, 2, 4 ... 512 of them).
 */
#ifndef REFAULT_BASE_SIZE_H
#define REFAULT_BASE_SIZE_H

#include "base/error.h"

#define PAGE_SHIFT    12
#define PAGE_BYTES    UINT64_C(4096)
#define KIB           UINT64_C(1024)
#define MIB           (KIB * KIB)
#define GIB           (MIB * KIB)
#define NS_PER_US     UINT64_C(1000)
#define NS_PER_MS     UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

static inline uint64_t pages_from_bytes_up(uint64_t bytes)
{
	return (bytes >> PAGE_SHIFT) + ((bytes & (PAGE_BYTES - 1)) != 0);
}

static inline uint64_t pages_from_bytes_down(uint64_t bytes)
{
	return bytes >> PAGE_SHIFT;
}

static inline uint64_t bytes_from_pages(uint64_t pages)
{
	return pages << PAGE_SHIFT;
}

/*
 * Read "16GiB", "512MiB", "8KiB", "1.5GiB", "4096", also with KB/MB/GB/TB/PB (powers of ten),
 * K/M/G/T/P (powers of two), B, and blanks before the unit; letters of either case. `what` names
 * the thing in the error message. Fails (ERROR_INPUT) on a negative number, on overflow of 64 bits,
 * on an unknown unit, and on trailing bytes.
 */
bool size_parse(uint64_t *bytes, const char *text, const char *what, struct error *error);

/*
 * Read "10ns", "10us", "10ms", "5s", "1.5m" or "min", "2h", "1d", into nanoseconds; a bare number
 * is seconds.
 */
bool time_parse(uint64_t *ns, const char *text, const char *what, struct error *error);

/* Read a whole number in decimal, all of `text`. Fails like size_parse(). */
bool number_parse(uint64_t *value, const char *text, const char *what, struct error *error);

/*
 * Read a number with or without decimals ("4.96", "12"), or a size or a time with its unit, in bytes
 * or ns. Fails like size_parse().
 */
bool decimal_parse(double *value, const char *text, const char *what, struct error *error);

enum { SIZE_TEXT_BYTES = 24 };

/* "310.2 MiB", "0", "4 KiB": binary units, one decimal where it says something. Returns `text`. */
const char *size_format(char text[SIZE_TEXT_BYTES], uint64_t bytes);

/* "12,345,678". Returns `text`. */
const char *count_format(char text[SIZE_TEXT_BYTES * 2], uint64_t count);

/* "8.9 µs", "2.40 ms", "41.0 s", "12.5 min", "3.0 h". Returns `text`. */
const char *time_format(char text[SIZE_TEXT_BYTES], uint64_t ns);

#endif
