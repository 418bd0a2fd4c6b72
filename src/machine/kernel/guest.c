#include "machine/kernel/guest.h"

#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "machine/kernel/guest_init.h"
#include "machine/kernel/image.h"
#include "machine/kernel/initramfs.h"
#include "machine/kernel/modules.h"
#include "machine/kernel/program.h"
#include "machine/kernel/qemu.h"

/* One boot. */
struct guest {
	const struct guest_options *options;
	uint64_t timeout_ns;
	const char *release;      /* as the image says */
	struct qemu_options qemu; /* with all files */
	pid_t pid;                /* of QEMU; 0: not running */
	struct arena arena;
};

enum { RESULT_DISK_BYTES = 1 << 30 };

/* ---- files without names ---- */

/* In memory: what is small, or soon gone. */
static bool memory_file(int *fd, const char *name, struct error *error)
{
	*fd = memfd_create(name, MFD_CLOEXEC);
	return *fd >= 0 || error_system(error, "cannot make a file in memory");
}

/* The whole of a file in memory, in `arena`; *bytes may be NULL. */
static char *file_text(int fd, size_t *bytes, struct arena *arena)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char *text = arena_alloc(arena, (size_t)(end > 0 ? end : 0) + 1);
	ssize_t got = end > 0 ? pread(fd, text, (size_t)end, 0) : 0;

	if (bytes)
		*bytes = got > 0 ? (size_t)got : 0;
	return text;
}

/* ---- the initramfs ---- */

/* "set -- 'replay' 'it'\''s'". */
static bool command_add(struct initramfs *initramfs, const char *const *words, struct error *error)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	bool added;

	if (!to)
		return error_system(error, "cannot write down the guest's command");
	fputs("set --", to);
	for (; *words; words++) {
		fputs(" '", to);
		for (const char *at = *words; *at; at++) {
			if (*at == '\'')
				fputs("'\\''", to);
			else
				fputc(*at, to);
		}
		fputc('\'', to);
	}
	fputc('\n', to);
	fclose(to);
	added = initramfs_file(initramfs, "/guest/command", 0644, text, bytes, error);
	free(text);
	return added;
}

static bool modules_add(struct initramfs *initramfs, const struct module_list *list,
			struct error *error)
{
	char lines[16 * 1024] = "";
	size_t bytes = 0;

	for (size_t i = 0; i < list->modules.count; i++) {
		const struct module *module = &list->modules.at[i];
		char path[256];

		snprintf(path, sizeof(path), "/lib/modules/%.200s.ko", module->name);
		if (bytes + strlen(path) + 16 > sizeof(lines))
			return error_failed(error, "too many modules for a guest");
		bytes += (size_t)sprintf(lines + bytes, "%s %s\n",
					 module->is_optional ? "optional" : "needed", path);
		if (!initramfs_file(initramfs, path, 0644, module->object, module->bytes, error))
			return false;
	}
	return initramfs_file(initramfs, "/guest/modules", 0644, lines, bytes, error);
}

/* The modules that the disk and the caller want, from where they lie. */
static bool modules_find_and_add(struct guest *guest, struct initramfs *initramfs,
				 struct error *error)
{
	enum { WANTED_MAX = 32 };
	const struct guest_options *options = guest->options;
	const char *wanted[WANTED_MAX + 1] = {"virtio_pci", "virtio_blk"};
	struct module_list list = {0};
	const char *directory;
	bool done;

	for (size_t i = 0; options->wanted_modules && options->wanted_modules[i]; i++) {
		assert(i + 2 < WANTED_MAX);
		wanted[i + 2] = options->wanted_modules[i];
	}
	if (!modules_locate(&directory, options->kernel.modules, options->kernel.image,
			    guest->release, &guest->arena, error))
		return false;
	done = (!directory || modules_list(&list, directory, wanted, error)) &&
	       modules_add(initramfs, &list, error);
	module_list_deinit(&list);
	return done;
}

/* Debian's busybox-static and busybox have their program in the same place. */
static bool busybox_add(struct guest *guest, struct initramfs *initramfs, struct error *error)
{
	const char *busybox;

	if (!program_find(&busybox, "busybox", "busybox-static", &guest->arena, error))
		return false;
	if (!program_must_be_static(busybox, error))
		return error_context(
			error, "a guest needs a static busybox (Debian package busybox-static)");
	return initramfs_copy(initramfs, "/bin/busybox", 0755, busybox, error) &&
	       initramfs_symlink(initramfs, "/bin/sh", "busybox", error);
}

static bool settings_add(const struct guest_options *options, struct initramfs *initramfs,
			 struct error *error)
{
	if (options->kernel.mglru != GUEST_MGLRU_DEFAULT &&
	    !initramfs_file(initramfs, "/guest/mglru", 0644,
			    options->kernel.mglru == GUEST_MGLRU_ON ? "y" : "n", 1, error))
		return false;
	if (options->disk_bytes && !initramfs_file(initramfs, "/guest/disk", 0644, "", 0, error))
		return false;
	return command_add(initramfs, options->command, error);
}

static bool files_add(const struct guest_options *options, struct initramfs *initramfs,
		      struct error *error)
{
	bool done = true;

	for (size_t i = 0; done && i < options->file_count; i++) {
		const struct guest_file *file = &options->files[i];

		if (file->kind == GUEST_PROGRAM)
			done = initramfs_program(initramfs, file->guest_path, file->host_path,
						 error);
		else
			done = initramfs_copy(initramfs, file->guest_path, 0644, file->host_path,
					      error);
	}
	return done;
}

static bool folders_add(struct initramfs *initramfs, struct error *error)
{
	static const char *const folders[] = {"/dev", "/proc", "/sys",     "/tmp", "/run",
					      "/etc", "/mnt",  "/refault", "/sbin"};
	bool done = true;

	for (size_t i = 0; done && i < sizeof(folders) / sizeof(folders[0]); i++)
		done = initramfs_directory(initramfs, folders[i], error);
	/* Before /dev is mounted, the kernel opens the console for /init. */
	return done && initramfs_character_device(initramfs, "/dev/console", 0600, 5, 1, error);
}

static bool initramfs_make(struct guest *guest, struct error *error)
{
	const struct guest_options *options = guest->options;
	struct initramfs initramfs = {0};
	bool done = memory_file(&guest->qemu.files[QEMU_INITRAMFS], "refault-initramfs", error) &&
		    initramfs_init(&initramfs, guest->qemu.files[QEMU_INITRAMFS], error) &&
		    folders_add(&initramfs, error) &&
		    initramfs_file(&initramfs, "/init", 0755, guest_init_text, guest_init_bytes(),
				   error) &&
		    busybox_add(guest, &initramfs, error) &&
		    modules_find_and_add(guest, &initramfs, error) &&
		    settings_add(options, &initramfs, error) &&
		    files_add(options, &initramfs, error) && initramfs_finish(&initramfs, error);

	/* While it is unpacked the guest has it twice. */
	if (done && 2 * initramfs.bytes + 128 * MIB > guest->qemu.memory_bytes)
		done = error_failed(error,
				    "a guest of %llu MiB of memory cannot hold %llu MiB of files",
				    (unsigned long long)(guest->qemu.memory_bytes / MIB),
				    (unsigned long long)(initramfs.bytes / MIB));
	initramfs_deinit(&initramfs);
	return done;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static bool fd_is_empty(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size == 0;
}

/* ---- how it went ---- */

/*
 * What the guest's console says last, for a message: its last line without the time in front of it,
 * and if there is a line that says why, that one. "" if it said nothing.
 */
static const char *console_last_words(struct guest *guest)
{
	static const char *const reasons[] = {"refault-guest failed: ",
					      "Kernel panic - not syncing: "};
	char *text = file_text(guest->qemu.files[QEMU_CONSOLE], NULL, &guest->arena), *line;
	size_t bytes;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		line = strstr(text, reasons[i]);
		if (line) {
			line[strcspn(line, "\r\n")] = '\0';
			return i == 0 ? line + strlen(reasons[0]) : line;
		}
	}
	for (bytes = strlen(text); bytes > 0 && (unsigned char)text[bytes - 1] <= ' '; bytes--)
		text[bytes - 1] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	return line[0] == '[' && strstr(line, "] ") ? strstr(line, "] ") + 2 : line;
}

/* Read the result disk. False, without an error: the guest has written nothing on it. */
static bool result_read(struct guest *guest, struct guest_outcome *outcome)
{
	int fd = guest->qemu.files[QEMU_RESULT];
	char line[256] = "", *begin;
	size_t got = 0;

	if (pread(fd, line, sizeof(line) - 1, 0) <= 0 ||
	    sscanf(line, "refault-guest %d %127s %zu %zu", &outcome->exit_code, outcome->release,
		   &outcome->output_bytes, &outcome->errors_bytes) != 4 ||
	    !strchr(line, '\n') || outcome->output_bytes > RESULT_DISK_BYTES ||
	    outcome->errors_bytes > RESULT_DISK_BYTES)
		return false;
	begin = strchr(line, '\n') + 1;
	outcome->output = memory_alloc(outcome->output_bytes + 1, 1);
	outcome->errors = memory_alloc(outcome->errors_bytes + 1, 1);
	got += (size_t)pread(fd, outcome->output, outcome->output_bytes, begin - line);
	got += (size_t)pread(fd, outcome->errors, outcome->errors_bytes,
			     begin - line + (off_t)outcome->output_bytes);
	return got == outcome->output_bytes + outcome->errors_bytes;
}

enum boot { BOOT_DONE, BOOT_FAILED, BOOT_WITHOUT_KVM };

/* QEMU ended without a result. */
static bool ended_early(struct guest *guest, struct error *error)
{
	const char *last = console_last_words(guest), *qemu;

	if (*last)
		return error_failed(error, "Linux %s in the guest: %s", guest->release, last);
	qemu = file_text(guest->qemu.files[QEMU_LOG], NULL, &guest->arena);
	return error_failed(error, "QEMU ended before Linux %s said anything: %.*s", guest->release,
			    (int)strcspn(qemu, "\n"), *qemu ? qemu : "no reason given");
}

/*
 * Does KVM not work here, or not for this kernel? QEMU says so when it starts, or it meets an
 * instruction that KVM would have to emulate and cannot (as under a hypervisor that is itself a
 * guest), or nothing happens: where it works, a kernel speaks within a second.
 */
static bool kvm_has_failed(struct guest *guest, bool has_ended, uint64_t elapsed_ns)
{
	bool is_silent = fd_is_empty(guest->qemu.files[QEMU_CONSOLE]);

	if (!guest->qemu.with_kvm)
		return false;
	if (is_silent && (has_ended || elapsed_ns > 5 * NS_PER_SECOND))
		return true;
	return !fd_is_empty(guest->qemu.files[QEMU_LOG]) &&
	       strstr(file_text(guest->qemu.files[QEMU_LOG], NULL, &guest->arena),
		      "KVM internal error");
}

static enum boot boot_wait(struct guest *guest, struct guest_outcome *outcome, struct error *error)
{
	uint64_t start_ns = clock_ns(), elapsed_ns;
	char limit[SIZE_TEXT_BYTES];
	bool has_ended;

	do {
		has_ended = qemu_has_ended(&guest->pid, 100);
		elapsed_ns = clock_ns() - start_ns;
		if (kvm_has_failed(guest, has_ended, elapsed_ns))
			return BOOT_WITHOUT_KVM;
	} while (!has_ended && elapsed_ns < guest->timeout_ns);
	outcome->elapsed_ns = elapsed_ns;
	outcome->acceleration = guest->qemu.with_kvm ? GUEST_KVM : GUEST_EMULATION;
	if (!has_ended) {
		error_failed(
			error,
			"Linux %s in the guest did not end within %s; its console's last line: %s",
			guest->release, time_format(limit, guest->timeout_ns),
			console_last_words(guest));
		return BOOT_FAILED;
	}
	if (result_read(guest, outcome))
		return BOOT_DONE;
	ended_early(guest, error);
	return BOOT_FAILED;
}

/* Once, with or without KVM. */
static enum boot boot(struct guest *guest, struct guest_outcome *outcome, struct error *error)
{
	const struct guest_options *options = guest->options;
	enum boot boot = BOOT_FAILED;

	if (memory_file(&guest->qemu.files[QEMU_CONSOLE], "refault-console", error) &&
	    memory_file(&guest->qemu.files[QEMU_LOG], "refault-qemu", error) &&
	    image_make(&guest->qemu.files[QEMU_RESULT], NULL, RESULT_DISK_BYTES, error) &&
	    (!options->disk_bytes ||
	     image_make(&guest->qemu.files[QEMU_DISK], NULL, options->disk_bytes, error)) &&
	    qemu_start(&guest->pid, &guest->qemu, error))
		boot = boot_wait(guest, outcome, error);
	qemu_kill(&guest->pid);
	for (size_t i = QEMU_CONSOLE; i < QEMU_FILE_COUNT; i++) {
		if (guest->qemu.files[i] >= 0)
			close(guest->qemu.files[i]);
		guest->qemu.files[i] = -1;
	}
	return boot;
}

/* ---- KVM or emulation ---- */

/* Found out once in a process: what does not boot one kernel is not tried with the next. */
static atomic_bool kvm_is_known_to_fail;

static bool boot_somehow(struct guest *guest, struct guest_outcome *outcome, struct error *error)
{
	enum guest_acceleration wanted = guest->options->acceleration;
	bool try_kvm =
		wanted == GUEST_KVM || (wanted == GUEST_KVM_OR_EMULATION && !kvm_is_known_to_fail);
	enum boot result = BOOT_WITHOUT_KVM;

	if (try_kvm && access("/dev/kvm", R_OK | W_OK) == 0) {
		guest->qemu.with_kvm = true;
		result = boot(guest, outcome, error);
	}
	if (result == BOOT_WITHOUT_KVM && wanted != GUEST_EMULATION)
		kvm_is_known_to_fail = true;
	if (result == BOOT_WITHOUT_KVM && wanted == GUEST_KVM)
		return error_failed(error, "KVM does not work here, or not for Linux %s",
				    guest->release);
	if (result == BOOT_WITHOUT_KVM) {
		guest->qemu.with_kvm = false;
		result = boot(guest, outcome, error);
	}
	return result == BOOT_DONE;
}

bool guest_run(const struct guest_options *options, struct guest_outcome *outcome,
	       struct error *error)
{
	/*
	 * Without large pages, like the machine of the reference measurements; and without what
	 * only costs time in a machine that runs nobody's program but ours.
	 */
	static const char kernel_words[] =
		"transparent_hugepage=never mitigations=off nokaslr random.trust_cpu=on "
		"printk.devkmsg=on";
	struct guest guest = {
		.options = options,
		.timeout_ns = options->timeout_ns ? options->timeout_ns : 600 * NS_PER_SECOND,
		.qemu = {.kernel_words = kernel_words, .memory_bytes = options->memory_bytes},
	};
	bool done;

	assert(options->kernel.image && options->command && options->command[0]);
	*outcome = (struct guest_outcome){0};
	if (!guest.qemu.memory_bytes)
		guest.qemu.memory_bytes = GIB;
	for (size_t i = 0; i < QEMU_FILE_COUNT; i++)
		guest.qemu.files[i] = -1;
	done = guest_kernel_open(&guest.qemu.files[QEMU_KERNEL], &guest.release,
				 options->kernel.image, &guest.arena, error) &&
	       program_find(&guest.qemu.program, "qemu-system-x86_64", "qemu-system-x86",
			    &guest.arena, error) &&
	       initramfs_make(&guest, error) && boot_somehow(&guest, outcome, error);
	for (size_t i = 0; i < QEMU_FILE_COUNT; i++) {
		if (guest.qemu.files[i] >= 0)
			close(guest.qemu.files[i]);
	}
	arena_deinit(&guest.arena);
	return done;
}

void guest_outcome_deinit(struct guest_outcome *outcome)
{
	memory_free(outcome->output);
	memory_free(outcome->errors);
	*outcome = (struct guest_outcome){0};
}
