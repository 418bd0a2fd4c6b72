/*
 * If this fails, a prediction for a kernel that is not the one underneath cannot be checked, or a
 * guest stays behind.
 *
 * Boots Debian's Linux 6.1 (script/fetch-guest-kernels) a few times, about five seconds each where
 * there is no KVM.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/size.h"
#include "machine/kernel/guest.h"

static const char *image; /* Linux 6.1 */

static struct guest_options guest_of(const char *const *command)
{
	return (struct guest_options){
		.kernel = {.image = image},
		.command = command,
		.memory_bytes = 256 * MIB,
		.timeout_ns = 120 * NS_PER_SECOND,
	};
}

static void must_run(const struct guest_options *options, struct guest_outcome *outcome)
{
	struct error error;

	if (!guest_run(options, outcome, &error))
		fail_msg("%s", error.message);
	print_message("# %s, %.1f s\n", outcome->acceleration == GUEST_KVM ? "KVM" : "emulation",
		      (double)outcome->elapsed_ns / 1e9);
}

static void must_fail(const struct guest_options *options, enum error_kind kind, const char *says)
{
	struct guest_outcome outcome;
	struct error error;

	assert_false(guest_run(options, &outcome, &error));
	guest_outcome_deinit(&outcome);
	if (!strstr(error.message, says))
		fail_msg("\"%s\" does not say \"%s\"", error.message, says);
	assert_int_equal(error.kind, kind);
}

/* ---- what the user writes ---- */

static void a_kernel_is_chosen_in_words(void **state)
{
	struct arena arena = {0};
	struct guest_kernel kernel;
	struct error error;

	(void)state;
	assert_true(guest_kernel_parse(&kernel, "boot/vmlinuz,mglru=on,modules=/lib/modules",
				       &arena, &error));
	assert_string_equal(kernel.image, "boot/vmlinuz");
	assert_string_equal(kernel.modules, "/lib/modules");
	assert_int_equal(kernel.mglru, GUEST_MGLRU_ON);
	assert_true(guest_kernel_parse(&kernel, "bzImage,mglru=off", &arena, &error));
	assert_null(kernel.modules);
	assert_int_equal(kernel.mglru, GUEST_MGLRU_OFF);
	assert_false(guest_kernel_parse(&kernel, "bzImage,mglru=maybe", &arena, &error));
	assert_non_null(strstr(error.message, "mglru=maybe"));
	assert_false(guest_kernel_parse(&kernel, "bzImage,modules=", &arena, &error));
	assert_false(guest_kernel_parse(&kernel, "", &arena, &error));
	arena_deinit(&arena);
}

static void what_is_no_kernel_is_said_before_anything_starts(void **state)
{
	static const char *const command[] = {"true", NULL};
	struct guest_options options = guest_of(command);

	(void)state;
	options.kernel.image = "/bin/busybox";
	must_fail(&options, ERROR_INPUT, "not a kernel's image");
	options.kernel.image = "/nowhere";
	must_fail(&options, ERROR_INPUT, "cannot open the kernel /nowhere");
	options.kernel = (struct guest_kernel){.image = image, .modules = "/usr/bin"};
	must_fail(&options, ERROR_INPUT, "no modules of Linux 6.1");
}

/* ---- boots ---- */

static void a_command_runs_in_the_other_kernel(void **state)
{
	static const char *const command[] = {
		"sh",
		"-c",
		"echo \"it's $1\"; cat /refault/note /sys/kernel/mm/transparent_hugepage/enabled; "
		"cat /sys/block/vda/size /sys/block/vda/queue/read_ahead_kb; cat "
		"/sys/fs/cgroup/cgroup.subtree_control; "
		"grep -c xfs /proc/filesystems; mkfs.ext4 -q -F /dev/vda && mount -t ext4 /dev/vda "
		"/mnt && "
		"dd if=/dev/zero of=/mnt/zeros bs=1M count=64 2>/dev/null && ls -l /mnt/zeros "
		">/dev/null && echo played; "
		"echo trouble >&2; exit 7",
		"sh",
		"a 'quoted' word",
		NULL};
	static const char *const modules[] = {"ext4", "xfs", NULL};
	char note[] = "/tmp/refault-note-XXXXXX";
	const struct guest_file files[] = {
		{note, "/refault/note", GUEST_FILE},
		{"/sbin/mkfs.ext4", "/sbin/mkfs.ext4", GUEST_PROGRAM},
	};
	struct guest_options options = guest_of(command);
	struct guest_outcome outcome;
	int fd = mkstemp(note);

	(void)state;
	assert_int_equal(write(fd, "a note\n", 7), 7);
	close(fd);
	options.wanted_modules = modules;
	options.files = files;
	options.file_count = access("/sbin/mkfs.ext4", X_OK) == 0 ? 2 : 1;
	options.disk_bytes = GIB;
	must_run(&options, &outcome);
	unlink(note);
	assert_int_equal(outcome.exit_code, 7);
	assert_string_equal(outcome.errors, "trouble\n");
	assert_string_equal(outcome.output,
			    "it's a 'quoted' word\na note\nalways madvise [never]\n2097152\n128\n"
			    "io memory\n1\nplayed\n");
	assert_int_equal(outcome.output_bytes, strlen(outcome.output));
	assert_memory_equal(outcome.release, "6.1", 3);
	guest_outcome_deinit(&outcome);
}

/* The program that is to play there: a static build, of which the sanitizers have none. */
static void the_multi_generational_lru_is_switched(void **state)
{
	static const char *const command[] = {"cat", "/sys/kernel/mm/lru_gen/enabled", NULL};
	struct guest_options options = guest_of(command);
	struct guest_outcome outcome;

	(void)state;
	options.kernel.mglru = GUEST_MGLRU_ON;
	must_run(&options, &outcome);
	assert_string_equal(outcome.output, "0x0007\n");
	guest_outcome_deinit(&outcome);
}

/* As with a bzImage that was copied somewhere, without its modules. */
static void a_kernel_that_lacks_a_driver_says_so(void **state)
{
	static const char *const command[] = {"true", NULL};
	struct guest_options options = guest_of(command);
	char folder[] = "/tmp/refault-image-XXXXXX", alone[64], whole[4096];

	(void)state;
	assert_non_null(realpath(image, whole));
	assert_non_null(mkdtemp(folder));
	snprintf(alone, sizeof(alone), "%s/bzImage", folder);
	assert_int_equal(symlink(whole, alone), 0);
	options.kernel.image = alone;
	must_fail(&options, ERROR_FAILED,
		  "no disk vda: this kernel has no virtio_blk and virtio_pci");
	unlink(alone);
	rmdir(folder);
}

/* What is found out first must not hide behind the emulation that can do without. */
static void kvm_works_or_is_said_not_to(void **state)
{
	static const char *const command[] = {"true", NULL};
	struct guest_options options = guest_of(command);
	struct guest_outcome outcome;
	struct error error;

	(void)state;
	options.acceleration = GUEST_KVM;
	if (guest_run(&options, &outcome, &error))
		assert_int_equal(outcome.acceleration, GUEST_KVM);
	else
		assert_non_null(
			strstr(error.message, "KVM does not work here, or not for Linux 6.1"));
	guest_outcome_deinit(&outcome);
}

static void a_panic_is_told(void **state)
{
	static const char *const panics[] = {"sh", "-c", "echo c >/proc/sysrq-trigger", NULL};
	struct guest_options options = guest_of(panics);

	(void)state;
	must_fail(&options, ERROR_FAILED, "Kernel panic - not syncing: sysrq triggered crash");
}

static void a_guest_that_does_not_end_is_ended(void **state)
{
	static const char *const sleeps[] = {"sleep", "1000", NULL};
	struct guest_options options = guest_of(sleeps);

	(void)state;
	options.timeout_ns = 10 * NS_PER_SECOND;
	must_fail(&options, ERROR_FAILED, "did not end within 10.0 s");
	/* All that was started has been waited for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* ---- what stays ---- */

static size_t entries_in(const char *path, const char *begin)
{
	DIR *folder = opendir(path);
	size_t count = 0;

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		count += strncmp(entry->d_name, begin, strlen(begin)) == 0;
	if (folder)
		closedir(folder);
	return count;
}

/*
 * The one that is killed cannot clean up: that nothing must be is the point. Orphans come to us, so
 * that they can be waited for.
 */
static void nothing_stays_behind_one_that_is_killed(void **state)
{
	static const char *const sleeps[] = {"sleep", "1000", NULL};
	static const int signals[] = {SIGINT, SIGKILL};

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	for (size_t i = 0; i < 2; i++) {
		struct guest_options options = guest_of(sleeps);
		struct guest_outcome outcome;
		struct error error;
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			signal(SIGINT, SIG_DFL);
			options.disk_bytes = GIB;
			guest_run(&options, &outcome, &error);
			_exit(1);
		}
		sleep(2);
		kill(pid, signals[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		/* QEMU itself: it must end, soon, of the same death. */
		alarm(10);
		assert_true(waitpid(-1, &status, 0) > 0);
		alarm(0);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	assert_int_equal(entries_in("/var/tmp", "refault-guest-"), 0);
}

/* The images, or why there are none. */
static bool image_find(char *path, size_t bytes)
{
	FILE *script = popen("script/fetch-guest-kernels 6.1 2>&1", "re");
	bool found;

	if (!script || !fgets(path, (int)bytes, script))
		path[0] = '\0';
	path[strcspn(path, "\n")] = '\0';
	found = script && pclose(script) == 0;
	image = path;
	return found;
}

int main(void)
{
	static char path[4096];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_is_chosen_in_words),
		cmocka_unit_test(what_is_no_kernel_is_said_before_anything_starts),
		cmocka_unit_test(a_command_runs_in_the_other_kernel),
		cmocka_unit_test(the_multi_generational_lru_is_switched),
		cmocka_unit_test(a_kernel_that_lacks_a_driver_says_so),
		cmocka_unit_test(kvm_works_or_is_said_not_to),
		cmocka_unit_test(a_panic_is_told),
		cmocka_unit_test(a_guest_that_does_not_end_is_ended),
		cmocka_unit_test(nothing_stays_behind_one_that_is_killed),
	};

	/* Boots cost half a minute each on a busy machine, and what a sanitizer would see is elsewhere. */
	if (getenv("REFAULT_FLAVOUR") && strcmp(getenv("REFAULT_FLAVOUR"), "plain") != 0) {
		puts("guests are booted with the plain build");
		return 77;
	}
	if (!image_find(path, sizeof(path))) {
		puts(path[0] ? path : "script/fetch-guest-kernels did not run");
		return 77;
	}
	if (system("command -v qemu-system-x86_64 >/dev/null && command -v busybox >/dev/null") !=
	    0) {
		puts("needs QEMU and a static busybox (Debian packages qemu-system-x86, "
		     "busybox-static)");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
