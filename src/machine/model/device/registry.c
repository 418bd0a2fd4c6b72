#include "machine/model/device.h"

#include <assert.h>

#include "machine/model/device/kind.h"
#include "machine/model/device/profile.h"

static const struct device_kind *const kinds[] = {
#define DEVICE_KIND(symbol) &device_kind_##symbol,
#include "machine/model/device/kinds.def"
#undef DEVICE_KIND
};

const struct device_kind *device_kind_at(size_t index)
{
	return index < sizeof(kinds) / sizeof(kinds[0]) ? kinds[index] : NULL;
}

struct device *device_create(const struct device_profile *profile, uint64_t size_bytes,
			     uint64_t seed)
{
	struct device *device = profile->kind->create(profile->parameters, size_bytes, seed);

	device->kind = profile->kind;
	device->request_bytes_max = profile->request_bytes_max;
	device->due_ns = UINT64_MAX;
	return device;
}

void device_destroy(struct device *device)
{
	if (!device)
		return;
	array_deinit(&device->done);
	device->kind->destroy(device);
}

uint64_t device_request_bytes_max(const struct device *device)
{
	return device->request_bytes_max;
}

bool device_is_sata_flash(const struct device *device)
{
	return device->kind->is_sata && device->kind->is_sata(device);
}

static void time_pass(struct device *device, uint64_t now_ns)
{
	assert(now_ns >= device->now_ns);
	device->now_ns = now_ns;
	if (device->due_ns > now_ns)
		return;
	device->kind->run(device, now_ns);
	device->due_ns = device->kind->next_ns(device);
}

void device_submit(struct device *device, uint64_t now_ns, const struct device_request *request)
{
	assert(request->bytes <= device->request_bytes_max);
	time_pass(device, now_ns);
	if (device->under_way++ == 0)
		device->busy_since_ns = now_ns;
	device->kind->submit(device, now_ns, request);
	device->due_ns = device->kind->next_ns(device);
}

uint64_t device_next_ns(const struct device *device)
{
	if (device->fetched < device->done.count)
		return device->done.at[device->fetched].ns;
	return device->under_way ? device->due_ns : UINT64_MAX;
}

size_t device_advance(struct device *device, uint64_t now_ns, uint64_t *tags, size_t most)
{
	size_t count = 0;

	time_pass(device, now_ns);
	while (count < most && device->fetched < device->done.count)
		tags[count++] = device->done.at[device->fetched++].tag;
	if (device->fetched == device->done.count)
		device->fetched = device->done.count = 0;
	return count;
}

uint64_t device_busy_ns(const struct device *device)
{
	uint64_t unfinished = device->under_way ? device->now_ns - device->busy_since_ns : 0;

	return device->busy_ns + unfinished;
}
