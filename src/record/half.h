/*
 * half: what every half in the kernel needs to be loaded: what libbpf says, and what this kernel has
 *
 * Used by one thread at a time.
 */
#ifndef REFAULT_RECORD_HALF_H
#define REFAULT_RECORD_HALF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct bpf_program;
struct btf;

/* Root, and a kernel that describes its types; else false: "WHAT needs root", ... */
bool half_possible(const char *what, struct error *error);

/* From now on libbpf's first warning is kept, and nothing printed; and then as it was again. */
void half_listen(void);
void half_listen_no_more(void);

/* That warning; "": none. */
const char *half_why(void);

/* "mm_filemap_fault" of a program of the section "tp_btf/mm_filemap_fault". */
const char *half_tracepoint(const struct bpf_program *program);

/* How many arguments a tracepoint has here; -1: there is none of that name. */
int half_arguments(const struct btf *btf, const char *tracepoint);

/* How often a program that is loaded could not run, since it was loaded. */
uint64_t half_skipped(const struct bpf_program *program);

#endif
