/* What is set differently in the runs: switches of the policy, and what else the machine is made of. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "report/markup.h"
#include "report/section.h"

/* NULL: it is not there. */
static const json_t *value_of(const struct page *page, size_t run, bool is_switch, const char *key)
{
	const json_t *machine = json_object_get(page->runs[run].json, "machine");

	return json_object_get(is_switch ? json_object_get(machine, "switches") : machine, key);
}

static bool differs(const struct page *page, bool is_switch, const char *key)
{
	for (size_t i = 1; i < page->count; i++) {
		const json_t *first = value_of(page, 0, is_switch, key);
		const json_t *here = value_of(page, i, is_switch, key);

		if (first != here && !(first && here && json_equal(first, here)))
			return true;
	}
	return false;
}

/* As people write it: sizes with their unit, what is not there as "-". */
static void cell(FILE *out, const char *key, const json_t *value)
{
	size_t bytes = strlen(key);
	char size[SIZE_TEXT_BYTES], *text = NULL;

	fputs("<td>", out);
	if (!value || json_is_null(value)) {
		fputs("-", out);
	} else if (json_is_string(value)) {
		markup_text(out, json_string_value(value));
	} else if (json_is_integer(value) && bytes > 6 && strcmp(key + bytes - 6, "_bytes") == 0) {
		markup_text(out, size_format(size, (uint64_t)json_integer_value(value)));
	} else {
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		markup_text(out, text ? text : "?");
	}
	fputs("</td>", out);
	free(text);
}

static void row(FILE *out, const struct page *page, bool is_switch, const char *key)
{
	fputs("<tr><th scope=\"row\">", out);
	markup_text(out, key);
	fputs("</th>", out);
	for (size_t run = 0; run < page->count; run++)
		cell(out, key, value_of(page, run, is_switch, key));
	fputs("</tr>\n", out);
}

/* `out` NULL: nothing is written. How many there are. */
static size_t rows(FILE *out, const struct page *page, bool is_switch)
{
	json_t *seen = json_object(), *value;
	size_t count = 0;
	const char *key;

	for (size_t i = 0; i < page->count; i++) {
		json_t *machine = json_object_get(page->runs[i].json, "machine");
		json_t *from = is_switch ? json_object_get(machine, "switches") : machine;

		json_object_foreach(from, key, value)
		{
			if (json_object_get(seen, key) || json_is_object(value) ||
			    !differs(page, is_switch, key))
				continue;
			json_object_set_new(seen, key, json_true());
			count++;
			if (out)
				row(out, page, is_switch, key);
		}
	}
	json_decref(seen);
	return count;
}

static bool has(const struct page *page)
{
	return page->count > 1 && rows(NULL, page, true) + rows(NULL, page, false) > 0;
}

static void write(const struct page *page, struct sheet *sheet)
{
	FILE *out = sheet->html;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"What differs\">"
	      "<table class=\"words\"><caption>What is set differently; all else is the "
	      "same</caption>\n<thead><tr><th scope=\"col\">setting</th>",
	      out);
	for (size_t i = 0; i < page->count; i++) {
		fputs("<th scope=\"col\">", out);
		markup_text(out, page->names[i]);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	rows(out, page, false);
	rows(out, page, true);
	fputs("</tbody></table></div>\n", out);
}

const struct section section_switches = {
	.name = "switches", .title = "What differs", .has = has, .write = write};
