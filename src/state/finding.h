/*
 * finding: the shelf of what dumps can show
 *
 * A rule is one file in state/finding/ with one constant `struct finding_rule finding_NAME`, and one
 * line in state/finding/findings.def. state/finding/shadow_nodes.c is the smallest whole example. A
 * rule looks at the system or at a cgroup, through quantities (quantity.h), and adds what it finds:
 * a problem, an explanation, or that something is ruled out, or cannot be told from these dumps. What
 * it says it proves: by figures with their formulas, by the lines they stand on, and by where the
 * threshold that was crossed comes from.
 */
#ifndef REFAULT_STATE_FINDING_H
#define REFAULT_STATE_FINDING_H

#include "state/quantity.h"

enum finding_kind {
	FINDING_PROBLEM, /* of the caches: they forget what is needed, or cost what they should not */
	FINDING_ELSEWHERE,   /* a problem, and no caching problem */
	FINDING_EXPLANATION, /* looks like a problem, or tells where memory is */
	FINDING_RULED_OUT,   /* would be a problem, and is none */
	FINDING_CANNOT_TELL, /* these dumps do not show it */
	FINDING_KINDS,
};

enum finding_severity { SEVERITY_NONE, SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH };

struct figure {
	const char *name; /* "refaulted_pages" */
	double value;
	enum quantity_unit unit;
	const char *formula; /* "workingset_refault_file: 1,916,500 - 1,880,500" */
};

struct finding {
	const char *id;
	const char *cgroup; /* whose; NULL: the system's */
	enum finding_kind kind;
	enum finding_severity severity;
	const char *title; /* a sentence without a full stop */
	const char *text;  /* what that means, in whole sentences; "": nothing to add */
	const char *rule;  /* which threshold, and where it comes from; "": none */
	const char *
		remedy; /* what to do, or what to look at next; cannot tell: what is needed; "": nothing */
	ARRAY(struct figure) figures;
	ARRAY(const struct entry *) evidence;
};

struct findings {
	struct state *state; /* its arena holds the texts */
	ARRAY(struct finding *) list;
};

struct finding_rule {
	const char *id;      /* "file-thrash" */
	const char *summary; /* what it looks for, from lower case */
	bool of_system, of_cgroups;
	void (*judge)(struct findings *findings, const struct view *view);
};

/* The registry (state/finding/registry.c): NULL after the last. */
const struct finding_rule *finding_rule_at(size_t index);

/* ---- what rules say ---- */

struct finding *finding_add(struct findings *findings, const struct finding_rule *rule,
			    const struct view *view, enum finding_kind kind,
			    enum finding_severity severity);

void finding_title(struct findings *findings, struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a sentence. */
void finding_text(struct findings *findings, struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void finding_rule_is(struct findings *findings, struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void finding_remedy(struct findings *findings, struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void finding_figure(struct findings *findings, struct finding *finding, const char *name,
		    double value, enum quantity_unit unit, const char *formula, ...)
	__attribute__((format(printf, 6, 7)));

/* The lines a quantity stands on; none twice. */
void finding_rests_on(struct finding *finding, const struct quantity *quantity);
void finding_rests_on_entry(struct finding *finding, const struct entry *entry);

/*
 * A quantity as a figure of that name, with its lines: of a change, the formula is "field: after -
 * before", of a sum, "a + b".
 */
void finding_quantity(struct findings *findings, struct finding *finding, const char *name,
		      const struct quantity *quantity);

/* ---- figures in sentences: in the arena ---- */

const char *bytes_text(struct findings *findings, uint64_t bytes);
const char *count_text(struct findings *findings, uint64_t count);
const char *percent_text(struct findings *findings, uint64_t part, uint64_t whole);
const char *time_text(struct findings *findings, uint64_t ns);
/* " within 30.0 s", or "" where nobody knows how long it was. */
const char *within_text(struct findings *findings, const struct quantity *change);
/* "4.7 MiB/s", "1,200/s" */
const char *rate_text(struct findings *findings, const struct quantity *change, uint64_t bytes);

/* ---- what several rules need ---- */

uint64_t pages_bytes(const struct view *view, uint64_t pages);

/* Bytes of file pages that are there to be dropped: the two lists, or Cached + Buffers - Shmem. */
struct quantity quantity_file_cache(const struct view *view);

/* Is there anything of a Linux system's memory, and not of ZFS alone? */
bool view_is_linux(const struct view *view);

/* What the memory is: the machine's, or the cgroup's limit; not known: neither, or no limit. */
struct quantity quantity_memory(const struct view *view);

#endif
