#include "machine/kernel/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

char *text_file_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0, capacity = 4096;
	char *text;
	ssize_t got;

	if (fd < 0)
		return NULL;
	text = memory_alloc(capacity, 1);
	while ((got = read(fd, text + used, capacity - used - 1)) > 0) {
		used += (size_t)got;
		if (capacity - used < 2048) {
			capacity *= 2;
			text = memory_resize(text, capacity, 1);
		}
	}
	text[used] = '\0';
	if (got < 0) {
		int failed = errno;

		memory_free(text);
		text = NULL;
		errno = failed;
	}
	close(fd);
	return text;
}

bool text_file_number(const char *path, uint64_t *value)
{
	char *text = text_file_read(path), *end;
	bool found = false;

	if (text) {
		*value = strtoull(text, &end, 10);
		found = end != text;
	}
	memory_free(text);
	return found;
}

bool text_file_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t bytes = (ssize_t)strlen(value);
	bool written;
	int failed;

	if (fd < 0)
		return false;
	written = write(fd, value, (size_t)bytes) == bytes;
	failed = errno;
	close(fd);
	errno = failed;
	return written;
}

bool text_field(const char *text, const char *name, uint64_t *value)
{
	size_t bytes = strlen(name);

	while (text && *text) {
		if (strncmp(text, name, bytes) == 0 && (text[bytes] == ' ' || text[bytes] == ':')) {
			*value = strtoull(text + bytes + 1, NULL, 10);
			return true;
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return false;
}
