#include "machine/kernel/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"

/* ---- the command line ---- */

struct words {
	ARRAY(const char *) list;
	struct arena arena;
};

__attribute__((format(printf, 2, 3))) static void word_add(struct words *words, const char *format,
							   ...)
{
	char word[1024];
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(word, sizeof(word), format, arguments);
	va_end(arguments);
	*array_push(&words->list) = arena_text(&words->arena, word, (size_t)bytes);
}

static void option_add(struct words *words, const char *option, const char *value)
{
	word_add(words, "%s", option);
	word_add(words, "%s", value);
}

/*
 * Nobody reads a disk after a crash: what the guest flushes may stay in the host's cache. Zeros, of
 * which played files consist, become holes.
 */
static void disk_add(struct words *words, int fd, const char *name)
{
	word_add(words, "-drive");
	word_add(words,
		 "file=/proc/self/fd/"
		 "%d,id=%s,format=raw,if=none,cache=unsafe,discard=unmap,detect-zeroes=unmap",
		 fd, name);
	word_add(words, "-device");
	word_add(words, "virtio-blk-pci,drive=%s,serial=refault-%s", name, name);
}

static void words_make(struct words *words, const struct qemu_options *options)
{
	const int *files = options->files;

	*array_push(&words->list) = options->program;
	word_add(words, "-nodefaults");
	word_add(words, "-no-user-config");
	word_add(words, "-no-reboot");
	option_add(words, "-display", "none");
	option_add(words, "-machine", "pc");
	option_add(words, "-smp", "1");
	word_add(words, "-m");
	word_add(words, "%lluM", (unsigned long long)(options->memory_bytes / MIB));
	/*
	 * Emulated, a processor of the time before "rep movsb" was called fast: a kernel that
	 * believes so copies pages with it, and in emulation it goes byte by byte. With "max", all
	 * takes twice as long.
	 */
	option_add(words, "-accel", options->with_kvm ? "kvm" : "tcg");
	option_add(words, "-cpu", options->with_kvm ? "host" : "Nehalem");
	word_add(words, "-kernel");
	word_add(words, "/proc/self/fd/%d", files[QEMU_KERNEL]);
	word_add(words, "-initrd");
	word_add(words, "/proc/self/fd/%d", files[QEMU_INITRAMFS]);
	word_add(words, "-append");
	/* On a panic, and at the end, start anew: for which QEMU ends. That needs no ACPI. */
	word_add(words, "console=ttyS0 panic=-1 reboot=t %s", options->kernel_words);
	word_add(words, "-serial");
	word_add(words, "file:/proc/self/fd/%d", files[QEMU_CONSOLE]);
	if (files[QEMU_DISK] >= 0)
		disk_add(words, files[QEMU_DISK], "disk");
	disk_add(words, files[QEMU_RESULT], "result");
	*array_push(&words->list) = NULL;
}

/* ---- the process ---- */

/* In the child, between fork and exec. */
static void become(const struct qemu_options *options, const char *const *words, pid_t parent)
{
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < QEMU_FILE_COUNT; i++) {
		if (options->files[i] >= 0)
			fcntl(options->files[i], F_SETFD, 0);
	}
	dup2(nothing, STDIN_FILENO);
	dup2(options->files[QEMU_LOG], STDOUT_FILENO);
	dup2(options->files[QEMU_LOG], STDERR_FILENO);
	execv(words[0], (char *const *)(uintptr_t)words);
	_exit(127);
}

bool qemu_start(pid_t *pid, const struct qemu_options *options, struct error *error)
{
	struct words words = {0};
	pid_t parent = getpid();

	words_make(&words, options);
	*pid = fork();
	if (*pid == 0)
		become(options, words.list.at, parent);
	if (*pid < 0)
		error_system(error, "cannot start %s", options->program);
	array_deinit(&words.list);
	arena_deinit(&words.arena);
	if (*pid > 0)
		return true;
	*pid = 0;
	return false;
}

bool qemu_has_ended(pid_t *pid, int milliseconds)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, *pid, 0), .events = POLLIN};

	/* Without it (Linux before 5.3), or after a signal, this only looks more often. */
	if (end.fd >= 0) {
		poll(&end, 1, milliseconds);
		close(end.fd);
	} else {
		poll(NULL, 0, milliseconds / 10);
	}
	if (waitpid(*pid, NULL, WNOHANG) == 0)
		return false;
	*pid = 0;
	return true;
}

void qemu_kill(pid_t *pid)
{
	if (!*pid)
		return;
	kill(*pid, SIGKILL);
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	*pid = 0;
}
