/* What it ran on: a column for each run, and one for all where they agree. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "measure/result.h"
#include "report/markup.h"
#include "report/section.h"

enum what {
	WHAT_MACHINE,
	WHAT_POLICY,
	WHAT_KERNEL,
	WHAT_MEMORY,
	WHAT_FILESYSTEM,
	WHAT_READAHEAD,
	WHAT_DEVICE,
	WHAT_PROCESSORS,
	WHAT_TIME,
	WHAT_REPEATED,
	WHATS,
};

static const char *const headings[WHATS] = {
	[WHAT_MACHINE] = "machine",
	[WHAT_POLICY] = "policy",
	[WHAT_KERNEL] = "kernel",
	[WHAT_MEMORY] = "memory",
	[WHAT_FILESYSTEM] = "file system",
	[WHAT_READAHEAD] = "readahead",
	[WHAT_DEVICE] = "device",
	[WHAT_PROCESSORS] = "processors",
	[WHAT_TIME] = "time",
	[WHAT_REPEATED] = "repeated",
};

static const char *memory_of(const struct page *page, size_t run)
{
	const struct result *result = &page->runs[run].result;
	char size[2 * SIZE_TEXT_BYTES];

	if (page->options[run].bare_pages)
		return page_text(page, "%s pages",
				 count_format(size, page->options[run].bare_pages));
	if (result->memory_bytes == 0)
		return NULL;
	return page_text(page, "%s%s", size_format(size, result->memory_bytes),
			 result->is_cgroup ? " (a memory cgroup's limit)" : "");
}

static const char *kernel_of(const struct page *page, const struct result *result)
{
	if (!result->kernel)
		return NULL;
	return page_text(page, "%s%s%s%s", result->kernel,
			 result->has_mglru ? ", multi-generational LRU" : "",
			 result->statistics ? ", statistics " : "",
			 result->statistics ? result->statistics : "");
}

static const char *device_of(const struct page *page, const struct result_device *device)
{
	char size[SIZE_TEXT_BYTES];

	if (device->name && device->size_bytes)
		return page_text(page, "%s, %s", device->name,
				 size_format(size, device->size_bytes));
	return device->name;
}

/* NULL: it is not known, or there is none. */
static const char *text_of(const struct page *page, size_t run, enum what what)
{
	const struct result *result = &page->runs[run].result;
	char size[SIZE_TEXT_BYTES];

	switch (what) {
	case WHAT_MACHINE:
		return page->options[run].bare_pages ? "plain cache" : result->machine;
	case WHAT_POLICY:
		return result->policy;
	case WHAT_KERNEL:
		return kernel_of(page, result);
	case WHAT_MEMORY:
		return memory_of(page, run);
	case WHAT_FILESYSTEM:
		return result->filesystem;
	case WHAT_READAHEAD:
		return result->readahead_bytes && !page->options[run].bare_pages
			       ? page_text(page, "%s", size_format(size, result->readahead_bytes))
			       : NULL;
	case WHAT_DEVICE:
		return device_of(page, &result->device);
	case WHAT_PROCESSORS:
		return result->cpu_count ? page_text(page, "%" PRIu64, result->cpu_count) : NULL;
	case WHAT_TIME:
		return result->elapsed_ns
			       ? page_text(page, "%s", time_format(size, result->elapsed_ns))
			       : NULL;
	case WHAT_REPEATED:
		return result->run_count > 1
			       ? page_text(page, "%" PRIu64 " times; figures are the middle run's",
					   result->run_count)
			       : NULL;
	default:
		return NULL;
	}
}

static void row_write(const struct page *page, FILE *out, enum what what)
{
	const char **texts = page_alloc(page, page->count, sizeof(*texts));
	bool is_known = false, is_same = true;

	for (size_t i = 0; i < page->count; i++) {
		texts[i] = text_of(page, i, what);
		is_known |= texts[i] != NULL;
		is_same &= texts[i] && texts[0] && strcmp(texts[i], texts[0]) == 0;
	}
	if (!is_known)
		return;
	fprintf(out, "<tr><th scope=\"row\">%s</th>", headings[what]);
	for (size_t i = 0; i < (is_same ? 1 : page->count); i++) {
		if (is_same)
			fprintf(out, "<td colspan=\"%zu\">", page->count);
		else
			fputs("<td>", out);
		markup_text(out, texts[i] ? texts[i] : "-");
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

/* Each note once. */
static void notes_write(const struct page *page, FILE *out)
{
	for (size_t i = 0; i < page->count; i++) {
		for (size_t k = 0; k < page->runs[i].result.note_count; k++) {
			const char *note = page->runs[i].result.notes[k];
			bool is_new = true;

			for (size_t before = 0; before < i; before++)
				for (size_t n = 0; n < page->runs[before].result.note_count; n++)
					is_new &= strcmp(page->runs[before].result.notes[n],
							 note) != 0;
			if (!is_new)
				continue;
			fputs("<p>", out);
			markup_text(out, note);
			fputs(".</p>\n", out);
		}
	}
}

static void write(const struct page *page, struct sheet *sheet)
{
	FILE *out = sheet->html;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"The machine\">"
	      "<table class=\"words\"><caption>What it ran on</caption>\n<thead><tr><th "
	      "scope=\"col\">run</th>",
	      out);
	for (size_t i = 0; i < page->count; i++) {
		fputs("<th scope=\"col\">", out);
		markup_text(out, page->names[i]);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (enum what what = 0; what < WHATS; what++)
		row_write(page, out, what);
	fputs("</tbody></table></div>\n", out);
	notes_write(page, out);
}

const struct section section_machine = {.name = "machine", .title = "The machine", .write = write};
