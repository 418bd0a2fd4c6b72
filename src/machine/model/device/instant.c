/*
 * instant: nothing takes time
 *
 * For traces whose time stamps are the clock, and for asking what caches alone would do. The
 * smallest of the kinds: read it first.
 */
#include "machine/model/device/kind.h"

static struct device *create(const void *parameters, uint64_t size_bytes, uint64_t seed)
{
	(void)parameters, (void)size_bytes, (void)seed;
	return memory_alloc(1, sizeof(struct device));
}

static void destroy(struct device *device)
{
	memory_free(device);
}

static void submit(struct device *device, uint64_t now_ns, const struct device_request *request)
{
	device_done(device, now_ns, request->tag);
}

static uint64_t next_ns(const struct device *device)
{
	(void)device;
	return UINT64_MAX;
}

static void run(struct device *device, uint64_t now_ns)
{
	(void)device, (void)now_ns;
}

const struct device_kind device_kind_instant = {
	.name = "instant",
	.summary = "nothing takes time",
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.next_ns = next_ns,
	.run = run,
};
