/*
 * device: what a request to a disk, an SSD or a volume takes
 *
 * The interface of the shelf machine/model/device/. A kind (flash, disk, volume, instant) is a
 * file there and a line in kinds.def; a profile is data: the file devices/NAME.yaml gives a kind its
 * numbers. A device is told of requests as they come and says which are done: it queues, chooses
 * and overlaps them itself. It keeps no clock, reads no file and draws by lot from its seed alone:
 * the same calls give the same answers, to the byte, on every machine (so no libm but sqrt()).
 * Time is ns since the start, and only goes forward over all calls.
 */
#ifndef REFAULT_MACHINE_MODEL_DEVICE_H
#define REFAULT_MACHINE_MODEL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum device_op { DEVICE_READ, DEVICE_WRITE, DEVICE_FLUSH };

struct device_request {
	uint64_t offset; /* bytes from the start of the device */
	uint64_t bytes;  /* 0: a flush alone; not larger than device_request_bytes_max() */
	uint64_t tag;    /* the caller's, given back when it is done */
	uint8_t op;      /* enum device_op */
	/* nobody waits for it: what somebody waits for may go first, as the block layer does */
	bool is_background;
};

struct device_profile; /* the numbers: device/profile.h */
struct device;

/*
 * The profile of this name (one that ships) or in this file (it has a slash or ends in .yaml); with
 * ",KEY=VALUE" behind it, once or more, those numbers are other ones. NULL: ERROR_INPUT, with the
 * nearest name or the place of the mistake. Free with device_profile_free().
 */
struct device_profile *device_profile_load(const char *name, struct error *error);
void device_profile_free(struct device_profile *profile);
const char *device_profile_name(const struct device_profile *profile);
const char *device_profile_summary(const struct device_profile *profile);
const char *device_profile_source(const struct device_profile *profile);
const char *device_profile_kind(const struct device_profile *profile); /* "flash" */

/* How large such a device is, bytes; 0: the profile does not say. A larger one is made if asked for. */
uint64_t device_profile_size(const struct device_profile *profile);

/* The profiles that ship, in order of their names: NULL after the last. The text stays valid. */
const char *device_profile_shipped(size_t index, const char **summary);

/* `size_bytes`: of the device; requests lie within it. The profile must outlive the device. */
struct device *device_create(const struct device_profile *profile, uint64_t size_bytes,
			     uint64_t seed);
void device_destroy(struct device *device);

/* Larger requests are for the caller to cut. */
uint64_t device_request_bytes_max(const struct device *device);

/* Is it flash behind SATA, whose flush is no queued command? */
bool device_is_sata_flash(const struct device *device);

/* A request comes at `now_ns`. */
void device_submit(struct device *device, uint64_t now_ns, const struct device_request *request);

/*
 * When something may next be done (not before; it may turn out that nothing is then: ask again after
 * device_advance()). UINT64_MAX: nothing is under way.
 */
uint64_t device_next_ns(const struct device *device);

/*
 * Let time pass until `now_ns`: at most `most` tags of requests that are done by then, in the order
 * in which they were. Ask again while it returns `most`.
 */
size_t device_advance(struct device *device, uint64_t now_ns, uint64_t *tags, size_t most);

/* How long it has been busy so far: at least one request under way. */
uint64_t device_busy_ns(const struct device *device);

#endif
