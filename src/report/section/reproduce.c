/* How to have it again: the command, the version, the seed, and what was in the input. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/advice.h"
#include "report/markup.h"
#include "report/section.h"
#include "report/shell.h"

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

static void run_row(const struct page *page, FILE *out, size_t index)
{
	const struct stored *stored = &page->runs[index];
	const char *file = json_string_value(json_object_get(stored->drawing, "file"));
	const char *version = stored->run.version;

	fputs("<tr><th scope=\"row\">", out);
	markup_text(out, page->names[index]);
	fputs("</th><td>", out);
	markup_text(out, file ? file : stored->run.id);
	fputs("</td><td>", out);
	markup_text(out, version && *version ? version : "?");
	fprintf(out, "</td><td>%" PRIu64 "</td><td>", stored->result.seed);
	markup_text(out, stored->run.digest ? stored->run.digest : "?");
	fputs("</td></tr>\n", out);
}

/* Of a single run, whose command is known: a file of JSON does not tell a trace from a scenario. */
static void next_write(const struct page *page, FILE *out)
{
	const struct report_options *options = &page->options[0];
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		abort();
	if (page->count == 1 && json_object_get(page->runs[0].drawing, "is_trace"))
		advice_command(memory, &page->runs[0].result, options);
	fclose(memory);
	if (*text) {
		fputs("<h3>What to do next</h3>\n<pre tabindex=\"0\"><code>", out);
		markup_text(out, text);
		fputs("</code></pre>\n", out);
	}
	free(text);
}

static void write(const struct page *page, struct sheet *sheet)
{
	FILE *out = sheet->html;
	size_t commands = 0;

	for (size_t i = 0; i < page->count; i++)
		commands += command_write(out, &page->runs[i].run);
	if (commands < page->count)
		fprintf(out, "<p>%s not known: files of JSON do not tell %s.</p>\n",
			commands           ? "The other commands are"
			: page->count == 1 ? "The command is"
					   : "The commands are",
			page->count == 1 ? "it" : "them");
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"The runs\">"
	      "<table class=\"words\"><caption>The same input, seed and version give the same "
	      "figures</caption>\n<thead><tr><th scope=\"col\">setting</th><th scope=\"col\">run"
	      "</th><th scope=\"col\">refault</th><th scope=\"col\">seed</th><th scope=\"col\">"
	      "digest of the input</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; i < page->count; i++)
		run_row(page, out, i);
	fputs("</tbody></table></div>\n", out);
	next_write(page, out);
}

const struct section section_reproduce = {
	.name = "again", .title = "How to repeat it", .write = write};
