#include "machine/kernel/guest_init.h"

/* The assembler takes the file as it is; the Makefile knows that this object depends on it. */
__asm__(".pushsection .rodata\n"
	".hidden guest_init_text\n"
	".global guest_init_text\n"
	"guest_init_text: .incbin \"src/machine/kernel/guest_init.sh\"\n"
	".hidden guest_init_text_end\n"
	".global guest_init_text_end\n"
	"guest_init_text_end:\n"
	".popsection\n");

extern const char guest_init_text_end[];

size_t guest_init_bytes(void)
{
	return (size_t)(guest_init_text_end - guest_init_text);
}
