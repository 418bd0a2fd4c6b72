/*
 * digest: what an input says, as 16 hexadecimal digits (XXH3, 64 bits)
 *
 * Equal digests: the same trace to the byte; the same machine, files and jobs of a scenario. Not against
 * forgers: against mistakes.
 */
#ifndef REFAULT_SOURCE_DIGEST_H
#define REFAULT_SOURCE_DIGEST_H

#include <stdbool.h>

struct scenario;

enum { DIGEST_BYTES = 17 };

/* Of a file's bytes. False: it cannot be read again (standard input, a pipe). */
bool digest_file(char digest[DIGEST_BYTES], const char *path);

/*
 * Of what decides what a scenario does, as it is after all that was set in it. Not of its name, what it
 * tells people, the seed and the policy (results tell those), nor of what it compares.
 */
void digest_scenario(char digest[DIGEST_BYTES], const struct scenario *scenario);

#endif
