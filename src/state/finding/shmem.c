/*
 * shmem: tmpfs and shared memory look like page cache, and cannot be dropped
 *
 * Source     Documentation/filesystems/tmpfs.rst; NR_SHMEM is part of NR_FILE_PAGES, "Cached", but its
 *            pages are on the anonymous lists (mm/shmem.c, shmem_add_to_page_cache())
 * Constants  SHARE in percent of the machine's memory, SHARE_OF_LIMIT of a cgroup's limit: ours
 */
#include "state/finding.h"

#include "base/size.h"

enum { SHARE = 10, SHARE_OF_LIMIT = 25 };

extern const struct finding_rule finding_shmem;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity shmem = quantity_now(view, QUANTITY_shmem);
	struct quantity memory = quantity_memory(view);
	struct quantity cached = quantity_now(view, QUANTITY_cached);
	struct quantity swap = quantity_now(view, QUANTITY_swap_total);
	bool is_large;
	struct finding *finding;

	if (!shmem.known || !memory.known ||
	    !is_share_at_least(shmem.value, memory.value, view->cgroup ? SHARE_OF_LIMIT : SHARE))
		return;
	is_large = is_share_at_least(shmem.value, memory.value, 50);
	finding = finding_add(findings, &finding_shmem, view,
			      is_large ? FINDING_ELSEWHERE : FINDING_EXPLANATION,
			      is_large ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(findings, finding,
		      "%s (%s of %s) are shared memory or files on tmpfs: they cannot be dropped",
		      bytes_text(findings, shmem.value),
		      percent_text(findings, shmem.value, memory.value),
		      view->cgroup ? "the limit" : "memory");
	finding_text(
		findings, finding,
		"They are counted as page cache (%s), but there is no file on a disk to read them "
		"from again%s.",
		cached.known ? bytes_text(findings, cached.value) : "Cached",
		swap.known && swap.value == 0 ? "; without swap they stay until they are deleted"
					      : "; only swap takes them");
	finding_quantity(findings, finding, "shmem_bytes", &shmem);
	finding_quantity(findings, finding, view->cgroup ? "limit_bytes" : "total_bytes", &memory);
	finding_rests_on(finding, &cached);
	finding_rests_on(finding, &swap);
	finding_rule_is(findings, finding, "at least %d %% of %s (ours)",
			view->cgroup ? SHARE_OF_LIMIT : SHARE,
			view->cgroup ? "the limit" : "memory");
	finding_remedy(findings, finding,
		       "look at `df -t tmpfs`, and at shared_buffers and the like");
}

const struct finding_rule finding_shmem = {
	.id = "shmem",
	.summary = "shared memory and tmpfs, counted as cache",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
