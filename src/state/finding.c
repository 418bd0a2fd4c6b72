#include "state/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

struct finding *finding_add(struct findings *findings, const struct finding_rule *rule,
			    const struct view *view, enum finding_kind kind,
			    enum finding_severity severity)
{
	struct finding *finding = arena_alloc(&findings->state->arena, sizeof(*finding));

	*finding = (struct finding){
		.id = rule->id,
		.cgroup = view->cgroup,
		.kind = kind,
		.severity = severity,
		.title = "",
		.text = "",
		.rule = "",
		.remedy = "",
	};
	*array_push(&findings->list) = finding;
	return finding;
}

#define FORMATTED(text)                                                                            \
	char text[1200];                                                                           \
	va_list arguments;                                                                         \
                                                                                                   \
	va_start(arguments, format);                                                               \
	vsnprintf(text, sizeof(text), format, arguments);                                          \
	va_end(arguments)

static const char *keep(struct findings *findings, const char *text)
{
	return arena_text(&findings->state->arena, text, strlen(text));
}

void finding_title(struct findings *findings, struct finding *finding, const char *format, ...)
{
	FORMATTED(text);
	finding->title = keep(findings, text);
}

void finding_text(struct findings *findings, struct finding *finding, const char *format, ...)
{
	char joined[4000];

	FORMATTED(text);
	snprintf(joined, sizeof(joined), "%s%s%s", finding->text, finding->text[0] ? " " : "",
		 text);
	finding->text = keep(findings, joined);
}

void finding_rule_is(struct findings *findings, struct finding *finding, const char *format, ...)
{
	FORMATTED(text);
	finding->rule = keep(findings, text);
}

void finding_remedy(struct findings *findings, struct finding *finding, const char *format, ...)
{
	FORMATTED(text);
	finding->remedy = keep(findings, text);
}

void finding_figure(struct findings *findings, struct finding *finding, const char *name,
		    double value, enum quantity_unit unit, const char *format, ...)
{
	FORMATTED(formula);
	*array_push(&finding->figures) = (struct figure){
		.name = name,
		.value = value,
		.unit = unit,
		.formula = keep(findings, formula),
	};
}

void finding_rests_on_entry(struct finding *finding, const struct entry *entry)
{
	if (!entry)
		return;
	for (size_t i = 0; i < finding->evidence.count; i++) {
		const struct entry *other = finding->evidence.at[i];

		if (other->line == entry->line && strcmp(other->file, entry->file) == 0)
			return;
	}
	*array_push(&finding->evidence) = entry;
}

void finding_rests_on(struct finding *finding, const struct quantity *quantity)
{
	for (size_t i = 0; i < quantity->entry_count; i++)
		finding_rests_on_entry(finding, quantity->entries[i]);
}

/* "a + b", or of a change "a: 12 - 10" for each. */
static const char *formula_of(struct findings *findings, const struct quantity *quantity)
{
	size_t half = quantity->entry_count / 2, used = 0;
	bool is_change = half && quantity->entry_count % 2 == 0 &&
			 strcmp(quantity->entries[0]->name, quantity->entries[half]->name) == 0;
	char text[600] = "";

	for (size_t i = 0; i < (is_change ? half : quantity->entry_count) && used < sizeof(text);
	     i++) {
		const char *plus = i ? " + " : "";
		char before[2 * SIZE_TEXT_BYTES], after[2 * SIZE_TEXT_BYTES];

		if (!is_change) {
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", plus,
						 quantity->entries[i]->name);
			continue;
		}
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s: %s - %s", plus,
			quantity->entries[i]->name,
			count_format(after, quantity->entries[half + i]->values[0]),
			count_format(before, quantity->entries[i]->values[0]));
	}
	return state_text(findings->state, "%s%s", text, quantity->scale ? quantity->scale : "");
}

void finding_quantity(struct findings *findings, struct finding *finding, const char *name,
		      const struct quantity *quantity)
{
	if (!quantity->known)
		return;
	finding_figure(findings, finding, name, (double)quantity->value, quantity->unit, "%s",
		       formula_of(findings, quantity));
	finding_rests_on(finding, quantity);
}

const char *bytes_text(struct findings *findings, uint64_t bytes)
{
	char text[SIZE_TEXT_BYTES];

	return keep(findings, size_format(text, bytes));
}

const char *count_text(struct findings *findings, uint64_t count)
{
	char text[2 * SIZE_TEXT_BYTES];

	return keep(findings, count_format(text, count));
}

const char *percent_text(struct findings *findings, uint64_t part, uint64_t whole)
{
	double percent = share_percent(part, whole);

	if (percent > 0 && percent < 0.05)
		return "less than 0.1 %";
	return state_text(findings->state, percent >= 999.5 ? "%.0f %%" : "%.1f %%", percent);
}

const char *time_text(struct findings *findings, uint64_t ns)
{
	char text[SIZE_TEXT_BYTES];

	return keep(findings, time_format(text, ns));
}

const char *within_text(struct findings *findings, const struct quantity *change)
{
	if (!change->has_interval)
		return "";
	return state_text(findings->state, " within %s", time_text(findings, change->interval_ns));
}

const char *rate_text(struct findings *findings, const struct quantity *change, uint64_t bytes)
{
	double rate;

	if (!change->has_interval)
		return "at a rate that is not known";
	rate = per_second(bytes ? bytes : change->value, change->interval_ns);
	if (bytes)
		return state_text(findings->state, "%s/s", bytes_text(findings, (uint64_t)rate));
	if (rate < 10)
		return state_text(findings->state, "%.1f/s", rate);
	return state_text(findings->state, "%s/s", count_text(findings, (uint64_t)(rate + 0.5)));
}

uint64_t pages_bytes(const struct view *view, uint64_t pages)
{
	uint64_t bytes;

	return __builtin_mul_overflow(pages, view->state->page_bytes, &bytes) ? UINT64_MAX : bytes;
}

static void quantity_join(struct quantity *sum, const struct quantity *part)
{
	for (size_t i = 0; i < part->entry_count && sum->entry_count < QUANTITY_ENTRIES_MAX; i++)
		sum->entries[sum->entry_count++] = part->entries[i];
}

struct quantity quantity_file_cache(const struct view *view)
{
	struct quantity active = quantity_now(view, QUANTITY_active_file);
	struct quantity inactive = quantity_now(view, QUANTITY_inactive_file);
	struct quantity cached, buffers, shmem;

	if (active.known && inactive.known) {
		active.value += inactive.value;
		quantity_join(&active, &inactive);
		return active;
	}
	cached = quantity_now(view, QUANTITY_cached);
	buffers = quantity_now(view, QUANTITY_buffers);
	shmem = quantity_now(view, QUANTITY_shmem);
	if (!cached.known)
		return cached;
	cached.value += quantity_or_zero(&buffers);
	cached.value -= quantity_or_zero(&shmem) < cached.value ? quantity_or_zero(&shmem) : 0;
	quantity_join(&cached, &buffers);
	quantity_join(&cached, &shmem);
	return cached;
}

bool view_is_linux(const struct view *view)
{
	static const enum dump_id of_linux[] = {DUMP_MEMINFO, DUMP_VMSTAT, DUMP_SLABINFO,
						DUMP_SLABTOP, DUMP_FS_STATE};

	if (view->cgroup)
		return true;
	for (size_t i = 0; i < sizeof(of_linux) / sizeof(of_linux[0]); i++) {
		if (state_series(view->state, of_linux[i], NULL, NULL))
			return true;
	}
	return false;
}

struct quantity quantity_memory(const struct view *view)
{
	return quantity_now(view, view->cgroup ? QUANTITY_limit : QUANTITY_total);
}
