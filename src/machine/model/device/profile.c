#include "machine/model/device/profile.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "machine/model/device/kind.h"
#include "source/shipped.h"
#include "source/yaml.h"

#define PARAMETERS struct device_profile
static const struct schema_key profile_keys[] = {
	PROFILE_KEY(
		kind, TEXT, kind_name, "required", 0, 0,
		"how it works: `flash`, `disk`, `volume` or `instant`; each has keys of its own"),
	PROFILE_KEY(summary, TEXT, summary, "", 0, 0, "one line for `refault list devices`"),
	PROFILE_KEY(source, TEXT, source, "", 0, 0, "where the numbers come from"),
	PROFILE_KEY(request_max, SIZE, request_bytes_max, "1280KiB", 4 * KIB, 64 * MIB,
		    "the largest request (max_sectors_kb); larger ones come in pieces"),
};
#undef PARAMETERS

struct schema_table device_profile_keys(struct device_profile *profile)
{
	return (struct schema_table){
		.keys = profile_keys,
		.count = sizeof(profile_keys) / sizeof(profile_keys[0]),
		.to = profile,
	};
}

static const char *kind_name_at(const void *context, size_t index)
{
	const struct device_kind *kind = device_kind_at(index);

	(void)context;
	return kind ? kind->name : NULL;
}

/* The kind is read before the rest: which other keys there may be depends on it. */
static bool kind_choose(struct device_profile *profile, const struct yaml *yaml,
			struct error *error)
{
	const struct yaml_node *node = yaml_get(yaml->root, "kind");
	const char *near;
	char found[128];

	if (yaml->root->kind != YAML_MAPPING)
		return true; /* schema_read() has a word for it */
	if (!node)
		return yaml_error_key(yaml, yaml->root, error,
				      "the profile needs the key \"kind\"");
	if (node->kind != YAML_SCALAR)
		return yaml_error(yaml, node, error, "kind must be a single value, not %s",
				  yaml_describe(found, node));
	for (size_t i = 0; (profile->kind = device_kind_at(i)); i++) {
		if (strcmp(profile->kind->name, node->text) == 0)
			return true;
	}
	near = nearest_word(node->text, kind_name_at, NULL);
	return yaml_error(
		yaml, node, error,
		"there is no kind of device \"%.60s\"%s%s%s (flash, disk, volume, instant)",
		node->text, near ? ": nearest is \"" : "", near ? near : "", near ? "\"" : "");
}

/* "KEY=VALUE,KEY=VALUE": instead of, or besides, what the profile says. */
static bool change(struct device_profile *profile, struct yaml *yaml, const char *changes,
		   struct error *error)
{
	while (*changes) {
		size_t length = strcspn(changes, ",");
		const char *one = arena_text(&profile->arena, changes, length);

		if (!yaml_set(yaml, one, error))
			return false;
		changes += length + (changes[length] == ',');
	}
	return true;
}

static bool parse(struct device_profile *profile, const char *text, size_t bytes,
		  const char *changes, struct error *error)
{
	struct schema_table tables[2] = {device_profile_keys(profile)};
	struct yaml yaml;
	size_t count = 1;

	if (!yaml_parse(&yaml, &profile->arena, profile->path, text, bytes, error) ||
	    !change(profile, &yaml, changes, error) || !kind_choose(profile, &yaml, error))
		return false;
	if (profile->kind) {
		profile->parameters =
			arena_alloc(&profile->arena, profile->kind->parameters_bytes + 1);
		tables[count++] = (struct schema_table){
			.keys = profile->kind->keys,
			.count = profile->kind->key_count,
			.to = profile->parameters,
		};
	}
	return schema_read(&yaml, yaml.root, "the profile", tables, count, error) &&
	       (!profile->kind->check ||
		profile->kind->check(profile->parameters, &yaml, yaml.root, error));
}

static struct device_profile *read_changed(const char *name, const char *text, size_t bytes,
					   const char *changes, struct error *error)
{
	struct device_profile *profile = memory_alloc(1, sizeof(*profile));
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	size_t length = strlen(base), end = strlen(".yaml");

	if (length > end && strcmp(base + length - end, ".yaml") == 0)
		length -= end;
	profile->name = arena_text(&profile->arena, base, length);
	if (*changes) {
		size_t size = length + strlen(changes) + sizeof(",");
		char *both = arena_alloc(&profile->arena, size);

		snprintf(both, size, "%.*s,%s", (int)length, base, changes);
		profile->name = both;
	}
	profile->path = arena_text(&profile->arena, name, strlen(name));
	profile->summary = profile->source = "";
	if (parse(profile, text, bytes, changes, error))
		return profile;
	device_profile_free(profile);
	return NULL;
}

struct device_profile *device_profile_read(const char *name, const char *text, size_t bytes,
					   struct error *error)
{
	return read_changed(name, text, bytes, "", error);
}

struct device_profile *device_profile_load(const char *name, struct error *error)
{
	struct device_profile *profile;
	char path[PATH_MAX], alone[PATH_MAX], *text;
	size_t bytes, length = strcspn(name, ",");
	const char *changes = name + length;

	/* A file's name may have a comma in it. */
	if (!strchr(changes, '='))
		length += strlen(changes);
	changes = name[length] ? name + length + 1 : "";
	if (length >= sizeof(alone)) {
		error_input(error, "a device's name is shorter than %d bytes", PATH_MAX);
		return NULL;
	}
	memcpy(alone, name, length);
	alone[length] = '\0';
	if (!shipped_device_find(path, sizeof(path), alone, error) ||
	    !shipped_device_read(&text, &bytes, path, YAML_BYTES_MAX, error))
		return NULL;
	profile = read_changed(path, text, bytes, changes, error);
	memory_free(text);
	return profile;
}

void device_profile_free(struct device_profile *profile)
{
	if (!profile)
		return;
	arena_deinit(&profile->arena);
	memory_free(profile);
}

const char *device_profile_name(const struct device_profile *profile)
{
	return profile->name;
}

const char *device_profile_summary(const struct device_profile *profile)
{
	return profile->summary;
}

const char *device_profile_source(const struct device_profile *profile)
{
	return profile->source;
}

const char *device_profile_kind(const struct device_profile *profile)
{
	return profile->kind->name;
}

uint64_t device_profile_size(const struct device_profile *profile)
{
	return profile->kind->size ? profile->kind->size(profile->parameters) : 0;
}

const char *device_profile_shipped(size_t index, const char **summary)
{
	const struct shipped *device = shipped_device_at(index);

	if (!device)
		return NULL;
	*summary = device->summary;
	return device->name;
}
