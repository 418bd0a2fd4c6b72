/*
 * prefetch: a line of memory that will be looked at comes into the processor's caches
 *
 * A hint: nothing changes. To gcc (12, ipa-pure-const) a function that does nothing else is one
 * without effect, and calls of it are left out, loops around it too: the empty asm is an effect.
 */
#ifndef REFAULT_BASE_PREFETCH_H
#define REFAULT_BASE_PREFETCH_H

static inline __attribute__((always_inline)) void prefetch_read(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile("");
}

static inline __attribute__((always_inline)) void prefetch_write(const void *at)
{
	__builtin_prefetch(at, 1);
	__asm__ volatile("");
}

#endif
