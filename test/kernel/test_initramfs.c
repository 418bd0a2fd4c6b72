/* If this fails, a guest finds no /init, or not the files that its command is about. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/kernel/initramfs.h"
#include "machine/kernel/program.h"

static char folder[] = "/tmp/refault-initramfs-XXXXXX";
static struct initramfs initramfs;
static FILE *archive;

static int begin(void **state)
{
	struct error error;

	(void)state;
	archive = tmpfile();
	return archive && initramfs_init(&initramfs, fileno(archive), &error) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	initramfs_deinit(&initramfs);
	fclose(archive);
	return 0;
}

/*
 * What busybox's cpio makes of the archive: its output, in a buffer that the next call uses again.
 */
static const char *unpacked(const char *options)
{
	static char text[4096];
	char command[256];
	FILE *output;
	size_t got;

	snprintf(command, sizeof(command), "cd %s && busybox cpio %s </proc/%d/fd/%d 2>&1", folder,
		 options, (int)getpid(), fileno(archive));
	output = popen(command, "r");
	assert_non_null(output);
	got = fread(text, 1, sizeof(text) - 1, output);
	text[got] = '\0';
	assert_int_equal(pclose(output), 0);
	return text;
}

static void contents_are(const char *name, const char *expected)
{
	char path[256], text[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, expected);
}

static void another_cpio_reads_what_we_write(void **state)
{
	struct error error;
	struct stat status;
	char path[256], target[256];

	(void)state;
	/* Names and contents of all lengths that padding can tell apart. */
	assert_true(initramfs_file(&initramfs, "/init", 0755, "#!", 2, &error));
	assert_true(initramfs_file(&initramfs, "/etc/deep/a", 0644, "abc", 3, &error));
	assert_true(initramfs_file(&initramfs, "/etc/deep/ab", 0600, "abcd", 4, &error));
	assert_true(initramfs_file(&initramfs, "/etc/abc", 0644, "", 0, &error));
	assert_true(initramfs_file(&initramfs, "/etc/abcd", 0644, "a", 1, &error));
	assert_true(initramfs_symlink(&initramfs, "/bin/sh", "busybox", &error));
	assert_true(initramfs_directory(&initramfs, "/empty", &error));
	assert_true(initramfs_finish(&initramfs, &error));
	assert_string_equal(unpacked("-t --quiet"),
			    "init\netc\netc/deep\netc/deep/a\netc/deep/ab\netc/abc\netc/abcd\n"
			    "bin\nbin/sh\nempty\n");
	unpacked("-i --quiet");
	contents_are("init", "#!");
	contents_are("etc/deep/a", "abc");
	contents_are("etc/deep/ab", "abcd");
	contents_are("etc/abc", "");
	contents_are("etc/abcd", "a");
	snprintf(path, sizeof(path), "%s/etc/deep/ab", folder);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0600);
	snprintf(path, sizeof(path), "%s/bin/sh", folder);
	assert_int_equal(readlink(path, target, sizeof(target)), strlen("busybox"));
	assert_memory_equal(target, "busybox", strlen("busybox"));
}

/*
 * busybox's cpio does not show them, and only root can make a device: so this looks at the header's
 * end and the name.
 */
static void devices_have_numbers(void **state)
{
	static const char wanted[] = "00000005"
				     "00000001"
				     "0000000c"
				     "00000000"
				     "dev/console";
	struct error error;
	char bytes[1024];
	ssize_t got;

	(void)state;
	assert_true(initramfs_character_device(&initramfs, "/dev/console", 0600, 5, 1, &error));
	assert_true(initramfs_finish(&initramfs, &error));
	assert_non_null(strstr(unpacked("-tv --quiet"), "crw-------"));
	got = pread(fileno(archive), bytes, sizeof(bytes), 0);
	assert_true(got > 0);
	assert_non_null(memmem(bytes, (size_t)got, wanted, sizeof(wanted)));
}

static void what_is_there_already_stays(void **state)
{
	struct error error;

	(void)state;
	assert_true(initramfs_file(&initramfs, "/a", 0644, "first", 5, &error));
	assert_true(initramfs_file(&initramfs, "/a", 0644, "second", 6, &error));
	assert_true(initramfs_finish(&initramfs, &error));
	assert_string_equal(unpacked("-t --quiet"), "a\n");
	unpacked("-iu --quiet");
	contents_are("a", "first");
}

static void a_program_brings_its_libraries(void **state)
{
	struct error error;
	const char *listed;

	(void)state;
	assert_true(initramfs_program(&initramfs, "/bin/tool", "/bin/ls", &error));
	assert_true(initramfs_program(&initramfs, "/bin/busybox", "/bin/busybox", &error));
	assert_true(initramfs_finish(&initramfs, &error));
	listed = unpacked("-t --quiet");
	assert_non_null(strstr(listed, "bin/tool\n"));
	assert_non_null(strstr(listed, "libc.so.6\n"));
	assert_non_null(strstr(listed, "lib64/ld-linux-x86-64.so.2\n"));
}

static void who_needs_a_loader_is_not_static(void **state)
{
	struct error error;

	(void)state;
	assert_true(program_must_be_static("/bin/busybox", &error));
	assert_false(program_must_be_static("/bin/ls", &error));
	assert_non_null(strstr(error.message, "not a static program"));
	assert_false(program_must_be_static("/etc/passwd", &error));
	assert_non_null(strstr(error.message, "not a program for x86-64"));
	assert_false(initramfs_copy(&initramfs, "/a", 0644, "/nowhere", &error));
	assert_non_null(strstr(error.message, "cannot read /nowhere"));
	assert_false(initramfs_copy(&initramfs, "/a", 0644, "/etc", &error));
}

static void a_missing_program_names_its_package(void **state)
{
	struct arena arena = {0};
	struct error error;
	const char *path;

	(void)state;
	assert_true(program_find(&path, "sh", "dash", &arena, &error));
	assert_int_equal(path[0], '/');
	assert_false(
		program_find(&path, "refault-no-such-program", "some-package", &arena, &error));
	assert_string_equal(
		error.message,
		"no program refault-no-such-program here (Debian package some-package)");
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(another_cpio_reads_what_we_write, begin, end),
		cmocka_unit_test_setup_teardown(devices_have_numbers, begin, end),
		cmocka_unit_test_setup_teardown(what_is_there_already_stays, begin, end),
		cmocka_unit_test_setup_teardown(a_program_brings_its_libraries, begin, end),
		cmocka_unit_test_setup_teardown(who_needs_a_loader_is_not_static, begin, end),
		cmocka_unit_test(a_missing_program_names_its_package),
	};
	char command[64];
	int failed;

	if (access("/bin/busybox", X_OK) != 0) {
		puts("needs /bin/busybox (Debian package busybox-static)");
		return 77;
	}
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) == 0 ? failed : 1;
}
