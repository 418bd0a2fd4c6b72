#include "record/canonical.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "op/path.h"

/* More than that is forgotten: memory is bounded. */
enum { REMEMBERED_MAX = 1 << 20 };

static_assert(CANONICAL_BYTES >= PATH_MAX, "realpath() writes so much");

void canonical_init(struct canonical *canonical)
{
	canonical->directories = path_table_create();
	canonical->plain = path_table_create();
}

void canonical_deinit(struct canonical *canonical)
{
	path_table_destroy(canonical->directories);
	path_table_destroy(canonical->plain);
	array_deinit(&canonical->real);
	arena_deinit(&canonical->texts);
	*canonical = (struct canonical){0};
}

void canonical_forget(struct canonical *canonical)
{
	canonical_deinit(canonical);
	canonical_init(canonical);
}

void canonical_moved(struct canonical *canonical, const char *from, const char *to)
{
	uint32_t id;

	if (path_find(canonical->directories, from, strlen(from), &id) ||
	    path_find(canonical->directories, to, strlen(to), &id))
		canonical_forget(canonical);
}

/* "/a/./b//../c" -> "/a/c", in place. */
static void tidy(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		size_t bytes;

		from += strspn(from, "/");
		bytes = strcspn(from, "/");
		if (bytes == 2 && memcmp(from, "..", 2) == 0) {
			while (to > path && *--to != '/')
				;
		} else if (bytes && !(bytes == 1 && *from == '.')) {
			*to++ = '/';
			memmove(to, from, bytes);
			to += bytes;
		}
		from += bytes;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

/* Of what is there the real path, and the rest behind it. */
static void look(const char *path, char real[CANONICAL_BYTES])
{
	char above[CANONICAL_BYTES], found[CANONICAL_BYTES];
	const char *rest;

	if (realpath(path, real))
		return;
	snprintf(above, sizeof(above), "%s", path);
	for (;;) {
		char *slash = strrchr(above, '/');

		if (!slash || slash == above)
			break;
		*slash = '\0';
		rest = path + (slash - above);
		if (!realpath(above, found))
			continue;
		if (snprintf(real, CANONICAL_BYTES, "%s%s", strcmp(found, "/") ? found : "", rest) <
		    CANONICAL_BYTES) {
			tidy(real);
			return;
		}
		break;
	}
	snprintf(real, CANONICAL_BYTES, "%s", path);
	tidy(real);
}

static const char *directory_look(struct canonical *canonical, const char *path)
{
	size_t bytes = strlen(path);
	char real[CANONICAL_BYTES];
	uint32_t id;

	if (path_find(canonical->directories, path, bytes, &id))
		return canonical->real.at[id];
	if (path_count(canonical->directories) >= REMEMBERED_MAX)
		canonical_forget(canonical);
	look(path, real);
	(void)path_intern(canonical->directories, path, bytes);
	return *array_push(&canonical->real) = arena_text(&canonical->texts, real, strlen(real));
}

static void follow(struct canonical *canonical, char path[CANONICAL_BYTES])
{
	char real[CANONICAL_BYTES];
	struct stat status;
	uint32_t id;

	if (path_find(canonical->plain, path, strlen(path), &id))
		return;
	if (lstat(path, &status) != 0)
		return;
	if (S_ISLNK(status.st_mode)) {
		if (realpath(path, real))
			memcpy(path, real, strlen(real) + 1);
		return;
	}
	if (path_count(canonical->plain) >= REMEMBERED_MAX)
		canonical_forget(canonical);
	(void)path_intern(canonical->plain, path, strlen(path));
}

bool canonical_path(struct canonical *canonical, const char *directory, const char *name,
		    bool follows, char path[CANONICAL_BYTES])
{
	char joined[2 * CANONICAL_BYTES];
	const char *above;
	char *last;
	size_t bytes;

	if (name[0] == '/')
		bytes = (size_t)snprintf(joined, sizeof(joined), "%s", name);
	else
		bytes = (size_t)snprintf(joined, sizeof(joined), "%s/%s",
					 strcmp(directory, "/") ? directory : "", name);
	if (bytes >= CANONICAL_BYTES)
		return false;
	while (bytes > 1 && joined[bytes - 1] == '/')
		joined[--bytes] = '\0';
	last = strrchr(joined, '/');
	if (strcmp(last, "/.") == 0 || strcmp(last, "/..") == 0 || strcmp(last, "/") == 0) {
		above = directory_look(canonical, joined);
		memcpy(path, above, strlen(above) + 1);
		return true;
	}
	*last++ = '\0';
	above = directory_look(canonical, joined[0] ? joined : "/");
	if (snprintf(path, CANONICAL_BYTES, "%s/%s", strcmp(above, "/") ? above : "", last) >=
	    CANONICAL_BYTES)
		return false;
	if (follows)
		follow(canonical, path);
	return true;
}
