/*
 * page_size: how many bytes the pages are that vmstat and slabinfo count in
 *
 * Nothing says it. But meminfo has in kB what vmstat has in pages, and where both were dumped one
 * size fits: what it is for most of the figures that both have, within 1 part in 16 (they are read one
 * after the other, and change meanwhile). Without such a pair, slabs do not waste much: a slab's
 * objects fill at least half of its pages, and at most all. And without that, 4 KiB.
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "state/dump.h"
#include "state/slab.h"
#include "state/state_private.h"

static const uint64_t sizes[] = {4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 256 * KIB};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), TOLERANCE = 16 };

struct twins {
	const char *in_vmstat, *in_meminfo;
};

static const struct twins twins[] = {
	{"nr_free_pages", "MemFree"},
	{"nr_inactive_file", "Inactive(file)"},
	{"nr_active_file", "Active(file)"},
	{"nr_anon_pages", "AnonPages"},
	{"nr_mapped", "Mapped"},
	{"nr_shmem", "Shmem"},
	{"nr_slab_reclaimable", "SReclaimable"},
	{"nr_slab_unreclaimable", "SUnreclaim"},
	{"nr_page_table_pages", "PageTables"},
	{"nr_inactive", "Inactive"},
	{"nr_active", "Active"},
	{"nr_slab", "Slab"},
};

static bool is_near(uint64_t a, uint64_t b)
{
	uint64_t apart = a > b ? a - b : b - a;

	return apart <= (a > b ? a : b) / TOLERANCE;
}

/* By which of the sizes the one is the other; SIZES: none, or too little to tell. */
static size_t fitting(const struct entry *pages, const struct entry *bytes)
{
	/* Below this, rounding to a whole page of 64 KiB is more than the tolerance. */
	if (!pages || !bytes || bytes->values[0] < MIB || pages->values[0] == 0)
		return SIZES;
	for (size_t i = 0; i < SIZES; i++) {
		uint64_t product;

		if (!__builtin_mul_overflow(pages->values[0], sizes[i], &product) &&
		    is_near(product, bytes->values[0]))
			return i;
	}
	return SIZES;
}

/* How many figures of two dumps fit by the size that most of them fit by. */
static size_t count_fitting(const struct dump *vmstat, const struct dump *meminfo, uint64_t *size,
			    const struct entry *evidence[2])
{
	size_t votes[SIZES + 1] = {0}, best = 0;
	const struct entry *pages[SIZES + 1] = {0}, *bytes[SIZES + 1] = {0};

	for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++) {
		const struct entry *in_pages = dump_entry(vmstat, twins[i].in_vmstat);
		const struct entry *in_bytes = dump_entry(meminfo, twins[i].in_meminfo);
		size_t which = fitting(in_pages, in_bytes);

		votes[which]++;
		if (!pages[which]) {
			pages[which] = in_pages;
			bytes[which] = in_bytes;
		}
	}
	for (size_t i = 1; i < SIZES; i++) {
		if (votes[i] > votes[best])
			best = i;
	}
	*size = sizes[best];
	evidence[0] = pages[best];
	evidence[1] = bytes[best];
	return votes[best];
}

static bool from_meminfo(struct state *state)
{
	size_t most = 0;

	for (size_t i = 0; i < state->dumps.count; i++) {
		const struct dump *vmstat = state->dumps.at[i];

		for (size_t j = 0; vmstat->id == DUMP_VMSTAT && j < state->dumps.count; j++) {
			const struct dump *meminfo = state->dumps.at[j];
			const struct entry *evidence[2];
			uint64_t size;
			size_t count;

			if (meminfo->id != DUMP_MEMINFO)
				continue;
			count = count_fitting(vmstat, meminfo, &size, evidence);
			if (count <= most)
				continue;
			most = count;
			state->page_bytes = size;
			state->page_bytes_evidence[0] = evidence[0];
			state->page_bytes_evidence[1] = evidence[1];
		}
	}
	return most > 0;
}

/* The largest page that some cache's objects need; slabs of larger pages would be half empty. */
static bool from_slabinfo(struct state *state)
{
	const struct series *series = state_series(state, DUMP_SLABINFO, NULL, NULL);
	uint64_t most = 0;

	for (size_t i = 0; series && i < series->last->entries.count; i++) {
		const struct entry *entry = &series->last->entries.at[i];
		uint64_t filled;

		if (entry->value_count < SLAB_VALUES || entry->values[SLAB_PAGES] == 0 ||
		    entry->values[SLAB_PER_SLAB] < 8 ||
		    __builtin_mul_overflow(entry->values[SLAB_SIZE], entry->values[SLAB_PER_SLAB],
					   &filled))
			continue;
		filled /= entry->values[SLAB_PAGES];
		if (filled <= most)
			continue;
		most = filled;
		state->page_bytes_evidence[0] = entry;
	}
	for (size_t i = 0; most && i < SIZES; i++) {
		if (most > sizes[i] || most <= sizes[i] / 2)
			continue;
		state->page_bytes = sizes[i];
		return true;
	}
	state->page_bytes_evidence[0] = NULL;
	return false;
}

bool page_bytes_find(struct state *state, struct error *error)
{
	uint64_t said = state->options.page_bytes;

	if (from_meminfo(state)) {
		state->page_bytes_from = "vmstat's pages against meminfo's kB";
	} else if (from_slabinfo(state)) {
		state->page_bytes_from = "what slabs hold";
	} else {
		state->page_bytes = PAGE_BYTES;
		state->page_bytes_from = "assumed";
	}
	if (!said)
		return true;
	if (state->page_bytes_evidence[1] && said != state->page_bytes) {
		const struct entry *pages = state->page_bytes_evidence[0];
		const struct entry *bytes = state->page_bytes_evidence[1];

		return error_input(error,
				   "--page-size says %" PRIu64 " bytes, but %s:%" PRIu64
				   " has %" PRIu64 " pages of what are %" PRIu64
				   " kB in %s:%" PRIu64 ": pages of %" PRIu64 " bytes",
				   said, pages->file, pages->line, pages->values[0],
				   bytes->values[0] / KIB, bytes->file, bytes->line,
				   state->page_bytes);
	}
	state->page_bytes = said;
	state->page_bytes_from = "said";
	state->page_bytes_evidence[0] = NULL;
	return true;
}
