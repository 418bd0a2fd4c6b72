/*
 * guest_init: the text of guest_init.sh, a guest's /init, as it was when refault was built
 */
#ifndef REFAULT_MACHINE_KERNEL_GUEST_INIT_H
#define REFAULT_MACHINE_KERNEL_GUEST_INIT_H

#include <stddef.h>

extern const char guest_init_text[]; /* does not end in NUL */
size_t guest_init_bytes(void);

#endif
