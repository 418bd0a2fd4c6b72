#include "state/dump.h"

#define DUMP(name, NAME) extern const struct dump_kind dump_kind_##name;
#include "state/dump/dumps.def"
#undef DUMP

static const struct dump_kind *const kinds[] = {
#define DUMP(name, NAME) &dump_kind_##name,
#include "state/dump/dumps.def"
#undef DUMP
};

const struct dump_kind *dump_kind(enum dump_id id)
{
	return kinds[id];
}
