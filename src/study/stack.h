/*
 * stack: LRU stack distances, of a stream of keys
 *
 * The distance of a look-up is how many other keys were looked up since this one was: an LRU cache of N pages hits if it is less than N. So one
 * pass over a trace is an exact run of LRU at all sizes (Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage hierarchies", IBM
 * Systems Journal 9(2), 1970). Each key that was seen has a bit at the time of its last look-up, and the distance is the bits that are set after it:
 * a binary indexed tree counts whole blocks of them (Fenwick, "A new data structure for cumulative frequency tables", 1994; for this use Olken, LBL-12370,
 * 1981). Times are numbered anew when there is no room, so that it costs some 30 bytes a key, whatever the length of the stream, and O(log n) a look-up.
 */
#ifndef REFAULT_STUDY_STACK_H
#define REFAULT_STUDY_STACK_H

#include <stddef.h>
#include <stdint.h>

struct stack; /* opaque */

#define STACK_COLD UINT64_MAX

struct stack *stack_create(void);
void stack_destroy(struct stack *stack);

/* The distance of this look-up; STACK_COLD: the key is new. At most 2^31 keys. */
uint64_t stack_access(struct stack *stack, uint64_t key);

/* The same, and a number of the key's own, from 1, that is its own until it is forgotten; the largest so far is stack_ids(). */
uint64_t stack_access_id(struct stack *stack, uint64_t key, uint32_t *id);
uint32_t stack_ids(const struct stack *stack);

/* As if it had never been looked up. It is in there. */
void stack_forget(struct stack *stack, uint64_t key);

/* The same of the key whose last look-up is the longest ago; there is one. */
void stack_forget_oldest(struct stack *stack);

uint64_t stack_count(const struct stack *stack); /* keys */
size_t stack_bytes(const struct stack *stack);

#endif
