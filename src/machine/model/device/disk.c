/*
 * disk: a turning disk, or several with the data spread over them (RAID-0)
 *
 * Idea       The arm does one thing at a time: it seeks (the more, the further, by a square root),
 *            waits until the sector comes round, and transfers at the rate of the zone. Outer tracks,
 *            where the low addresses are, hold more and so are faster. Of the first `ncq` that wait,
 *            the one that is reached soonest goes next, unless somebody has waited too long.
 *
 *            Where a sector is: the time that reading everything before it would take, modulo one
 *            revolution. So what lies one after the other is read without a gap, and a sector that
 *            has just passed takes a whole revolution to come again.
 *
 *            After a read the head reads on, into the drive's memory; whoever goes on reading there
 *            gets it from that.
 *
 *            With a cache, a write is done once that has it; the arm carries it to the disk when no
 *            read waits, the nearest first. If writers wait for room, it is in turn with reads that
 *            it does so; if they are all in the background, 16 after 32 reads, as in queue.h. A
 *            flush waits for those that the drive has in its queue, then for all of the cache, and
 *            holds everything else meanwhile; of those that come then, one stands for all.
 * Source     Section E of the database workloads of the design notes: seek curve, zones, rotational
 *            position. Flushes: as in flash.c. How long somebody is passed over: read_expire and
 *            write_expire of Linux 6.12 block/mq-deadline.c (500 ms, 5 s).
 * Differs    1. 32 zones with steps between them, no heads: what a switch of heads or tracks takes is
 *               in the rate of transfer.
 *            2. A read of what is still in the cache goes to the disk.
 *            3. Only exactly sequential reads find what was read ahead.
 *            4. No retries, no remapped sectors, no thermal recalibration.
 */
#include "base/root.h"
#include "machine/model/agenda.h"
#include "machine/model/device/kind.h"
#include "machine/model/device/profile.h"
#include "machine/model/device/queue.h"
#include "source/yaml.h"

enum { ZONES = 32, NEIGHBOURS = 16, NCQ_MAX = 256 };
#define DISK_PIECE_BYTES  MIB /* of what the cache holds in one piece, carried out at a time */
#define EXPIRE_NS         (500 * NS_PER_MS)
#define EXPIRE_BACKGROUND (5 * NS_PER_SECOND)
#define DISK_CAPACITY_MIN GIB

struct disk_parameters {
	uint64_t capacity_bytes, members, chunk_bytes;
	uint64_t seek_ns_min, seek_ns_full, revolution_ns;
	uint64_t outer_bytes_per_s, inner_bytes_per_s, link_bytes_per_s;
	uint64_t ncq, read_ahead_bytes;
	uint64_t cache_bytes, cache_writes, write_ns, flush_ns;
};

#define PARAMETERS struct disk_parameters
static const struct schema_key keys[] = {
	PROFILE_KEY(capacity, SIZE, capacity_bytes, "required", DISK_CAPACITY_MIN,
		    PROFILE_BYTES_MAX, "of one disk; the data begins at its outer edge"),
	PROFILE_KEY(members, NUMBER, members, "1", 1, 64, "disks of a RAID-0"),
	PROFILE_KEY(chunk, SIZE, chunk_bytes, "512KiB", 4 * KIB, GIB,
		    "of a RAID-0: so much lies on one disk before the next one has its turn"),
	PROFILE_KEY(seek_min, TIME, seek_ns_min, "required", 0, NS_PER_SECOND,
		    "the shortest seek: to the next track"),
	PROFILE_KEY(seek_full, TIME, seek_ns_full, "required", 1, NS_PER_SECOND,
		    "the longest: across the whole disk"),
	PROFILE_KEY(revolution, TIME, revolution_ns, "required", NS_PER_MS, NS_PER_SECOND,
		    "one revolution"),
	PROFILE_KEY(outer_rate, BANDWIDTH, outer_bytes_per_s, "required", MIB,
		    PROFILE_BANDWIDTH_MAX, "of transfer at the outer edge"),
	PROFILE_KEY(inner_rate, BANDWIDTH, inner_bytes_per_s, "required", MIB,
		    PROFILE_BANDWIDTH_MAX, "and at the inner one"),
	PROFILE_KEY(link_bandwidth, BANDWIDTH, link_bytes_per_s, "550MB/s", MIB,
		    PROFILE_BANDWIDTH_MAX, "between the drive's memory and the machine"),
	PROFILE_KEY(ncq, NUMBER, ncq, "32", 1, NCQ_MAX,
		    "of how many that wait the drive picks the one it reaches soonest; 1: first "
		    "come, first served"),
	PROFILE_KEY(read_ahead, SIZE, read_ahead_bytes, "2MiB", 0, GIB,
		    "how far it reads on by itself"),
	PROFILE_KEY(cache, SIZE, cache_bytes, "0", 0, 64 * GIB,
		    "of written data that is not on the disk yet; 0: writes are done when they are "
		    "there"),
	PROFILE_KEY(cache_writes, NUMBER, cache_writes, "128", 1, 1000000,
		    "in how many places, at most"),
	PROFILE_KEY(write_latency, TIME, write_ns, "100us", 0, NS_PER_SECOND,
		    "of a write into the cache"),
	PROFILE_KEY(flush_time, TIME, flush_ns, "0", 0, NS_PER_SECOND,
		    "of a flush, besides what the cache holds"),
};

struct extent {
	uint64_t offset, bytes;
};

/* One disk, with its arm. Its requests are parts of those of the whole. */
struct spindle {
	struct queue queue;         /* who wants the arm */
	struct queue accept;        /* who wants into the cache */
	uint64_t accepting;         /* on their way into it */
	ARRAY(struct extent) dirty; /* what it holds: in order of place, nothing twice */
	uint64_t cached_bytes;      /* of those, and of the piece under way */
	uint64_t head_offset;
	uint64_t read_on_ns; /* when the head was there, if it reads on since; 0: it does not */
	uint64_t link_ns;
	bool is_moving; /* the arm is at work: on part `part`, or on a piece of the cache */
	bool is_draining;
	uint32_t part;
	uint64_t piece_bytes;
	struct ring flushes, flushing;
	bool is_flushing, is_flushed; /* the cache is empty, and what is left is flush_time */
	uint64_t passed,
		turn; /* reads that passed writers in the background; pieces of their turn */
	uint64_t before_flush; /* so many are in the drive's queue already, and go before it */
};

struct disk {
	struct device base;
	const struct disk_parameters *parameters;
	struct flights flights, parts; /* a part's tag is the number of its flight */
	struct agenda agenda;
	uint64_t capacity_bytes;
	uint64_t zone_ns[ZONES + 1]; /* what reading all before a zone takes */
	uint64_t zone_bytes_per_s[ZONES];
	uint64_t zone_bytes;
	struct spindle *spindles;
};

enum { DISK_ARM, DISK_ACCEPTED, DISK_FLUSHED };

static bool check(const void *parameters, const struct yaml *yaml, const struct yaml_node *node,
		  struct error *error)
{
	const struct disk_parameters *p = parameters;

	if (p->seek_ns_min > p->seek_ns_full)
		return yaml_error(yaml, yaml_get(node, "seek_min"), error,
				  "seek_min is more than seek_full");
	if (p->inner_bytes_per_s > p->outer_bytes_per_s)
		return yaml_error(yaml, yaml_get(node, "inner_rate"), error,
				  "inner_rate is more than outer_rate");
	if (p->cache_bytes && p->cache_bytes < MIB)
		return yaml_error(yaml, yaml_get(node, "cache"), error,
				  "a cache has at least 1 MiB (none: 0)");
	return true;
}

static uint64_t size(const void *parameters)
{
	const struct disk_parameters *p = parameters;

	return p->capacity_bytes * p->members;
}

static struct device *create(const void *parameters, uint64_t size_bytes, uint64_t seed)
{
	struct disk *disk = memory_alloc(1, sizeof(*disk));
	const struct disk_parameters *p = parameters;
	uint64_t rows = size_bytes / p->chunk_bytes / p->members + 2;

	(void)seed; /* nothing here is left to chance */
	disk->parameters = p;
	disk->spindles = memory_alloc(p->members, sizeof(*disk->spindles));
	disk->capacity_bytes =
		later(p->capacity_bytes, p->members == 1 ? size_bytes : rows * p->chunk_bytes);
	disk->zone_bytes = disk->capacity_bytes / ZONES + 1;
	for (uint64_t z = 0; z < ZONES; z++) {
		uint64_t slower =
			(p->outer_bytes_per_s - p->inner_bytes_per_s) * (2 * z + 1) / (2 * ZONES);

		disk->zone_bytes_per_s[z] = p->outer_bytes_per_s - slower;
		disk->zone_ns[z + 1] =
			disk->zone_ns[z] + (uint64_t)((unsigned __int128)disk->zone_bytes *
						      NS_PER_SECOND / disk->zone_bytes_per_s[z]);
	}
	return &disk->base;
}

static void destroy(struct device *device)
{
	struct disk *disk = (struct disk *)device;

	for (uint64_t i = 0; i < disk->parameters->members; i++) {
		struct spindle *spindle = &disk->spindles[i];

		queue_deinit(&spindle->queue);
		queue_deinit(&spindle->accept);
		array_deinit(&spindle->dirty);
		memory_free(spindle->flushes.at);
		memory_free(spindle->flushing.at);
	}
	memory_free(disk->spindles);
	agenda_deinit(&disk->agenda);
	array_deinit(&disk->flights.at);
	array_deinit(&disk->parts.at);
	memory_free(disk);
}

/* ---- geometry ---- */

/* What reading everything before `offset` takes: modulo a revolution, where the sector is. */
static uint64_t place_ns(const struct disk *disk, uint64_t offset)
{
	uint64_t zone = lesser(offset / disk->zone_bytes, ZONES - 1);

	return disk->zone_ns[zone] +
	       (uint64_t)((unsigned __int128)(offset - zone * disk->zone_bytes) * NS_PER_SECOND /
			  disk->zone_bytes_per_s[zone]);
}

static uint64_t seek_ns(const struct disk *disk, uint64_t from, uint64_t to)
{
	const struct disk_parameters *p = disk->parameters;
	uint64_t distance = from < to ? to - from : from - to, part;

	if (distance == 0)
		return 0;
	/* Of the whole stroke: 62 bits behind the point, so its root has 31. */
	part = (uint64_t)(((unsigned __int128)distance << 62) / disk->capacity_bytes);
	return p->seek_ns_min + (uint64_t)((unsigned __int128)(p->seek_ns_full - p->seek_ns_min) *
						   square_root(part) >>
					   31);
}

/* How long until the head is over `offset`, if it sets out at `now_ns`. */
static uint64_t reach_ns(const struct disk *disk, const struct spindle *spindle, uint64_t now_ns,
			 uint64_t offset)
{
	uint64_t revolution = disk->parameters->revolution_ns;
	uint64_t ahead = place_ns(disk, offset) - place_ns(disk, spindle->head_offset);
	/* What lies ahead on this track comes by itself. */
	uint64_t seek = offset >= spindle->head_offset && ahead < revolution
				? 0
				: seek_ns(disk, spindle->head_offset, offset);
	uint64_t there = (now_ns + seek) % revolution, wanted = place_ns(disk, offset) % revolution;

	return seek + (wanted >= there ? wanted - there : wanted + revolution - there);
}

/* ---- what the cache holds ---- */

/* The first that ends at `offset` or later. */
static size_t dirty_search(const struct spindle *spindle, uint64_t offset)
{
	size_t low = 0, high = spindle->dirty.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (spindle->dirty.at[middle].offset + spindle->dirty.at[middle].bytes < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void dirty_add(struct spindle *spindle, uint64_t offset, uint64_t bytes)
{
	size_t at = dirty_search(spindle, offset), end = at;
	uint64_t begin = offset, until = offset + bytes, was = 0;
	struct extent *extents;

	/* Those that it touches become one with it. */
	for (; end < spindle->dirty.count && spindle->dirty.at[end].offset <= until; end++) {
		const struct extent *extent = &spindle->dirty.at[end];

		begin = lesser(begin, extent->offset);
		until = later(until, extent->offset + extent->bytes);
		was += extent->bytes;
	}
	if (end == at) {
		(void)array_push(&spindle->dirty);
		extents = spindle->dirty.at;
		memmove(extents + at + 1, extents + at,
			(spindle->dirty.count - 1 - at) * sizeof(*extents));
	} else {
		extents = spindle->dirty.at;
		memmove(extents + at + 1, extents + end,
			(spindle->dirty.count - end) * sizeof(*extents));
		spindle->dirty.count -= end - at - 1;
	}
	extents[at] = (struct extent){.offset = begin, .bytes = until - begin};
	spindle->cached_bytes += until - begin - was;
}

/* ---- the arm ---- */

/* The one in `ring` that is reached soonest, or that has waited too long. */
static size_t ring_choose(const struct disk *disk, const struct spindle *spindle,
			  const struct ring *ring, uint64_t now_ns)
{
	const struct flight *oldest = &disk->parts.at.at[ring_at(ring, 0)];
	uint64_t expire_ns = oldest->is_background ? EXPIRE_BACKGROUND : EXPIRE_NS;
	uint64_t soonest = UINT64_MAX, count = lesser(ring->count, disk->parameters->ncq);
	size_t best = 0;

	if (now_ns - oldest->since_ns > expire_ns)
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = disk->parts.at.at[ring_at(ring, i)].offset;
		uint64_t ns = reach_ns(disk, spindle, now_ns, offset);

		if (ns < soonest) {
			soonest = ns;
			best = i;
		}
	}
	return best;
}

/* The piece of the cache that is reached soonest, of those to both sides of the head. */
static size_t dirty_choose(const struct disk *disk, const struct spindle *spindle, uint64_t now_ns)
{
	size_t middle = dirty_search(spindle, spindle->head_offset);
	size_t i = middle > NEIGHBOURS ? middle - NEIGHBOURS : 0, best = i;
	uint64_t soonest = UINT64_MAX;

	for (; i < spindle->dirty.count && i < middle + NEIGHBOURS; i++) {
		uint64_t ns = reach_ns(disk, spindle, now_ns, spindle->dirty.at[i].offset);

		if (ns < soonest) {
			soonest = ns;
			best = i;
		}
	}
	return best;
}

static uint64_t link_end_ns(const struct disk *disk, struct spindle *spindle, uint64_t now_ns,
			    uint64_t bytes)
{
	spindle->link_ns = later(spindle->link_ns, now_ns) +
			   bytes * NS_PER_SECOND / disk->parameters->link_bytes_per_s;
	return spindle->link_ns;
}

/* When a read is over that goes on where the head has been reading on. */
static uint64_t read_on_ns(const struct disk *disk, struct spindle *spindle, uint64_t now_ns,
			   const struct flight *part)
{
	uint64_t here = place_ns(disk, part->offset);
	uint64_t ahead_ns =
		place_ns(disk, part->offset + disk->parameters->read_ahead_bytes) - here;

	if (now_ns > ahead_ns)
		spindle->read_on_ns = later(spindle->read_on_ns, now_ns - ahead_ns);
	spindle->read_on_ns += place_ns(disk, part->offset + part->bytes) - here;
	return later(spindle->read_on_ns, link_end_ns(disk, spindle, now_ns, part->bytes));
}

static void arm_start(struct disk *disk, struct spindle *spindle, uint64_t now_ns, uint64_t offset,
		      uint64_t bytes)
{
	uint64_t end_ns = now_ns + reach_ns(disk, spindle, now_ns, offset) +
			  place_ns(disk, offset + bytes) - place_ns(disk, offset);

	spindle->read_on_ns = 0;
	spindle->head_offset = offset + bytes;
	spindle->is_moving = true;
	agenda_add(&disk->agenda, end_ns, DISK_ARM, (uint32_t)(spindle - disk->spindles));
}

static void drain_start(struct disk *disk, struct spindle *spindle, uint64_t now_ns)
{
	size_t at = dirty_choose(disk, spindle, now_ns);
	struct extent *extents = spindle->dirty.at;
	uint64_t offset = extents[at].offset, bytes = lesser(extents[at].bytes, DISK_PIECE_BYTES);

	extents[at].offset += bytes;
	extents[at].bytes -= bytes;
	if (extents[at].bytes == 0)
		memmove(extents + at, extents + at + 1,
			(--spindle->dirty.count - at) * sizeof(*extents));
	spindle->piece_bytes = bytes;
	spindle->is_draining = true;
	arm_start(disk, spindle, now_ns, offset, bytes);
}

static void part_start(struct disk *disk, struct spindle *spindle, uint64_t now_ns)
{
	struct ring *ring = queue_turn(&spindle->queue);
	size_t index = ring_choose(disk, spindle, ring, now_ns);
	const struct flight *part = &disk->parts.at.at[ring_at(ring, index)];

	queue_went(&spindle->queue, ring);
	spindle->part = ring_remove(ring, index);
	spindle->before_flush -= spindle->before_flush > 0;
	spindle->is_draining = false;
	if (part->op == DEVICE_READ && spindle->read_on_ns &&
	    part->offset == spindle->head_offset) {
		spindle->is_moving = true;
		spindle->head_offset += part->bytes;
		agenda_add(&disk->agenda, read_on_ns(disk, spindle, now_ns, part), DISK_ARM,
			   (uint32_t)(spindle - disk->spindles));
		return;
	}
	arm_start(disk, spindle, now_ns, part->offset, part->bytes);
}

/* ---- requests ---- */

static void part_end(struct disk *disk, uint64_t now_ns, uint32_t id)
{
	uint32_t whole = (uint32_t)disk->parts.at.at[id].tag;

	flight_give_back(&disk->parts, id);
	if (--disk->flights.at.at[whole].parts)
		return;
	device_done(&disk->base, now_ns, disk->flights.at.at[whole].tag);
	flight_give_back(&disk->flights, whole);
}

static void accept_start(struct disk *disk, struct spindle *spindle, uint64_t now_ns)
{
	while (!queue_is_empty(&spindle->accept) && spindle->accepting < disk->parameters->ncq) {
		uint32_t id = queue_peek(&spindle->accept);
		const struct flight *part = &disk->parts.at.at[id];

		if (spindle->cached_bytes &&
		    (spindle->cached_bytes + part->bytes > disk->parameters->cache_bytes ||
		     spindle->dirty.count + spindle->accepting >= disk->parameters->cache_writes))
			return;
		(void)queue_pop(&spindle->accept);
		spindle->accepting++;
		spindle->cached_bytes += part->bytes;
		agenda_add(&disk->agenda,
			   later(now_ns + disk->parameters->write_ns,
				 link_end_ns(disk, spindle, now_ns, part->bytes)),
			   DISK_ACCEPTED, id);
	}
}

/* Now the cache has it, and the arm may carry it out. */
static void accept_end(struct disk *disk, struct spindle *spindle, uint64_t now_ns, uint32_t id)
{
	const struct flight *part = &disk->parts.at.at[id];

	spindle->accepting--;
	spindle->cached_bytes -= part->bytes;
	dirty_add(spindle, part->offset, part->bytes);
	part_end(disk, now_ns, id);
}

static void flush_pend(const struct disk *disk, struct spindle *spindle)
{
	const struct queue *queue = &spindle->queue;

	spindle->before_flush =
		lesser(queue->waited_for.count + queue->background.count, disk->parameters->ncq);
}

static void flush_end(struct disk *disk, struct spindle *spindle, uint64_t now_ns)
{
	while (spindle->flushing.count)
		part_end(disk, now_ns, ring_pop(&spindle->flushing));
	spindle->is_flushing = spindle->is_flushed = false;
	if (spindle->flushes.count)
		flush_pend(disk, spindle);
}

/*
 * There are reads, and writers wait for room: is it the cache's turn? If nobody waits for those
 * writers, reads pass them as they pass what is in the background elsewhere.
 */
static bool cache_has_its_turn(struct spindle *spindle)
{
	if (spindle->accept.waited_for.count)
		return !spindle->is_draining;
	if (!spindle->turn && ++spindle->passed > QUEUE_BATCH * QUEUE_STARVED) {
		spindle->passed = 0;
		spindle->turn = QUEUE_BATCH;
	}
	if (!spindle->turn)
		return false;
	spindle->turn--;
	return true;
}

/* The arm has nothing to do: which of its works is next? False: it waits. */
static bool arm_choose(struct disk *disk, struct spindle *spindle, uint64_t now_ns)
{
	bool may_read = !spindle->is_flushing && !queue_is_empty(&spindle->queue) &&
			(!spindle->flushes.count || spindle->before_flush);
	bool may_drain = spindle->dirty.count > 0;
	bool is_pressed = !queue_is_empty(&spindle->accept);

	if (may_read && !(may_drain && is_pressed && cache_has_its_turn(spindle)))
		part_start(disk, spindle, now_ns);
	else if (may_drain)
		drain_start(disk, spindle, now_ns);
	else
		return false;
	return true;
}

static void flush_start(struct spindle *spindle)
{
	struct ring none = spindle->flushing;

	if (!spindle->is_flushing && spindle->flushes.count && !spindle->before_flush &&
	    !spindle->accepting && !(spindle->is_moving && !spindle->is_draining)) {
		spindle->flushing = spindle->flushes;
		spindle->flushes = none;
		spindle->is_flushing = true;
	}
}

static void dispatch(struct disk *disk, struct spindle *spindle, uint64_t now_ns)
{
	flush_start(spindle);
	if (!spindle->is_flushing && !spindle->flushes.count)
		accept_start(disk, spindle, now_ns);
	if (spindle->is_moving || arm_choose(disk, spindle, now_ns) || !spindle->is_flushing ||
	    spindle->is_flushed)
		return;
	spindle->is_flushed = true;
	agenda_add(&disk->agenda, now_ns + disk->parameters->flush_ns, DISK_FLUSHED,
		   (uint32_t)(spindle - disk->spindles));
}

static void part_submit(struct disk *disk, uint64_t now_ns, uint64_t member,
			const struct device_request *request)
{
	struct spindle *spindle = &disk->spindles[member];
	uint32_t id = flight_take(&disk->parts, request, now_ns);

	disk->parts.at.at[id].member = (uint32_t)member;
	if (request->op == DEVICE_FLUSH) {
		if (!spindle->flushes.count)
			flush_pend(disk, spindle);
		ring_push(&spindle->flushes, id);
	} else if (request->op == DEVICE_WRITE && disk->parameters->cache_bytes) {
		queue_push(&spindle->accept, id, request->is_background);
	} else {
		queue_push(&spindle->queue, id, request->is_background);
	}
	dispatch(disk, spindle, now_ns);
}

static void submit(struct device *device, uint64_t now_ns, const struct device_request *request)
{
	struct disk *disk = (struct disk *)device;
	const struct disk_parameters *p = disk->parameters;
	uint32_t whole = flight_take(&disk->flights, request, now_ns);
	uint64_t chunk = p->members == 1 ? UINT64_MAX : p->chunk_bytes;
	uint64_t end = request->offset + request->bytes;
	struct device_request part = *request;

	part.tag = whole;
	if (request->op == DEVICE_FLUSH) {
		disk->flights.at.at[whole].parts = (uint32_t)p->members;
		for (uint64_t i = 0; i < p->members; i++)
			part_submit(disk, now_ns, i, &part);
		return;
	}
	/* All parts are counted before the first can be done. */
	disk->flights.at.at[whole].parts =
		(uint32_t)((end - 1) / chunk - request->offset / chunk + 1);
	for (uint64_t at = request->offset; at < end; at += part.bytes) {
		part.offset = at / chunk / p->members * chunk + at % chunk;
		part.bytes = lesser(end - at, chunk - at % chunk);
		part_submit(disk, now_ns, at / chunk % p->members, &part);
	}
}

static uint64_t next_ns(const struct device *device)
{
	return agenda_next_ns(&((const struct disk *)device)->agenda);
}

static void arm_end(struct disk *disk, struct spindle *spindle, uint64_t now_ns)
{
	spindle->is_moving = false;
	if (spindle->is_draining) {
		spindle->cached_bytes -= spindle->piece_bytes;
		return;
	}
	if (disk->parts.at.at[spindle->part].op == DEVICE_READ && !spindle->read_on_ns)
		spindle->read_on_ns = now_ns;
	part_end(disk, now_ns, spindle->part);
}

static void run(struct device *device, uint64_t now_ns)
{
	struct disk *disk = (struct disk *)device;

	while (agenda_next_ns(&disk->agenda) <= now_ns) {
		struct agenda_entry entry = agenda_take(&disk->agenda);
		struct spindle *spindle;

		if (entry.what == DISK_ACCEPTED) {
			spindle = &disk->spindles[disk->parts.at.at[entry.id].member];
			accept_end(disk, spindle, entry.ns, entry.id);
		} else {
			spindle = &disk->spindles[entry.id];
			if (entry.what == DISK_ARM)
				arm_end(disk, spindle, entry.ns);
			else
				flush_end(disk, spindle, entry.ns);
			/* Writers that a flush has held have their turn before the next. */
			if (entry.what == DISK_FLUSHED)
				accept_start(disk, spindle, entry.ns);
		}
		dispatch(disk, spindle, entry.ns);
	}
}

const struct device_kind device_kind_disk = {
	.name = "disk",
	.summary = "a turning disk, or a RAID-0 of them: seeks, rotation, zones, a write cache",
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_bytes = sizeof(struct disk_parameters),
	.check = check,
	.size = size,
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.next_ns = next_ns,
	.run = run,
};
