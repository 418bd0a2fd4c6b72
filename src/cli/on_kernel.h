/*
 * on_kernel: the options of every command that can carry ops out on the kernel
 */
#ifndef REFAULT_CLI_ON_KERNEL_H
#define REFAULT_CLI_ON_KERNEL_H

#include "cli/command.h"
#include "cli/progress.h"
#include "machine/kernel/guest_machine.h"
#include "machine/kernel/kernel.h"
#include "machine/model/model.h"

struct on_kernel_arguments {
	const char *statistics, *directory, *images, *block_device, *guest;
	struct given image_size, runs;
};

/* Their lines in a command's table; `field` is the struct above in the command's own. */
#define ON_KERNEL_OPTIONS(type, field)                                                             \
	{"guest",                                                                                  \
	 0,                                                                                        \
	 "VMLINUZ[,modules=DIR][,mglru=on|off]",                                                   \
	 "on the kernel: on this one, booted in QEMU for the run, instead of the one underneath; " \
	 "its modules are found beside it, or in DIR",                                             \
	 OPTION_TEXT,                                                                              \
	 offsetof(struct type, field.guest),                                                       \
	 COMPLETE_FILE},                                                                           \
		{"statistics",                                                                     \
		 0,                                                                                \
		 "fresh|lazy",                                                                     \
		 "on the kernel: `fresh` (when not given) has it sum its statistics every 16 "     \
		 "operations, "                                                                    \
		 "which makes runs repeatable; `lazy` leaves it alone, and reports a range of "    \
		 "several "                                                                        \
		 "runs",                                                                           \
		 OPTION_TEXT,                                                                      \
		 offsetof(struct type, field.statistics),                                          \
		 COMPLETE_WORDS},                                                                  \
		{"runs",                                                                           \
		 0,                                                                                \
		 "N",                                                                              \
		 "on the kernel: how often; 1 when not given, 3 with lazy statistics",             \
		 OPTION_NUMBER,                                                                    \
		 offsetof(struct type, field.runs),                                                \
		 COMPLETE_NONE},                                                                   \
		{"directory",                                                                      \
		 0,                                                                                \
		 "DIR",                                                                            \
		 "on the kernel: in this directory, instead of a file system made for the run",    \
		 OPTION_TEXT,                                                                      \
		 offsetof(struct type, field.directory),                                           \
		 COMPLETE_FILE},                                                                   \
		{"images",                                                                         \
		 0,                                                                                \
		 "DIR",                                                                            \
		 "on the kernel: where the blocks of that file system are kept meanwhile; "        \
		 "$TMPDIR or /var/tmp when not given",                                             \
		 OPTION_TEXT,                                                                      \
		 offsetof(struct type, field.images),                                              \
		 COMPLETE_FILE},                                                                   \
		{"image-size",                                                                     \
		 0,                                                                                \
		 "SIZE",                                                                           \
		 "on the kernel: how large that file system is; 6GiB, or twice the files when "    \
		 "not given",                                                                      \
		 OPTION_SIZE,                                                                      \
		 offsetof(struct type, field.image_size),                                          \
		 COMPLETE_NONE},                                                                   \
	{                                                                                          \
		"block-device", 0, "DEVICE",                                                       \
			"on the kernel: make that file system on this device; what is on it is "   \
			"LOST",                                                                    \
			OPTION_TEXT, offsetof(struct type, field.block_device), COMPLETE_FILE      \
	}

/*
 * The workload is the model's, the rest is the arguments': put both into `options`, whose clock and
 * streams are left to the command. False: ERROR_INPUT, also for memory that the model would refuse.
 */
bool on_kernel_apply(const struct on_kernel_arguments *arguments, const struct model_options *model,
		     struct kernel_options *options, struct error *error);

/* The name of an option that was given, for a command that does not run on the kernel; else NULL. */
const char *on_kernel_given(const struct on_kernel_arguments *arguments);

/*
 * The kernel that --guest names, in `arena`; *kernel is zeroed when there is none. False: ERROR_INPUT.
 */
bool on_kernel_guest(const struct on_kernel_arguments *arguments, struct guest_kernel *kernel,
		     struct arena *arena, struct error *error);

/*
 * Around a run: progress is shown, and SIGINT, SIGTERM and SIGHUP only set the flag that
 * options.interrupted points to, so that it can clean up. on_kernel_end() lets one that came do what
 * it does.
 */
void on_kernel_begin(struct kernel_options *options, struct progress *progress, const char *what);
void on_kernel_end(struct progress *progress);

#endif
