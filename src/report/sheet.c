#include "report/sheet.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result.h"
#include "measure/value.h"
#include "report/markup.h"
#include "report/number.h"
#include "report/sheet_private.h"

static_assert((int)AXIS_TEXT_BYTES > (int)NUMBER_TEXT_BYTES + 8, "a figure and its unit fit");

void sheet_init(struct sheet *sheet)
{
	*sheet = (struct sheet){.data = json_array()};
	sheet->html = open_memstream(&sheet->text, &sheet->bytes);
	if (!sheet->html)
		abort();
}

void sheet_finish(struct sheet *sheet)
{
	fclose(sheet->html);
	sheet->html = NULL;
}

void sheet_deinit(struct sheet *sheet)
{
	if (sheet->html)
		sheet_finish(sheet);
	for (size_t i = 0; i < sheet->charts.count; i++) {
		struct sheet_chart *chart = &sheet->charts.at[i];

		memory_free((char *)chart->picture.id);
		memory_free((char *)chart->picture.title);
		memory_free((char *)chart->picture.description);
		free(chart->drawn);
	}
	array_deinit(&sheet->charts);
	json_decref(sheet->data);
	free(sheet->text);
}

/* ---- charts ---- */

FILE *sheet_chart_begin(struct sheet *sheet)
{
	sheet->drawing = open_memstream(&sheet->drawn, &sheet->drawn_bytes);
	if (!sheet->drawing)
		abort();
	return sheet->drawing;
}

void sheet_chart_end(struct sheet *sheet, const struct svg_picture *picture, const char *caption,
		     bool is_data)
{
	struct sheet_chart *chart = array_push(&sheet->charts);
	FILE *out = sheet->html;

	fclose(sheet->drawing);
	chart->drawn = sheet->drawn;
	chart->picture = *picture;
	chart->picture.id = text_copy(picture->id);
	chart->picture.title = text_copy(picture->title);
	chart->picture.description = text_copy(picture->description);
	fprintf(out, "<figure id=\"%s\"%s>\n<h3>", picture->id, is_data ? " class=\"live\"" : "");
	markup_text(out, picture->title);
	/* A region that scrolls must be reachable by keyboard. */
	fputs("</h3>\n<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"", out);
	markup_format(out, "%s. %s", picture->title, picture->description);
	fputs("\">\n", out);
	svg_begin(out, picture);
	fputs(chart->drawn, out);
	svg_end(out);
	fputs("</div>\n<figcaption>", out);
	markup_text(out, picture->description);
	if (caption) {
		fputs(" ", out);
		markup_text(out, caption);
	}
	fputs("</figcaption>\n", out);
}

void sheet_figure_end(struct sheet *sheet)
{
	fputs("</figure>\n", sheet->html);
}

void sheet_table_begin(struct sheet *sheet, const char *title)
{
	fputs("<details><summary>As a table</summary><div class=\"scroll\" tabindex=\"0\" "
	      "role=\"group\" aria-label=\"Table\"><table><caption>",
	      sheet->html);
	markup_text(sheet->html, title);
	fputs("</caption>\n", sheet->html);
}

void sheet_table_end(struct sheet *sheet)
{
	fputs("</table></div></details>\n", sheet->html);
}

/* ---- figures ---- */

static const char *nines_format(char text[AXIS_TEXT_BYTES], double value)
{
	static const char *const names[] = {"least",   "90 %",     "99 %",     "99.9 %",
					    "99.99 %", "99.999 %", "99.9999 %"};
	size_t nines = value > 0 ? (size_t)value : 0;

	if (nines >= sizeof(names) / sizeof(names[0]))
		nines = sizeof(names) / sizeof(names[0]) - 1;
	return strcpy(text, names[nines]);
}

const char *axis_format(char text[AXIS_TEXT_BYTES], double value, enum axis_unit unit)
{
	static const enum value_unit units[] = {
		[AXIS_COUNT] = VALUE_COUNT,
		[AXIS_BYTES] = VALUE_BYTES,
		[AXIS_NS] = VALUE_NS,
		[AXIS_SECONDS] = VALUE_NS,
		[AXIS_PER_SECOND] = VALUE_PER_SECOND,
		[AXIS_BYTES_PER_SECOND] = VALUE_BYTES,
		[AXIS_PERCENT] = VALUE_COUNT,
		[AXIS_NINES] = VALUE_COUNT,
	};

	if (!isfinite(value))
		return strcpy(text, "?");
	if (unit == AXIS_NINES)
		return nines_format(text, value);
	if (unit == AXIS_SECONDS) {
		if (value < 120)
			snprintf(text, AXIS_TEXT_BYTES, value < 10 ? "%.3g s" : "%.0f s", value);
		else
			number_format(text, value * (double)NS_PER_SECOND, VALUE_NS);
		return text;
	}
	if (unit == AXIS_PERCENT) {
		snprintf(text, AXIS_TEXT_BYTES, "%.3g %%", value);
		return text;
	}
	number_format(text, value, units[unit]);
	if (unit == AXIS_BYTES_PER_SECOND)
		strcat(text, "/s");
	return text;
}
