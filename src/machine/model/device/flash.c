/*
 * flash: an SSD, or memory that behaves like one
 *
 * Idea       `channels` requests are in hand at once. A read takes a time drawn by lot, a piece more
 *            for what exceeds 4 KiB, and the link's bandwidth and the controller's requests a second
 *            bound what all of them together may have.
 *
 *            Without a cache, a write takes a channel as a read does. With one, it is done once the
 *            cache has it, and the cache empties itself into the cells: not before `drain_begin` has
 *            come together, then until nothing is left. It gives one die after the other
 *            `program_run` programs to do, and now and then an erase; a read for that die waits
 *            behind them. That is where a read beside a burst of writes loses milliseconds:
 *
 *                 cache   ####______####__      fills, is drained, fills ...
 *                 die 0   ....PPPPP.PPPPE.      the programs it was given, and an erase
 *                 read            ^---->r       comes, waits for the programs, is read
 *
 *            A full cache takes a write when the drain has made room.
 *
 *            A flush waits until what the cache has taken so far is safe: at `flush_bandwidth`, which
 *            is the drain's, or (an SLC cache keeps its contents) faster; and then `flush_time`. Of
 *            those that come meanwhile, one stands for all.
 * Source     Section E of the database workloads of the design notes: service model, interference
 *            rule. One flush for all: Linux 6.12 block/blk-flush.c, the opening comment. That a SATA
 *            flush is alone (`flush_holds: everything`): it is no queued command, libata lets the
 *            others end first and begins no other (drivers/ata/libata-sata.c,
 *            sata_pmp_qc_defer and ata_std_qc_defer).
 * Differs    1. No translation layer: where data lies in the cells is a hash of its place, no
 *               collection of garbage beyond what the drain's bandwidth allows for, no wear.
 *            2. What is still in the cache is read like anything else.
 *            3. The bandwidth is that of the moment a request begins: requests share the link in that
 *               order, not byte by byte.
 *            4. A flush that is alone waits for what has begun; what a drive would have in its queue
 *               besides goes after it.
 *            5. A program is not suspended for a read (drives of the data centre do so): a profile of
 *               such a drive has a small `program_run`.
 */
#include <inttypes.h>

#include "machine/model/agenda.h"
#include "machine/model/device/kind.h"
#include "machine/model/device/profile.h"
#include "machine/model/device/queue.h"
#include "machine/model/device/spread.h"
#include "source/yaml.h"

enum { HOLDS_NOTHING, HOLDS_WRITES, HOLDS_EVERYTHING };

struct flash_parameters {
	uint64_t channels;
	uint64_t read_ns, read_sigma, tail_millionths, tail_ns;
	uint64_t write_ns, write_sigma;
	uint64_t channel_bytes_per_s, stripe_bytes;
	uint64_t read_bytes_per_s, write_bytes_per_s;
	uint64_t read_iops, write_iops;
	uint64_t cache_bytes, drain_begin_bytes, drain_bytes_per_s;
	uint64_t flush_ns, flush_bytes_per_s;
	bool is_volatile;
	uint32_t flush_holds;
	uint64_t program_bytes, program_ns_min, program_ns_max, program_run;
	uint64_t erase_every, erase_ns_min, erase_ns_max;
};

#define PARAMETERS struct flash_parameters
static const struct schema_key keys[] = {
	PROFILE_KEY(channels, NUMBER, channels, "required", 1, PROFILE_CHANNELS_MAX,
		    "how many requests it has in hand at once"),
	PROFILE_KEY(read_latency, TIME, read_ns, "required", 1, SPREAD_NS_MAX,
		    "mean of a read of 4 KiB that meets nobody"),
	PROFILE_KEY(read_sigma, RATIO, read_sigma, "0", 0, SPREAD_SIGMA_MAX,
		    "deviation of its logarithm"),
	PROFILE_KEY(tail_probability, RATIO, tail_millionths, "0", 0, 1000000,
		    "of reads that take `tail_time` more"),
	PROFILE_KEY(tail_time, TIME, tail_ns, "0", 0, SPREAD_NS_MAX,
		    "its mean; between half and one and a half of it"),
	PROFILE_KEY(write_latency, TIME, write_ns, "required", 1, SPREAD_NS_MAX,
		    "mean of a write of 4 KiB; with a cache, until that has it"),
	PROFILE_KEY(write_sigma, RATIO, write_sigma, "0", 0, SPREAD_SIGMA_MAX,
		    "deviation of its logarithm"),
	PROFILE_KEY(channel_bandwidth, BANDWIDTH, channel_bytes_per_s, "", 1, PROFILE_BANDWIDTH_MAX,
		    "at which what exceeds 4 KiB comes out of the cells; at once if not given"),
	PROFILE_KEY(stripe, SIZE, stripe_bytes, "16KiB", 4 * KIB, GIB,
		    "larger requests are spread, and take no longer than so much"),
	PROFILE_KEY(read_bandwidth, BANDWIDTH, read_bytes_per_s, "required", 1,
		    PROFILE_BANDWIDTH_MAX, "of all reads together"),
	PROFILE_KEY(write_bandwidth, BANDWIDTH, write_bytes_per_s, "required", 1,
		    PROFILE_BANDWIDTH_MAX, "of all writes together"),
	PROFILE_KEY(read_iops, NUMBER, read_iops, "", 1, PROFILE_IOPS_MAX,
		    "reads a second; what the channels can do if not given"),
	PROFILE_KEY(write_iops, NUMBER, write_iops, "", 1, PROFILE_IOPS_MAX,
		    "writes a second, likewise"),
	PROFILE_KEY(
		cache, SIZE, cache_bytes, "0", 0, PROFILE_BYTES_MAX,
		"what it takes before it is in its cells; 0: writes are done when they are there"),
	PROFILE_KEY(cache_volatile, FLAG, is_volatile, "yes", 0, 0,
		    "whether a flush has to wait for it; `no`: it survives a loss of power"),
	PROFILE_KEY(drain, BANDWIDTH, drain_bytes_per_s, "", 1, PROFILE_BANDWIDTH_MAX,
		    "at which the cache goes into the cells; required with a cache"),
	PROFILE_KEY(drain_begin, SIZE, drain_begin_bytes, "0", 0, PROFILE_BYTES_MAX,
		    "so much comes together before it does"),
	PROFILE_KEY(flush_time, TIME, flush_ns, "0", 0, SPREAD_NS_MAX,
		    "of a flush, besides what the cache holds"),
	PROFILE_KEY(flush_bandwidth, BANDWIDTH, flush_bytes_per_s, "", 1, PROFILE_BANDWIDTH_MAX,
		    "at which a flush makes safe what the cache holds; `drain` if not given"),
	PROFILE_WORDS(flush_holds, flush_holds, "writes", "nothing|writes|everything",
		      "what waits for a flush to end; `everything`: and the flush for all that is "
		      "under way"),
	PROFILE_KEY(program_size, SIZE, program_bytes, "32KiB", 4 * KIB, GIB,
		    "what one program writes into a die"),
	PROFILE_KEY(program_time_min, TIME, program_ns_min, "0", 0, SPREAD_NS_MAX,
		    "how long that takes, at least"),
	PROFILE_KEY(program_time_max, TIME, program_ns_max, "0", 0, SPREAD_NS_MAX,
		    "and at most; 0: reads never meet one"),
	PROFILE_KEY(program_run, NUMBER, program_run, "1", 1, 100000,
		    "programs that a die does in a row, reads waiting"),
	PROFILE_KEY(erase_every, NUMBER, erase_every, "", 1, PROFILE_IOPS_MAX,
		    "programs of all dies for which one erases; if not given, none does"),
	PROFILE_KEY(erase_time_min, TIME, erase_ns_min, "0", 0, SPREAD_NS_MAX,
		    "how long that takes, at least"),
	PROFILE_KEY(erase_time_max, TIME, erase_ns_max, "0", 0, SPREAD_NS_MAX, "and at most"),
};

struct flash {
	struct device base;
	const struct flash_parameters *parameters;
	struct random random;
	struct spread read, write;
	struct flights flights;
	struct agenda agenda;

	struct queue media;  /* who wants a channel */
	struct ring behind;  /* who waited for a die, and now wants one: goes first */
	struct queue accept; /* who wants into the cache */
	uint64_t free_channels, free_accepts;
	uint64_t in_flight; /* begun, flushes not counted */

	struct pace_of_bytes channel_pace, read_pace, write_pace, drain_pace, flush_pace;
	uint64_t read_gap_ns, write_gap_ns; /* between two requests, at most so often */
	/* until when the link and the controller are taken, by direction */
	uint64_t link_ns[2], gap_ns[2];

	uint64_t cached_bytes;
	uint64_t draining_bytes; /* 0: no drain; leave the cache at drain_ns */
	uint64_t drain_ns;
	uint64_t safe_ns; /* when all that the cache has taken is safe */
	uint64_t *die_free_ns;
	uint64_t next_die, programs;

	struct ring flushes, flushing;
	bool is_flushing;
};

/* FLASH_MEDIA: or a write that took a channel. */
enum { FLASH_MEDIA, FLASH_ACCEPTED, FLASH_DIE, FLASH_FLUSHED };

static bool check(const void *parameters, const struct yaml *yaml, const struct yaml_node *node,
		  struct error *error)
{
	const struct flash_parameters *p = parameters;
	unsigned __int128 needed, there;

	if (p->program_ns_min > p->program_ns_max)
		return yaml_error_key(yaml, yaml_get(node, "program_time_min"), error,
				      "program_time_min is more than program_time_max");
	if (p->erase_ns_min > p->erase_ns_max)
		return yaml_error_key(yaml, yaml_get(node, "erase_time_min"), error,
				      "erase_time_min is more than erase_time_max");
	if (!p->cache_bytes)
		return true;
	if (!p->drain_bytes_per_s)
		return yaml_error_key(yaml, yaml_get(node, "cache"), error,
				      "with a cache, the profile needs the key \"drain\"");
	if (p->cache_bytes < 4 * MIB)
		return yaml_error(yaml, yaml_get(node, "cache"), error,
				  "a cache has at least 4 MiB (none: 0)");
	if (p->drain_begin_bytes >= p->cache_bytes)
		return yaml_error(yaml, yaml_get(node, "drain_begin"), error,
				  "drain_begin must be less than the cache: it would never begin");
	/* Each second: what the dies must program, and the time that they have. */
	needed = (unsigned __int128)p->drain_bytes_per_s *
		 ((p->program_ns_min + p->program_ns_max) / 2 +
		  (p->erase_every ? (p->erase_ns_min + p->erase_ns_max) / 2 / p->erase_every : 0));
	there = (unsigned __int128)p->channels * NS_PER_SECOND * p->program_bytes;
	if (needed > there)
		return yaml_error(yaml, yaml_get(node, "drain"), error,
				  "so many channels cannot program as fast as that: with this "
				  "program_size and time at most %" PRIu64 " MB/s",
				  (uint64_t)((unsigned __int128)p->drain_bytes_per_s * there /
					     needed / 1000000));
	return true;
}

static struct device *create(const void *parameters, uint64_t size_bytes, uint64_t seed)
{
	struct flash *flash = memory_alloc(1, sizeof(*flash));
	const struct flash_parameters *p = parameters;

	(void)size_bytes;
	flash->parameters = p;
	random_init(&flash->random, seed, 0);
	spread_init(&flash->read, p->read_ns, p->read_sigma);
	spread_init(&flash->write, p->write_ns, p->write_sigma);
	flash->free_channels = flash->free_accepts = p->channels;
	flash->channel_pace = pace_of_bytes(p->channel_bytes_per_s);
	flash->read_pace = pace_of_bytes(p->read_bytes_per_s);
	flash->write_pace = pace_of_bytes(p->write_bytes_per_s);
	flash->drain_pace = pace_of_bytes(p->drain_bytes_per_s);
	flash->flush_pace =
		pace_of_bytes(p->flush_bytes_per_s ? p->flush_bytes_per_s : p->drain_bytes_per_s);
	flash->read_gap_ns = p->read_iops ? NS_PER_SECOND / p->read_iops : 0;
	flash->write_gap_ns = p->write_iops ? NS_PER_SECOND / p->write_iops : 0;
	flash->die_free_ns = memory_alloc(p->channels, sizeof(*flash->die_free_ns));
	return &flash->base;
}

static void destroy(struct device *device)
{
	struct flash *flash = (struct flash *)device;

	queue_deinit(&flash->media);
	queue_deinit(&flash->accept);
	memory_free(flash->behind.at);
	memory_free(flash->flushes.at);
	memory_free(flash->flushing.at);
	agenda_deinit(&flash->agenda);
	array_deinit(&flash->flights.at);
	memory_free(flash->die_free_ns);
	memory_free(flash);
}

/* ---- the cache goes into the cells ---- */

/* The next die gets its programs; what they write leaves the cache when the drain is through. */
static void drain_go_on(struct flash *flash, uint64_t now_ns)
{
	const struct flash_parameters *p = flash->parameters;
	uint64_t bytes = lesser(flash->cached_bytes, p->program_run * p->program_bytes), busy = 0;

	flash->draining_bytes = bytes;
	flash->drain_ns = now_ns + pace_ns(flash->drain_pace, bytes);
	if (p->program_ns_max == 0 || bytes == 0)
		return;
	for (uint64_t done = 0; done < bytes; done += p->program_bytes) {
		busy += spread_between(&flash->random, p->program_ns_min, p->program_ns_max);
		if (p->erase_every && ++flash->programs % p->erase_every == 0)
			busy += spread_between(&flash->random, p->erase_ns_min, p->erase_ns_max);
	}
	flash->die_free_ns[flash->next_die] =
		later(flash->die_free_ns[flash->next_die], now_ns) + busy;
	flash->next_die = (flash->next_die + 1) % p->channels;
}

static void drained(struct flash *flash, uint64_t now_ns)
{
	flash->cached_bytes -= flash->draining_bytes;
	drain_go_on(flash, now_ns);
}

/* ---- requests ---- */

/* From its beginning: the cells or the cache, then whatever all have to share. */
static uint64_t service_ns(struct flash *flash, const struct flight *flight, uint64_t now_ns)
{
	const struct flash_parameters *p = flash->parameters;
	bool is_read = flight->op == DEVICE_READ;
	uint64_t lot = random_next(&flash->random);
	uint64_t done_ns = now_ns + spread_draw(is_read ? &flash->read : &flash->write, lot);
	uint64_t bytes = lesser(flight->bytes, p->stripe_bytes);
	uint64_t *link_ns = &flash->link_ns[flight->op], *gap_ns = &flash->gap_ns[flight->op];

	if (bytes > 4 * KIB && (is_read || !p->cache_bytes))
		done_ns += pace_ns(flash->channel_pace, bytes - 4 * KIB);
	/* The lot's lower half is as random as the upper. */
	if (is_read && (lot & UINT32_MAX) * 1000000 >> 32 < p->tail_millionths)
		done_ns += spread_between(&flash->random, p->tail_ns / 2, p->tail_ns / 2 * 3);
	*link_ns = later(*link_ns, now_ns) +
		   pace_ns(is_read ? flash->read_pace : flash->write_pace, flight->bytes);
	*gap_ns = later(*gap_ns, now_ns) + (is_read ? flash->read_gap_ns : flash->write_gap_ns);
	return later(done_ns, later(*link_ns, *gap_ns));
}

static uint64_t die_of(const struct flash *flash, uint64_t offset)
{
	uint64_t mixed = (offset / (16 * KIB)) * UINT64_C(0x9e3779b97f4a7c15);

	return (mixed >> 32) * flash->parameters->channels >> 32;
}

/* A channel is free: use it, unless the request has to wait for its die. */
static void media_start(struct flash *flash, uint64_t now_ns, uint32_t id, bool has_waited)
{
	const struct flight *flight = &flash->flights.at.at[id];

	if (!has_waited) {
		uint64_t free_ns = flash->die_free_ns[die_of(flash, flight->offset)];

		flash->in_flight++;
		if (free_ns > now_ns) {
			agenda_add(&flash->agenda, free_ns, FLASH_DIE, id);
			return;
		}
	}
	flash->free_channels--;
	agenda_add(&flash->agenda, service_ns(flash, flight, now_ns), FLASH_MEDIA, id);
}

static void accept_start(struct flash *flash, uint64_t now_ns, uint32_t id)
{
	const struct flight *flight = &flash->flights.at.at[id];

	flash->in_flight++;
	flash->free_accepts--;
	flash->cached_bytes += flight->bytes;
	flash->safe_ns = later(flash->safe_ns, now_ns) + pace_ns(flash->flush_pace, flight->bytes);
	agenda_add(&flash->agenda, service_ns(flash, flight, now_ns), FLASH_ACCEPTED, id);
	if (!flash->draining_bytes && flash->cached_bytes > flash->parameters->drain_begin_bytes)
		drain_go_on(flash, now_ns);
}

static void requests_start(struct flash *flash, uint64_t now_ns)
{
	bool may_write = !flash->is_flushing || flash->parameters->flush_holds == HOLDS_NOTHING;

	while (flash->free_channels && !queue_is_empty(&flash->media))
		media_start(flash, now_ns, queue_pop(&flash->media), false);
	while (may_write && flash->free_accepts && !queue_is_empty(&flash->accept)) {
		uint64_t bytes = flash->flights.at.at[queue_peek(&flash->accept)].bytes;

		if (flash->cached_bytes &&
		    flash->cached_bytes + bytes > flash->parameters->cache_bytes) {
			/* Room is made, however little the cache holds. */
			if (!flash->draining_bytes)
				drain_go_on(flash, now_ns);
			break;
		}
		accept_start(flash, now_ns, queue_pop(&flash->accept));
	}
}

/* ---- flushes ---- */

static void flush_end(struct flash *flash, uint64_t now_ns)
{
	while (flash->flushing.count) {
		uint32_t id = ring_pop(&flash->flushing);

		device_done(&flash->base, now_ns, flash->flights.at.at[id].tag);
		flight_give_back(&flash->flights, id);
	}
	flash->is_flushing = false;
}

static bool flush_is_alone(const struct flash *flash)
{
	return flash->parameters->flush_holds == HOLDS_EVERYTHING && flash->parameters->cache_bytes;
}

/* Those that wait begin, as one. */
static void flush_start(struct flash *flash, uint64_t now_ns)
{
	uint64_t end_ns = now_ns;
	struct ring none = flash->flushing;

	if (flash->is_flushing || !flash->flushes.count ||
	    (flush_is_alone(flash) && flash->in_flight))
		return;
	flash->flushing = flash->flushes;
	flash->flushes = none;
	flash->is_flushing = true;
	if (flash->parameters->is_volatile)
		end_ns = later(end_ns, flash->safe_ns);
	end_ns += flash->parameters->flush_ns;
	if (end_ns == now_ns)
		flush_end(flash, now_ns);
	else
		agenda_add(&flash->agenda, end_ns, FLASH_FLUSHED, 0);
}

/* Whoever may go, goes: those that wait for a flush have had their turn before the next one. */
static void dispatch(struct flash *flash, uint64_t now_ns)
{
	/* These are under way: a flush waits for them. */
	while (flash->free_channels && flash->behind.count)
		media_start(flash, now_ns, ring_pop(&flash->behind), true);
	if (!flush_is_alone(flash) || (!flash->is_flushing && !flash->flushes.count))
		requests_start(flash, now_ns);
	flush_start(flash, now_ns);
}

static void submit(struct device *device, uint64_t now_ns, const struct device_request *request)
{
	struct flash *flash = (struct flash *)device;
	uint32_t id = flight_take(&flash->flights, request, now_ns);

	if (request->op == DEVICE_FLUSH)
		ring_push(&flash->flushes, id);
	else if (request->op == DEVICE_WRITE && flash->parameters->cache_bytes)
		queue_push(&flash->accept, id, request->is_background);
	else
		queue_push(&flash->media, id, request->is_background);
	dispatch(flash, now_ns);
}

static uint64_t next_ns(const struct device *device)
{
	const struct flash *flash = (const struct flash *)device;

	return lesser(agenda_next_ns(&flash->agenda),
		      flash->draining_bytes ? flash->drain_ns : UINT64_MAX);
}

static void happen(struct flash *flash, const struct agenda_entry *entry)
{
	if (entry->what == FLASH_DIE) {
		ring_push(&flash->behind, entry->id);
	} else if (entry->what == FLASH_FLUSHED) {
		flush_end(flash, entry->ns);
		requests_start(flash, entry->ns);
	} else {
		device_done(&flash->base, entry->ns, flash->flights.at.at[entry->id].tag);
		flight_give_back(&flash->flights, entry->id);
		flash->in_flight--;
		if (entry->what == FLASH_ACCEPTED)
			flash->free_accepts++;
		else
			flash->free_channels++;
	}
}

static void run(struct device *device, uint64_t now_ns)
{
	struct flash *flash = (struct flash *)device;
	uint64_t at_ns;

	while ((at_ns = next_ns(device)) <= now_ns) {
		if (flash->draining_bytes && flash->drain_ns == at_ns) {
			drained(flash, at_ns);
		} else {
			struct agenda_entry entry = agenda_take(&flash->agenda);

			happen(flash, &entry);
		}
		dispatch(flash, at_ns);
	}
}

const struct device_kind device_kind_flash = {
	.name = "flash",
	.summary =
		"an SSD: parallel channels, a link, a cache that is drained, reads behind programs",
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_bytes = sizeof(struct flash_parameters),
	.check = check,
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.next_ns = next_ns,
	.run = run,
};
