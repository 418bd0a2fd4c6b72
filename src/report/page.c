#include "report/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "measure/compared.h"
#include "report/asset.h"
#include "report/drawing.h"
#include "report/markup.h"
#include "report/runs.h"
#include "report/section.h"

/* ---- the runs ---- */

const char *page_text(const struct page *page, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	const char *kept;
	int bytes;

	va_start(arguments, format);
	bytes = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (bytes < 0)
		abort();
	/* The arena is how the page keeps its texts; nothing else of the page changes. */
	kept = arena_text((struct arena *)&page->arena, text, (size_t)bytes);
	free(text);
	return kept;
}

void *page_alloc(const struct page *page, size_t count, size_t bytes)
{
	return arena_alloc((struct arena *)&page->arena, (count + 1) * bytes);
}

static const struct compared_side *side_of(const struct page *page, const struct stored *stored)
{
	for (size_t i = 0; page->compared && i < page->compared->side_count; i++) {
		const struct compared_side *side = &page->compared->sides[i];

		for (size_t k = 0; k < side->run_count; k++)
			if (strcmp(side->runs[k].id, stored->run.id) == 0)
				return side;
	}
	return NULL;
}

static const char *name_of(const struct page *page, const struct stored *stored)
{
	const struct compared_side *side = side_of(page, stored);

	if (!side)
		return run_setting(&stored->run);
	return side->run_count > 1
		       ? page_text(page, "%s, seed %" PRIu64, side->name, stored->run.seed)
		       : side->name;
}

void page_init(struct page *page, const struct stored *runs, size_t count,
	       const struct compared *compared, const char *version)
{
	*page = (struct page){
		.runs = runs, .count = count, .compared = compared, .version = version};
	page->names = page_alloc(page, count, sizeof(*page->names));
	page->options = page_alloc(page, count, sizeof(*page->options));
	for (size_t i = 0; i < count; i++) {
		page->names[i] = name_of(page, &runs[i]);
		drawing_read(&page->options[i], runs[i].drawing, &page->arena);
	}
}

void page_deinit(struct page *page)
{
	arena_deinit(&page->arena);
}

size_t page_drawn(const struct page *page)
{
	return page->count < PAGE_RUNS_DRAWN ? page->count : PAGE_RUNS_DRAWN;
}

const json_t *page_explanation(const struct page *page, const struct stored **run)
{
	for (size_t i = 0; i < page->count; i++) {
		const json_t *told = json_object_get(page->runs[i].json, "explanation");

		if (!json_is_object(told))
			continue;
		*run = &page->runs[i];
		return told;
	}
	return NULL;
}

/* ---- the page ---- */

static bool has(const struct section *section, const struct page *page)
{
	return !section->has || section->has(page);
}

static void section_draw(const struct section *section, const struct page *page,
			 struct sheet *sheet)
{
	fprintf(sheet->html, "<section id=\"part-%s\"", section->name);
	if (section->title)
		fprintf(sheet->html, " aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n",
			section->name, section->name, section->title);
	else
		fputs(">\n", sheet->html);
	section->write(page, sheet);
	fputs("</section>\n", sheet->html);
}

static void missing_write(const struct page *page, struct sheet *sheet)
{
	bool is_first = true;

	for (size_t i = 0; section_at(i); i++) {
		const struct section *section = section_at(i);

		if (has(section, page) || !section->otherwise)
			continue;
		if (is_first)
			fputs("<section id=\"part-missing\" aria-labelledby=\"missing-h\">\n"
			      "<h2 id=\"missing-h\">Not in this report</h2>\n<ul>\n",
			      sheet->html);
		is_first = false;
		fprintf(sheet->html, "<li>%s: ", section->title);
		markup_text(sheet->html, section->otherwise);
		fputs("</li>\n", sheet->html);
	}
	if (!is_first)
		fputs("</ul>\n</section>\n", sheet->html);
}

void page_draw(const struct page *page, struct sheet *sheet)
{
	for (size_t i = 0; section_at(i); i++)
		if (has(section_at(i), page))
			section_draw(section_at(i), page, sheet);
	missing_write(page, sheet);
}

static void asset_write(FILE *out, enum asset_id id)
{
	size_t bytes;
	const char *text = asset_text(id, &bytes);

	fwrite(text, 1, bytes, out);
}

static void links_write(FILE *out, const struct page *page)
{
	fputs("<nav aria-label=\"Sections\"><ul>\n", out);
	for (size_t i = 0; section_at(i); i++)
		if (section_at(i)->title && has(section_at(i), page))
			fprintf(out, "<li><a href=\"#part-%s\">%s</a></li>\n", section_at(i)->name,
				section_at(i)->title);
	fputs("</ul></nav>\n", out);
}

static json_t *runs_of(const struct page *page)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < page->count; i++)
		json_array_append_new(runs, run_export_json(&page->runs[i]));
	return runs;
}

/* Figures of charts are as exact as a screen; the results are what `--json` printed. */
static void data_write(FILE *out, const char *id, json_t *json, size_t digits)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	markup_json(out, json, digits);
	fputs("</script>\n", out);
}

void page_write(FILE *out, const struct page *page, const struct sheet *sheet)
{
	json_t *runs = runs_of(page);

	/* Nothing is loaded from anywhere, whatever a name holds. */
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      out);
	markup_format(out, "refault: %s",
		      page->runs[0].run.input ? page->runs[0].run.input : "report");
	fputs("</title>\n<style>\n", out);
	asset_write(out, ASSET_UPLOT_CSS);
	asset_write(out, ASSET_PAGE_CSS);
	fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the report</a>\n",
	      out);
	links_write(out, page);
	fputs("<main id=\"main\">\n", out);
	fwrite(sheet->text, 1, sheet->bytes, out);
	fputs("</main>\n<footer><p>", out);
	markup_format(out, "Drawn by refault %s.", page->version);
	fputs(" Charts: uPlot (MIT licence, in this file). The results are in it too, as JSON: "
	      "the element with the id \"runs\".</p></footer>\n"
	      "<div id=\"said\" role=\"status\" aria-live=\"polite\"></div>\n",
	      out);
	data_write(out, "charts", sheet->data, 6);
	data_write(out, "runs", runs, 17);
	fputs("<script>\n", out);
	asset_write(out, ASSET_UPLOT_JS);
	fputs("</script>\n<script>\n", out);
	asset_write(out, ASSET_PAGE_JS);
	fputs("</script>\n</body>\n</html>\n", out);
	json_decref(runs);
}
