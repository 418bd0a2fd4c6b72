#ifndef REFAULT_MACHINE_KERNEL_PROBE_SHARED_H
#define REFAULT_MACHINE_KERNEL_PROBE_SHARED_H
#include <stdint.h>
struct probe_worker { uint32_t stream, is_read; uint64_t ino, first_page, end_page; };
#endif
