#include "state/quantity.h"

#include <string.h>

#include "base/size.h"
#include "state/state_private.h"

struct source {
	const char *name, *sources, *meaning;
	enum quantity_unit unit;
};

static const struct source sources[] = {
#define QUANTITY(name, unit, sources, meaning) {#name, sources, meaning, UNIT_##unit},
#include "state/quantities.def"
#undef QUANTITY
};

static const char *const zones[] = {"dma", "dma32", "normal", "high", "movable", "device"};

/* A field's name in a source, up to + or @ or the end of it. */
struct term {
	const char *at;
	size_t bytes;
};

static bool is_name(const struct term *term, const char *name)
{
	const char *zone;

	if (term->at[term->bytes - 1] != '%')
		return strlen(name) == term->bytes && memcmp(name, term->at, term->bytes) == 0;
	if (strncmp(name, term->at, term->bytes - 1) != 0)
		return false;
	zone = name + term->bytes - 1;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		if (strcmp(zones[i], zone) == 0)
			return true;
	}
	return false;
}

static void sum_add(struct quantity *sum, const struct entry *entry)
{
	if (__builtin_add_overflow(sum->value, entry->values[0], &sum->value))
		sum->value = UINT64_MAX;
	if (sum->entry_count < QUANTITY_ENTRIES_MAX / 2)
		sum->entries[sum->entry_count++] = entry;
}

/* All entries of a term; false: there is none. */
static bool term_add(struct quantity *sum, const struct dump *dump, const struct term *term)
{
	bool any = false;

	for (size_t i = 0; i < dump->entries.count; i++) {
		if (!is_name(term, dump->entries.at[i].name))
			continue;
		sum_add(sum, &dump->entries.at[i]);
		any = true;
	}
	return any;
}

/*
 * Kernels that print nr_slab_* in bytes: then it is more than all the memory there is, which the
 * other levels of the same dump sum up to.
 */
static bool is_slab_in_bytes(const struct dump *dump, const struct entry *entry)
{
	static const char *const levels[] = {"nr_free_pages", "nr_file_pages", "nr_anon_pages",
					     "nr_active_file", "nr_inactive_file"};
	uint64_t pages = 0;

	if (strncmp(entry->name, "nr_slab_", 8) != 0)
		return false;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		const struct entry *level = dump_entry(dump, levels[i]);

		pages += level ? level->values[0] : 0;
	}
	return pages && entry->values[0] / 16 > pages;
}

static uint64_t scaled(const struct state *state, const struct dump *dump,
		       const struct quantity *sum, char scale)
{
	uint64_t factor = scale == 'p' ? state->page_bytes : scale == 'k' ? KIB : 1, value;

	if (scale == 'p' && sum->entry_count == 1 && is_slab_in_bytes(dump, sum->entries[0]))
		factor = 1;
	return __builtin_mul_overflow(sum->value, factor, &value) ? UINT64_MAX : value;
}

/* One alternative, "vmstat/pgpgin@k", in one dump. */
static bool alternative_read(const struct state *state, const struct dump *dump, const char *fields,
			     size_t bytes, struct quantity *sum)
{
	const char *at_sign = memchr(fields, '@', bytes);
	char scale = at_sign ? at_sign[1] : 0;
	const char *end = at_sign ? at_sign : fields + bytes;

	sum->value = 0;
	sum->entry_count = 0;
	for (const char *at = fields; at < end;) {
		const char *plus = memchr(at, '+', (size_t)(end - at));
		struct term term = {at, (size_t)((plus ? plus : end) - at)};

		/* Without the first there is nothing; the others are added where they are. */
		if (!term_add(sum, dump, &term) && at == fields)
			return false;
		at += term.bytes + 1;
	}
	sum->value = scaled(state, dump, sum, scale);
	sum->scale = scale == 'p' ? " pages" : scale == 'k' ? " KiB" : "";
	sum->known = true;
	return true;
}

/* Which dump of a series, and of which series: any, or one with a pair. */
enum which { THE_LAST, THE_FIRST_OF_A_PAIR, THE_LAST_OF_A_PAIR };

static const struct series *alternative_find(const struct view *view, const char *alternative,
					     size_t bytes, enum which which, struct quantity *sum)
{
	const struct state *state = view->state;
	const char *slash = memchr(alternative, '/', bytes);
	size_t name_bytes = (size_t)(slash - alternative);
	size_t end, from = series_of(state, view->cgroup, &end);

	/* Dumps that are not one of several (memory.events before memory.events.local) come first. */
	for (int named = 0; named < 2; named++) {
		for (size_t i = from; i < end; i++) {
			const struct series *series = &state->series.at[i];
			const char *name = dump_name(series->id);

			if ((series->name[0] != '\0') != named || strlen(name) != name_bytes ||
			    memcmp(name, alternative, name_bytes) != 0 ||
			    (which != THE_LAST && series->first == series->last))
				continue;
			if (alternative_read(state,
					     which == THE_FIRST_OF_A_PAIR ? series->first
									  : series->last,
					     slash + 1, bytes - name_bytes - 1, sum))
				return series;
		}
	}
	return NULL;
}

static const struct series *quantity_find(const struct view *view, enum quantity_id id,
					  enum which which, struct quantity *quantity,
					  const char **alternative, size_t *bytes)
{
	const char *at = sources[id].sources;

	*quantity = (struct quantity){.unit = sources[id].unit, .scale = ""};
	while (*at) {
		size_t length = strcspn(at, " ");
		const struct series *series = alternative_find(view, at, length, which, quantity);

		if (series) {
			*alternative = at;
			*bytes = length;
			/* Where there is no limit, there is none to be known. */
			if (quantity->value == VALUE_UNLIMITED ||
			    (id == QUANTITY_limit && quantity->value >> 60))
				quantity->known = false;
			if (id == QUANTITY_uptime)
				quantity->value *= NS_PER_SECOND / 100;
			return series;
		}
		at += length;
		at += strspn(at, " ");
	}
	return NULL;
}

struct quantity quantity_now(const struct view *view, enum quantity_id id)
{
	struct quantity quantity;
	const char *alternative;
	size_t bytes;

	quantity_find(view, id, THE_LAST, &quantity, &alternative, &bytes);
	return quantity;
}

bool quantity_pair(const struct view *view, enum quantity_id id, struct quantity *before,
		   struct quantity *after)
{
	const char *alternative;
	const char *slash;
	size_t bytes;
	const struct series *series =
		quantity_find(view, id, THE_LAST_OF_A_PAIR, after, &alternative, &bytes);

	*before = (struct quantity){.unit = sources[id].unit, .scale = after->scale};
	if (!series || !after->known)
		return false;
	slash = memchr(alternative, '/', bytes);
	return alternative_read(view->state, series->first, slash + 1,
				(size_t)(alternative + bytes - slash - 1), before);
}

/* Each of the fields by itself, so that one that wrapped is seen. In the sum's own unit. */
static bool fields_change(const struct quantity *before, const struct quantity *after,
			  uint64_t *change)
{
	*change = 0;
	if (before->entry_count != after->entry_count)
		return false;
	for (size_t i = 0; i < before->entry_count; i++) {
		uint64_t one;

		if (strcmp(before->entries[i]->name, after->entries[i]->name) != 0 ||
		    !counter_change(before->entries[i]->values[0], after->entries[i]->values[0],
				    &one) ||
		    __builtin_add_overflow(*change, one, change))
			return false;
	}
	return true;
}

struct quantity quantity_change(const struct view *view, enum quantity_id id)
{
	struct quantity before, after, change;
	const char *alternative;
	size_t bytes;
	const struct series *series =
		quantity_find(view, id, THE_LAST_OF_A_PAIR, &after, &alternative, &bytes);
	const char *scale;

	change = (struct quantity){.unit = sources[id].unit, .scale = after.scale};
	if (!series || series->order == SERIES_RESET)
		return change;
	before = (struct quantity){.unit = sources[id].unit};
	scale = memchr(alternative, '/', bytes);
	if (!alternative_read(view->state, series->first, scale + 1,
			      (size_t)(alternative + bytes - scale - 1), &before) ||
	    !fields_change(&before, &after, &change.value))
		return change;
	scale = memchr(alternative, '@', bytes);
	if (scale &&
	    __builtin_mul_overflow(change.value, scale[1] == 'p' ? view->state->page_bytes : KIB,
				   &change.value))
		return change;
	change.known = true;
	change.has_interval = series->has_interval && series->interval_ns;
	change.interval_ns = series->interval_ns;
	for (size_t i = 0; i < before.entry_count; i++)
		change.entries[change.entry_count++] = before.entries[i];
	for (size_t i = 0; i < after.entry_count; i++)
		change.entries[change.entry_count++] = after.entries[i];
	return change;
}

const char *quantity_name(enum quantity_id id)
{
	return sources[id].name;
}

const char *quantity_meaning(enum quantity_id id)
{
	return sources[id].meaning;
}

uint64_t quantity_or_zero(const struct quantity *quantity)
{
	return quantity->known ? quantity->value : 0;
}

double share_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

double per_second(uint64_t amount, uint64_t interval_ns)
{
	return interval_ns ? (double)amount * (double)NS_PER_SECOND / (double)interval_ns : 0;
}

bool is_share_at_least(uint64_t part, uint64_t whole, uint64_t percent)
{
	return (unsigned __int128)part * 100 >= (unsigned __int128)whole * percent;
}

bool is_rate_at_least(uint64_t amount, uint64_t interval_ns, uint64_t per_second)
{
	return (unsigned __int128)amount * NS_PER_SECOND >=
	       (unsigned __int128)interval_ns * per_second;
}
