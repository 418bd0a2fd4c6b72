/*
 * pinned_dentries: names and inodes that are in use, and so cannot be reclaimed
 *
 * Idea       What is not on an LRU list is held: by open files, working directories, watches, mounts, or by
 *            names below it. Held dentries hold their inodes, and these the file system's own memory.
 * Source     fs/dcache.c: nr_dentry less nr_unused; Documentation/filesystems/proc.rst, dentry-state
 * Constants  SHARE in percent of memory: ours; INODE_BYTES, what is added for an inode when no slabinfo
 *            says: 1128, ext4's on 64-bit kernels (measured: /proc/slabinfo of Linux 6.18)
 * Weakness   directories above cached names are held by them, and let go with them
 */
#include "state/finding.h"

#include "base/size.h"
#include "state/slab.h"

enum { SHARE = 5, DENTRY_BYTES = 192, INODE_BYTES = 1128 };

extern const struct finding_rule finding_pinned_dentries;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity all = quantity_now(view, QUANTITY_dentries);
	struct quantity unused = quantity_now(view, QUANTITY_dentries_unused);
	struct quantity memory = quantity_memory(view);
	struct finding *finding;
	uint64_t pinned, bytes;
	bool is_large;

	if (!all.known || !unused.known || unused.value > all.value)
		return;
	pinned = all.value - unused.value;
	if (__builtin_mul_overflow(pinned, DENTRY_BYTES + INODE_BYTES, &bytes))
		return;
	is_large = memory.known && is_share_at_least(bytes, memory.value, SHARE);
	finding = finding_add(findings, &finding_pinned_dentries, view,
			      is_large ? FINDING_PROBLEM : FINDING_RULED_OUT,
			      is_large ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(
		findings, finding,
		is_large ? "%s of %s dentries are in use and cannot be reclaimed: with their "
			   "inodes about %s"
			 : "%s of %s dentries are in use, the others can be reclaimed (with their "
			   "inodes, those in use are about %s)",
		count_text(findings, pinned), count_text(findings, all.value),
		bytes_text(findings, bytes));
	if (is_large)
		finding_text(
			findings, finding,
			"Neither memory pressure nor drop_caches takes them: they are open files, "
			"watched ones (inotify), or exported. A limit that they do not fit in ends "
			"in "
			"a kill.");
	finding_quantity(findings, finding, "dentries", &all);
	finding_quantity(findings, finding, "dentries_unused", &unused);
	finding_figure(findings, finding, "dentries_in_use", (double)pinned, UNIT_COUNT, "%s - %s",
		       count_text(findings, all.value), count_text(findings, unused.value));
	finding_figure(findings, finding, "pinned_bytes", (double)bytes, UNIT_BYTES,
		       "%s * (%d + %d bytes: dentry and inode of ext4)",
		       count_text(findings, pinned), DENTRY_BYTES, INODE_BYTES);
	finding_rests_on(finding, &memory);
	finding_rule_is(findings, finding, "at least %d %% of memory (ours)", SHARE);
	if (is_large)
		finding_remedy(findings, finding,
			       "count open files (/proc/sys/fs/file-nr) and watches "
			       "(fs.inotify.max_user_watches)");
}

const struct finding_rule finding_pinned_dentries = {
	.id = "pinned-dentries",
	.summary = "dentries and inodes in use, which cannot be reclaimed",
	.of_system = true,
	.judge = judge,
};
