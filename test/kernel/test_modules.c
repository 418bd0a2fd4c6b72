/*
 * If this fails, a guest loads its modules in the wrong order, or not all of them, and cannot mount
 * its file system.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/kernel/modules.h"

static char top[] = "/tmp/refault-modules-XXXXXX";
static char directory[128]; /* top/lib/modules/6.1.0-test */

__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...)
{
	char command[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command) != 0)
		fail_msg("%s", command);
}

/* A module: an object file that has nothing but a .modinfo. `modinfo` as in C, "depends=a\\0". */
static void module_make(const char *path, const char *modinfo, const char *pack)
{
	const char *compiler = getenv("REFAULT_CC");

	shell("mkdir -p $(dirname %s/kernel/%s)", directory, path);
	shell("printf '%%s' '__attribute__((section(\".modinfo\"))) const char modinfo[] = "
	      "\"%s\";' | %s -x c -c -o "
	      "%s/kernel/%s - && %s %s/kernel/%s",
	      modinfo, compiler ? compiler : "cc", directory, path, pack, directory, path);
}

static int tree_make(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	snprintf(directory, sizeof(directory), "%s/lib/modules/6.1.0-test", top);
	module_make("fs/xfs/xfs.ko", "license=GPL\\0depends=libcrc32c,loop\\0", "xz");
	module_make("fs/btrfs/btrfs.ko",
		    "softdep=pre: xxhash64 post: never\\0depends=xor,libcrc32c\\0", "true");
	module_make("lib/libcrc32c.ko", "softdep=pre: crc32c\\0depends=\\0", "gzip");
	module_make("crypto/crc32c_generic.ko", "alias=crypto-crc32c\\0alias=crc32c\\0depends=\\0",
		    "true");
	module_make("arch/x86/crypto/crc32c-intel.ko", "alias=crc32c\\0depends=\\0", "xz");
	module_make("crypto/xor.ko", "depends=\\0", "true");
	module_make("drivers/block/loop.ko", "depends=built-in-one\\0", "zstd -q --rm");
	module_make("fs/broken.ko", "depends=nowhere\\0", "true");
	module_make("fs/circle-a.ko", "depends=circle-b\\0", "true");
	module_make("fs/circle-b.ko", "depends=circle-a\\0", "true");
	shell("printf 'kernel/fs/ext4/ext4.ko\\nkernel/lib/built_in_one.ko\\n' >%s/modules.builtin",
	      directory);
	shell("printf 'xxhash_generic.alias=xxhash64\\0' >%s/modules.builtin.modinfo", directory);
	shell("mkdir %s/boot; echo text >%s/kernel/text.ko", top, directory);
	return 0;
}

static int tree_remove(void **state)
{
	(void)state;
	shell("rm -rf %s", top);
	return 0;
}

/* The names in their order, those that may fail with a '?'. */
static void order_is(const char *const *wanted, const char *expected)
{
	struct module_list list;
	struct error error;
	char order[256] = "";

	if (!modules_list(&list, directory, wanted, &error))
		fail_msg("%s", error.message);
	for (size_t i = 0; i < list.modules.count; i++) {
		assert_memory_equal(list.modules.at[i].object, "\177ELF", 4);
		snprintf(order + strlen(order), sizeof(order) - strlen(order), "%s%s%s",
			 i ? " " : "", list.modules.at[i].name,
			 list.modules.at[i].is_optional ? "?" : "");
	}
	module_list_deinit(&list);
	assert_string_equal(order, expected);
}

static void a_wrong_one_says(const char *const *wanted, const char *message)
{
	struct module_list list;
	struct error error;

	assert_false(modules_list(&list, directory, wanted, &error));
	module_list_deinit(&list);
	assert_int_equal(error.kind, ERROR_INPUT);
	if (!strstr(error.message, message))
		fail_msg("%s", error.message);
}

static void what_is_needed_comes_first(void **state)
{
	(void)state;
	order_is((const char *[]){"xfs", NULL}, "crc32c_intel? crc32c_generic? libcrc32c loop xfs");
	/* Once each; what is built in, or who is aliased there, not at all. */
	order_is((const char *[]){"ext4", "btrfs", "xfs", NULL},
		 "xor crc32c_intel? crc32c_generic? libcrc32c btrfs loop xfs");
	order_is((const char *[]){"ext4", "built-in-one", NULL}, "");
	/* One that is wanted by name is no longer optional. */
	order_is((const char *[]){"libcrc32c", "crc32c-intel", NULL},
		 "crc32c_intel crc32c_generic? libcrc32c");
}

static void who_is_nowhere_is_named(void **state)
{
	(void)state;
	a_wrong_one_says((const char *[]){"zfs", NULL},
			 "no module zfs, and it is not built into this kernel");
	a_wrong_one_says((const char *[]){"broken", NULL}, "module broken: no module nowhere");
	a_wrong_one_says((const char *[]){"text", NULL}, "text.ko is not a kernel module");
}

/* No kernel has one, but a file can say anything. */
static void a_circle_ends(void **state)
{
	(void)state;
	order_is((const char *[]){"circle_a", NULL}, "circle_b circle_a");
}

static void without_a_list_of_what_is_built_in_all_may_be(void **state)
{
	(void)state;
	shell("mv %s/modules.builtin %s/kept", directory, directory);
	order_is((const char *[]){"ext4", "zfs", NULL}, "");
	shell("mv %s/kept %s/modules.builtin", directory, directory);
}

static void modules_lie_beside_their_kernel(void **state)
{
	struct arena arena = {0};
	struct error error;
	const char *found;
	char image[64];

	(void)state;
	snprintf(image, sizeof(image), "%s/boot/vmlinuz-6.1.0-test", top);
	assert_true(modules_locate(&found, NULL, image, "6.1.0-test", &arena, &error));
	assert_string_equal(found, directory);
	assert_true(modules_locate(&found, NULL, image, "6.2.0", &arena, &error));
	assert_null(found);
	assert_true(modules_locate(&found, top, "bzImage", "6.1.0-test", &arena, &error));
	assert_non_null(strstr(found, "6.1.0-test"));
	assert_true(modules_locate(&found, directory, "bzImage", "6.1.0-test", &arena, &error));
	assert_string_equal(found, directory);
	assert_false(modules_locate(&found, top, "bzImage", "6.2.0", &arena, &error));
	assert_non_null(strstr(error.message, "no modules of Linux 6.2.0 in "));
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_needed_comes_first),
		cmocka_unit_test(who_is_nowhere_is_named),
		cmocka_unit_test(a_circle_ends),
		cmocka_unit_test(without_a_list_of_what_is_built_in_all_may_be),
		cmocka_unit_test(modules_lie_beside_their_kernel),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
