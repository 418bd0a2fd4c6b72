#include "source/digest.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "source/scenario.h"

enum { CHUNK_BYTES = 1 << 20 };

static void finish(char digest[DIGEST_BYTES], XXH3_state_t *state)
{
	snprintf(digest, DIGEST_BYTES, "%016llx", (unsigned long long)XXH3_64bits_digest(state));
	XXH3_freeState(state);
}

static XXH3_state_t *begin(void)
{
	XXH3_state_t *state = XXH3_createState();

	if (state)
		XXH3_64bits_reset(state);
	return state;
}

bool digest_file(char digest[DIGEST_BYTES], const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	XXH3_state_t *state;
	struct stat status;
	ssize_t bytes = -1;
	char *chunk;

	if (file < 0)
		return false;
	state = begin();
	chunk = memory_alloc(CHUNK_BYTES, 1);
	if (state && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
		while ((bytes = read(file, chunk, CHUNK_BYTES)) > 0)
			XXH3_64bits_update(state, chunk, (size_t)bytes);
	memory_free(chunk);
	close(file);
	if (bytes == 0)
		finish(digest, state);
	else
		XXH3_freeState(state);
	return bytes == 0;
}

/* ---- scenarios ---- */

static void text_add(XXH3_state_t *state, const char *text)
{
	/* With the NUL, so that "ab", "c" is not "a", "bc". */
	XXH3_64bits_update(state, text ? text : "", strlen(text ? text : "") + 1);
}

static void node_add(XXH3_state_t *state, const struct yaml_node *node)
{
	const char kind[] = {(char)('0' + (int)node->kind), node->is_null ? '~' : '-', '\0'};

	text_add(state, node->key);
	text_add(state, kind);
	if (node->kind == YAML_SCALAR)
		text_add(state, node->text);
	for (const struct yaml_node *child = node->first; child; child = child->next)
		node_add(state, child);
	text_add(state, ".");
}

static bool is_among(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (key && strcmp(*keys, key) == 0)
			return true;
	return false;
}

void digest_scenario(char digest[DIGEST_BYTES], const struct scenario *scenario)
{
	static const char *const decide[] = {"machine", "files", "jobs", "sync", NULL};
	static const char *const told[] = {"policy", NULL}; /* of a machine */
	XXH3_state_t *state = begin();

	snprintf(digest, DIGEST_BYTES, "%016d", 0);
	if (!state)
		return;
	for (const struct yaml_node *part = scenario->yaml.root->first; part; part = part->next) {
		bool is_machine = part->key && strcmp(part->key, "machine") == 0;

		if (!is_among(part->key, decide))
			continue;
		text_add(state, part->key);
		for (const struct yaml_node *node = part->first; node; node = node->next)
			if (!is_machine || !is_among(node->key, told))
				node_add(state, node);
		if (part->kind == YAML_SCALAR)
			text_add(state, part->text);
	}
	finish(digest, state);
}
