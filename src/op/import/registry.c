#include "op/import.h"

#define FORMAT(name) extern const struct import_format format_##name;
#include "op/import/formats.def"
#undef FORMAT

static const struct import_format *const formats[] = {
#define FORMAT(name) &format_##name,
#include "op/import/formats.def"
#undef FORMAT
	NULL,
};

const struct import_format *import_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}
