/*
 * schema: which keys a scenario may hold, and how each is read
 *
 * The list is schema.def (and, for the keys of one generator, the generator's own table): from it
 * come the parser, the message for a key that does not exist, and docs/scenarios.md, which a test
 * holds against it. A section of a scenario is read into a plain struct, each value at its offset.
 */
#ifndef REFAULT_SOURCE_SCHEMA_H
#define REFAULT_SOURCE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct yaml;
struct yaml_node;

enum schema_section {
	SCHEMA_SCENARIO,
	SCHEMA_MACHINE,
	SCHEMA_DEVICE,
	SCHEMA_FILE,
	SCHEMA_JOB,
	SCHEMA_STEP,
	SCHEMA_SETTING,
	SCHEMA_CLAIM,
	SCHEMA_FIGURE,
	SCHEMA_SECTION_COUNT,
};

/* What a value is, and so the type of the field it lands in. */
enum schema_type {
	SCHEMA_TEXT,      /* const char * */
	SCHEMA_SIZE,      /* uint64_t, bytes */
	SCHEMA_TIME,      /* uint64_t, ns */
	SCHEMA_NUMBER,    /* uint64_t */
	SCHEMA_RATIO,     /* uint64_t, millionths: "0.99" */
	SCHEMA_FLAG,      /* bool: yes or no */
	SCHEMA_WORD,      /* uint32_t, which of `words` */
	SCHEMA_BANDWIDTH, /* uint64_t, bytes per second: "2GB/s" */
	SCHEMA_RATE,      /* struct schema_rate: "500/s", "20MiB/s" */
	SCHEMA_LOOP,      /* uint64_t: a number from 1, or "forever" as 0 */
	SCHEMA_NAMES,     /* const struct yaml_node *: a name or a list of names */
	SCHEMA_LIST,      /* const struct yaml_node *: a list */
	SCHEMA_MAPPING,   /* const struct yaml_node * */
	SCHEMA_NODE,      /* const struct yaml_node *: anything */
	SCHEMA_TARGET,    /* not read into a field: a verb and the file it goes to */
};

struct schema_rate {
	uint64_t per_s; /* 0: as fast as it goes */
	bool is_bytes;
};

struct schema_key {
	enum schema_section section;
	const char *name;
	enum schema_type type;
	size_t offset;
	const char *
		/* text of the default; "": none, the field stays zero; "required": must be there */
		fallback;
	const char *words;   /* SCHEMA_WORD: "no|read|written"; else NULL */
	uint64_t low, high;  /* what SIZE, TIME, NUMBER, RATIO may be */
	const char *meaning; /* for docs/scenarios.md */
};

/* "machine", "device", ... as messages and the documentation call it. */
const char *schema_section_name(enum schema_section section);

/* Keys, and the struct they are read into. */
struct schema_table {
	const struct schema_key *keys;
	size_t count;
	void *to;
};

/* The keys of a section, to be read into `to`. */
struct schema_table schema_table(enum schema_section section, void *to);

/*
 * Read the mapping `node` by these tables. Fails (ERROR_INPUT, at the value or key) on a key that
 * is in none of them (the nearest is named), a required one missing, a value of the wrong kind or
 * out of bounds. `what` names the mapping.
 */
bool schema_read(const struct yaml *yaml, const struct yaml_node *node, const char *what,
		 const struct schema_table *tables, size_t table_count, struct error *error);

/* "size", "yes or no", "`a`, `b` or `c`": what may stand there. Returns `text`. */
const char *schema_expects(char text[160], const struct schema_key *key);

#endif
