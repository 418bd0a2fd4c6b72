/* What it ran on. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "measure/result.h"
#include "report/markup.h"
#include "report/section.h"

static void memory_row(const struct page *page, struct sheet *sheet, size_t run)
{
	const struct result *result = &page->runs[run].result;
	char size[2 * SIZE_TEXT_BYTES];

	if (page->options[run].bare_pages)
		page_row(sheet, "memory", "%s pages",
			 count_format(size, page->options[run].bare_pages));
	else if (result->memory_bytes)
		page_row(sheet, "memory", "%s%s", size_format(size, result->memory_bytes),
			 result->is_cgroup ? " (a memory cgroup's limit)" : "");
}

static void device_row(struct sheet *sheet, const struct result_device *device)
{
	char size[SIZE_TEXT_BYTES];

	if (device->name && device->size_bytes)
		page_row(sheet, "device", "%s, %s", device->name,
			 size_format(size, device->size_bytes));
	else if (device->name)
		page_row(sheet, "device", "%s", device->name);
}

static void run_table(const struct page *page, struct sheet *sheet, size_t run)
{
	const struct result *result = &page->runs[run].result;
	char size[2 * SIZE_TEXT_BYTES];

	fputs("<table class=\"words\"><caption>", sheet->html);
	markup_text(sheet->html, page->names[run]);
	fputs("</caption><tbody>\n", sheet->html);
	if (result->machine)
		page_row(sheet, "machine", "%s", result->machine);
	if (result->policy)
		page_row(sheet, "policy", "%s", result->policy);
	if (result->kernel)
		page_row(sheet, "kernel", "%s%s%s%s", result->kernel,
			 result->has_mglru ? ", multi-generational LRU" : "",
			 result->statistics ? ", statistics " : "",
			 result->statistics ? result->statistics : "");
	memory_row(page, sheet, run);
	if (result->filesystem)
		page_row(sheet, "file system", "%s", result->filesystem);
	if (result->readahead_bytes)
		page_row(sheet, "readahead", "%s", size_format(size, result->readahead_bytes));
	device_row(sheet, &result->device);
	if (result->cpu_count)
		page_row(sheet, "processors", "%" PRIu64, result->cpu_count);
	if (result->elapsed_ns)
		page_row(sheet, "time", "%s", time_format(size, result->elapsed_ns));
	if (result->run_count > 1)
		page_row(sheet, "repeated", "%" PRIu64 " times; figures are the middle run's",
			 result->run_count);
	for (size_t i = 0; i < result->note_count; i++)
		page_row(sheet, "note", "%s.", result->notes[i]);
	fputs("</tbody></table>\n", sheet->html);
}

static void write(const struct page *page, struct sheet *sheet)
{
	fputs("<div class=\"charts\">\n", sheet->html);
	for (size_t i = 0; i < page_drawn(page); i++)
		run_table(page, sheet, i);
	fputs("</div>\n", sheet->html);
}

const struct section section_machine = {
	.name = "machine", .title = "The machine", .write = write};
