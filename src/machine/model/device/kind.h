/*
 * kind: what a kind of device is to those who make and drive devices
 *
 * A kind is a table of functions, the keys that its profiles hold, and a struct that they are read
 * into. Its devices begin with `struct device`, in which what all of them have in common is kept:
 * who is under way, and what is done and not yet fetched. A kind is called with the time never going
 * back; it does what falls due until then in order of time, ties in the order in which it was
 * decided.
 */
#ifndef REFAULT_MACHINE_MODEL_DEVICE_KIND_H
#define REFAULT_MACHINE_MODEL_DEVICE_KIND_H

#include "base/array.h"
#include "base/size.h"
#include "machine/model/device.h"
#include "source/schema.h"

struct yaml;
struct yaml_node;

struct device_kind {
	const char *name;
	const char *summary; /* for docs/devices.md */
	const struct schema_key *keys;
	size_t key_count;
	size_t parameters_bytes; /* of the struct that the keys are read into */

	/*
	 * What one key alone cannot show. Fails (ERROR_INPUT, at the key) if the numbers contradict
	 * each other. NULL: they never do.
	 */
	bool (*check)(const void *parameters, const struct yaml *yaml, const struct yaml_node *node,
		      struct error *error);

	/* How large it is by its profile, bytes. NULL: as large as it is wanted. */
	uint64_t (*size)(const void *parameters);

	/* Flash behind SATA? NULL: no. */
	bool (*is_sata)(const struct device *device);

	struct device *(*create)(const void *parameters, uint64_t size_bytes, uint64_t seed);
	void (*destroy)(struct device *device);

	/* All that falls due up to `now_ns` is done already. */
	void (*submit)(struct device *device, uint64_t now_ns,
		       const struct device_request *request);
	/* When something falls due; UINT64_MAX: nothing. */
	uint64_t (*next_ns)(const struct device *device);
	/* Do what falls due up to `now_ns`. */
	void (*run)(struct device *device, uint64_t now_ns);
};

struct device_done {
	uint64_t ns, tag;
};

struct device {
	const struct device_kind *kind;
	uint64_t request_bytes_max;
	uint64_t now_ns;
	uint64_t due_ns;    /* the kind's next_ns(), as it was after the last call of it */
	uint64_t under_way; /* requests */
	uint64_t busy_ns, busy_since_ns;
	ARRAY(struct device_done) done; /* in order of time; [fetched ..] are still to be fetched */
	size_t fetched;
};

/* The request is done, at a time not before that of the last one. */
static inline void device_done(struct device *device, uint64_t ns, uint64_t tag)
{
	*array_push(&device->done) = (struct device_done){.ns = ns, .tag = tag};
	if (--device->under_way == 0)
		device->busy_ns += ns - device->busy_since_ns;
}

/* Requests that are under way, by number. */
struct flight {
	uint64_t offset, bytes, tag;
	uint64_t since_ns;
	uint32_t next;   /* of the free ones */
	uint32_t parts;  /* that are still to be done, where a request has parts */
	uint32_t member; /* of a part: whose it is */
	uint8_t op;
	bool is_background;
};

struct flights {
	ARRAY(struct flight) at;
	uint32_t free; /* the first free one, plus 1; 0: none */
};

static inline uint32_t flight_take(struct flights *flights, const struct device_request *request,
				   uint64_t now_ns)
{
	uint32_t id = flights->free;

	if (id) {
		flights->free = flights->at.at[--id].next;
	} else {
		id = (uint32_t)flights->at.count;
		(void)array_push(&flights->at);
	}
	flights->at.at[id] = (struct flight){
		.offset = request->offset,
		.bytes = request->bytes,
		.tag = request->tag,
		.since_ns = now_ns,
		.op = request->op,
		.is_background = request->is_background,
	};
	return id;
}

static inline void flight_give_back(struct flights *flights, uint32_t id)
{
	flights->at.at[id].next = flights->free;
	flights->free = id + 1;
}

/* How long bytes take at a bandwidth: a multiplication instead of a division. */
struct pace_of_bytes {
	uint64_t scaled; /* ns a byte, times 2^24; 0: nothing takes time */
};

static inline struct pace_of_bytes pace_of_bytes(uint64_t bytes_per_s)
{
	return (struct pace_of_bytes){bytes_per_s ? (NS_PER_SECOND << 24) / bytes_per_s : 0};
}

static inline uint64_t pace_ns(struct pace_of_bytes pace, uint64_t bytes)
{
	return (uint64_t)((unsigned __int128)bytes * pace.scaled >> 24);
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Each kind, by kinds.def. */
const struct device_kind *device_kind_at(size_t index); /* NULL after the last */

#define DEVICE_KIND(symbol) extern const struct device_kind device_kind_##symbol;
#include "machine/model/device/kinds.def"
#undef DEVICE_KIND

#endif
