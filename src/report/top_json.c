/*
 * A view of a running system as a program reads it: docs/top.md.
 */
#include "report/report_private.h"
#include "report/top.h"

static json_t *amount_json(const struct top_amount *amount)
{
	return amount->known ? json_number(amount->value) : json_null();
}

static json_t *known_json(bool is_known, uint64_t value)
{
	return is_known ? json_number(value) : json_null();
}

/* The ratio of two whole numbers, so with the digits that it has. */
static json_t *ratio_json(const struct top_amount *hits, uint64_t accesses)
{
	return hits->known && accesses ? json_real((double)hits->value / (double)accesses)
				       : json_null();
}

static json_t *pages_json(const struct top_view *view)
{
	const struct top_counts *counts = &view->counts;
	const bool is_counting = view->is_counting, sees_reads = is_counting && view->sees_reads;
	json_t *pages = json_object();

	json_object_set_new(pages, "accesses", known_json(sees_reads, counts->accesses));
	json_object_set_new(pages, "hits", amount_json(&view->hits));
	json_object_set_new(pages, "misses", known_json(sees_reads, counts->misses));
	json_object_set_new(pages, "inserted", known_json(is_counting, counts->inserted));
	json_object_set_new(pages, "refaults", amount_json(&view->refaults));
	json_object_set_new(pages, "evicted", known_json(is_counting, counts->evicted));
	json_object_set_new(pages, "dropped", known_json(is_counting, counts->dropped));
	json_object_set_new(pages, "never_asked_for", known_json(sees_reads, counts->unused));
	json_object_set_new(pages, "faults", known_json(sees_reads, counts->faults));
	json_object_set_new(pages, "fault_misses", known_json(sees_reads, counts->fault_misses));
	return pages;
}

static json_t *conservation_json(const struct top_view *view)
{
	const struct top_conservation *sum = &view->conservation;
	json_t *json = json_object();

	if (!sum->known) {
		json_decref(json);
		return json_null();
	}
	json_object_set_new(json, "holds", json_boolean(sum->holds));
	json_object_set_new(json, "pages_in", json_number(sum->pages_in));
	json_object_set_new(json, "pages_out", json_number(sum->pages_out));
	json_object_set_new(json, "counted_change_pages", json_integer(sum->counted_pages));
	json_object_set_new(json, "kernel_change_pages", json_integer(sum->level_pages));
	json_object_set_new(json, "error_pages", json_integer(sum->error_pages));
	json_object_set_new(json, "tolerance_pages", json_number(sum->tolerance_pages));
	return json;
}

static json_t *levels_json(const struct top_view *view)
{
	json_t *levels = json_object();

	for (size_t i = 0; i < TOP_LEVELS; i++)
		json_object_set_new(levels, top_level_name((enum top_level)i),
				    amount_json(&view->levels[i]));
	return levels;
}

static json_t *kernel_json(const struct top_view *view)
{
	json_t *counters = json_object();

	for (size_t i = 0; i < TOP_COUNTERS; i++)
		json_object_set_new(counters, top_counter_name((enum top_counter)i),
				    amount_json(&view->counters[i]));
	return counters;
}

static json_t *slabs_json(const struct top_view *view)
{
	json_t *slabs = json_array();

	if (!view->slab_count) {
		json_decref(slabs);
		return json_null();
	}
	for (size_t i = 0; i < view->slab_count; i++) {
		json_t *slab = json_object();

		json_object_set_new(slab, "name", json_text(view->slabs[i].name));
		json_object_set_new(slab, "bytes", json_number(view->slabs[i].bytes));
		json_object_set_new(slab, "objects", json_number(view->slabs[i].objects));
		json_array_append_new(slabs, slab);
	}
	return slabs;
}

static json_t *file_json(const struct top_view *view, const struct top_view_file *file)
{
	const struct top_amount *resident = &file->total.resident;
	const bool is_counted = file->total.is_counted;
	json_t *json = json_object();

	json_object_set_new(json, "path", json_text(file->total.path));
	json_object_set_new(json, "device", json_number(file->total.device));
	json_object_set_new(json, "inode", json_number(file->total.ino));
	json_object_set_new(json, "size", amount_json(&file->total.size));
	json_object_set_new(json, "resident_bytes",
			    known_json(resident->known, resident->value * view->page_bytes));
	json_object_set_new(json, "resident_from",
			    !resident->known ? json_null()
			    : file->is_measured
				    ? json_text(file->dirty.known ? "cachestat" : "mincore")
				    : json_text("counting"));
	json_object_set_new(json, "dirty_bytes",
			    known_json(file->dirty.known, file->dirty.value * view->page_bytes));
	json_object_set_new(json, "recently_evicted_pages", amount_json(&file->recently_evicted));
	json_object_set_new(
		json, "accesses",
		known_json(view->sees_reads && file->accesses.known, file->accesses.value));
	json_object_set_new(json, "misses",
			    known_json(view->sees_reads && file->misses.known, file->misses.value));
	json_object_set_new(json, "refaults", amount_json(&file->refaults));
	json_object_set_new(json, "evicted", amount_json(&file->evicted));
	json_object_set_new(json, "dropped", amount_json(&file->dropped));
	json_object_set_new(
		json, "refaults_total",
		known_json(is_counted, file->total.refaults > file->total.rewritten
					       ? file->total.refaults - file->total.rewritten
					       : 0));
	return json;
}

json_t *top_json(const struct top_shown *shown, size_t files)
{
	const struct top_view *view = shown->view;
	json_t *json = json_object(), *list = json_array();

	json_object_set_new(json, "time", json_text(shown->time));
	json_object_set_new(json, "system", json_text(shown->system));
	json_object_set_new(json, "target",
			    shown->target[0] ? json_text(shown->target) : json_null());
	json_object_set_new(json, "interval_ns", json_number(view->interval_ns));
	json_object_set_new(json, "page_bytes", json_number(view->page_bytes));
	json_object_set_new(json, "hit_ratio", ratio_json(&view->hits, view->counts.accesses));
	json_object_set_new(json, "no_ratio_because",
			    view->why == TOP_WHY_NOT ? json_null()
						     : json_text(top_why_text(view->why)));
	json_object_set_new(json, "pages", pages_json(view));
	json_object_set_new(json, "conservation", conservation_json(view));
	json_object_set_new(json, "skipped_events",
			    known_json(view->is_counting, view->skipped + view->counts.uncounted));
	json_object_set_new(json, "levels", levels_json(view));
	json_object_set_new(json, "kernel", kernel_json(view));
	json_object_set_new(json, "slabs", slabs_json(view));
	for (size_t i = 0; i < view->files.count && i < files; i++)
		json_array_append_new(list, file_json(view, &view->files.at[i]));
	json_object_set_new(json, "files", list);
	json_object_set_new(json, "note", shown->note[0] ? json_text(shown->note) : json_null());
	return json;
}
