/*
 * node_meminfo: what the memory of a NUMA node is used for
 *
 *     Node 0 MemTotal:       24684092 kB
 *
 * Entries   "0/MemTotal": bytes where it says kB, else the number
 * Source    drivers/base/node.c, node_read_meminfo()
 */
#include "state/dump.h"

#include <stdio.h>

static const char *const files[] = {NULL};

static bool node_resembles(const struct row *row)
{
	uint64_t node;

	return row->field_count >= 3 && word_is(&row->fields[0], "Node") &&
	       word_number(&row->fields[1], &node) &&
	       row->fields[2].at[row->fields[2].bytes - 1] == ':';
}

static enum row_match node_match(const struct row *row, const struct dump *open)
{
	(void)open;
	return node_resembles(row) && row->field_count <= 5 ? ROW_YES : ROW_NO;
}

static bool node_read(struct state *state, struct dump *dump, const struct row *row,
		      struct error *error)
{
	struct field name;
	char text[96];
	uint64_t value;

	if (row->field_count < 4 || !word_number(&row->fields[3], &value))
		return dump_row_wrong(row, 3, "a whole number", error);
	if (row->field_count == 5 && !word_is(&row->fields[4], "kB"))
		return dump_row_wrong(row, 4, "kB", error);
	if (row->field_count == 5 && __builtin_mul_overflow(value, 1024, &value))
		return dump_row_wrong(row, 3, "less than 16 EiB", error);
	name.at = text;
	name.bytes = (size_t)snprintf(text, sizeof(text), "%.*s/%.*s",
				      (int)(row->fields[1].bytes & 15), row->fields[1].at,
				      (int)((row->fields[2].bytes - 1) & 63), row->fields[2].at);
	dump_add_value(state, dump, row, &name, value);
	return true;
}

const struct dump_kind dump_kind_node_meminfo = {
	.id = DUMP_NODE_MEMINFO,
	.name = "node-meminfo",
	.title = "/sys/devices/system/node/nodeN/meminfo",
	.files = files,
	.match = node_match,
	.resembles = node_resembles,
	.read = node_read,
};
