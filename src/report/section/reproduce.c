/* How to have it again: the command, the version, the seed, and what was in the input. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/advice.h"
#include "report/markup.h"
#include "report/section.h"

/* The command as it was given; false: nobody has kept it. */
static bool command_write(FILE *out, const struct stored_run *run)
{
	json_t *words = run->words ? json_loads(run->words, 0, NULL) : NULL;
	size_t count = json_array_size(words), bytes;
	char *text = NULL;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		abort();
	fputs("refault", memory);
	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(words, i));

		fputc(' ', memory);
		shell_word(memory, word ? word : "");
	}
	fclose(memory);
	if (count) {
		fputs("<pre tabindex=\"0\"><code>", out);
		markup_text(out, text);
		fputs("</code></pre>\n", out);
	}
	free(text);
	json_decref(words);
	return count > 0;
}

static void run_write(const struct page *page, struct sheet *sheet, size_t index)
{
	const struct stored_run *run = &page->runs[index].run;
	const char *file =
		json_string_value(json_object_get(page->runs[index].drawing, "file"));
	FILE *out = sheet->html;

	fputs("<h3>", out);
	markup_text(out, page->names[index]);
	fputs("</h3>\n", out);
	if (!command_write(out, run))
		fputs("<p>The command is not known: the file does not tell it.</p>\n", out);
	fputs("<table class=\"words\"><caption class=\"quiet\">Where it is from</caption><tbody>\n",
	      out);
	if (file)
		page_row(sheet, "file", "%s", file);
	else
		page_row(sheet, "run", "%s", run->id);
	if (run->version)
		page_row(sheet, "refault", "%s", run->version);
	page_row(sheet, "seed", "%" PRIu64, page->runs[index].result.seed);
	if (run->digest)
		page_row(sheet, "digest of the input", "%s", run->digest);
	fputs("</tbody></table>\n", out);
}

static void write(const struct page *page, struct sheet *sheet)
{
	for (size_t i = 0; i < page->count; i++)
		run_write(page, sheet, i);
}

const struct section section_reproduce = {
	.name = "again", .title = "How to repeat it", .write = write};
