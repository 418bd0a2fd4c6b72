#include "report/table.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/size.h"
#include "report/name.h"

enum { COLUMN_GAP = 2 };

struct column {
	const char *heading;
	enum table_align align;
	enum table_zero zero;
};

struct cell {
	const char *text;
	bool is_zero;
};

struct table {
	struct arena texts;
	ARRAY(struct column) columns;
	ARRAY(struct cell) cells; /* row by row */
};

struct table *table_create(void)
{
	return memory_alloc(1, sizeof(struct table));
}

void table_destroy(struct table *table)
{
	if (!table)
		return;
	array_deinit(&table->columns);
	array_deinit(&table->cells);
	arena_deinit(&table->texts);
	memory_free(table);
}

void table_column(struct table *table, const char *heading, enum table_align align,
		  enum table_zero zero)
{
	assert(table->cells.count == 0);
	*array_push(&table->columns) = (struct column){
		.heading = arena_text(&table->texts, heading, strlen(heading)),
		.align = align,
		.zero = zero,
	};
}

static void cell_add(struct table *table, const char *text, bool is_zero)
{
	*array_push(&table->cells) = (struct cell){
		.text = arena_text(&table->texts, text, strlen(text)),
		.is_zero = is_zero,
	};
}

void table_text(struct table *table, const char *text)
{
	cell_add(table, text, text[0] == '\0');
}

void table_size(struct table *table, uint64_t bytes)
{
	char text[SIZE_TEXT_BYTES];

	cell_add(table, size_format(text, bytes), bytes == 0);
}

void table_count(struct table *table, uint64_t count)
{
	char text[SIZE_TEXT_BYTES * 2];

	cell_add(table, count_format(text, count), count == 0);
}

void table_share(struct table *table, uint64_t part, uint64_t whole)
{
	char text[SHARE_TEXT_BYTES];

	cell_add(table, share_format(text, part, whole), part == 0);
}

void table_unknown(struct table *table)
{
	cell_add(table, "?", false);
}

/* The unit of "310.2 MiB" with the blank before it, or the empty end. */
static const char *unit_of(const char *text)
{
	const char *blank = strchr(text, ' ');

	return blank ? blank : text + strlen(text);
}

struct layout {
	size_t number_columns; /* TABLE_UNIT: what stands before the units; else all */
	size_t unit_columns;
	size_t columns; /* all, the heading too */
	bool hidden;
};

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static const struct cell *cell_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells.at[row * table->columns.count + column];
}

static struct layout layout_of(const struct table *table, size_t index, size_t rows)
{
	const struct column *column = &table->columns.at[index];
	struct layout layout = {.hidden = column->zero == TABLE_HIDE_ZERO};

	for (size_t row = 0; row < rows; row++) {
		const struct cell *cell = cell_at(table, row, index);
		const char *unit = column->align == TABLE_UNIT ? unit_of(cell->text)
							       : cell->text + strlen(cell->text);
		size_t unit_columns = text_columns(unit);

		layout.number_columns =
			larger(layout.number_columns, text_columns(cell->text) - unit_columns);
		layout.unit_columns = larger(layout.unit_columns, unit_columns);
		if (!cell->is_zero)
			layout.hidden = false;
	}
	layout.columns =
		larger(layout.number_columns + layout.unit_columns, text_columns(column->heading));
	return layout;
}

static void blanks(FILE *out, size_t count)
{
	fprintf(out, "%*s", (int)count, "");
}

/* `text` in its column; blanks that would end the line are left to the next cell (*owed). */
static void cell_print(FILE *out, const char *text, enum table_align align,
		       const struct layout *layout, size_t *owed)
{
	size_t width = text_columns(text), before = 0;

	if (align == TABLE_RIGHT)
		before = layout->columns - width;
	if (align == TABLE_UNIT) {
		size_t unit_columns = text_columns(unit_of(text));

		before = layout->columns - layout->unit_columns - (width - unit_columns);
	}
	if (text[0] == '\0') {
		*owed += layout->columns;
		return;
	}
	blanks(out, *owed + before);
	fputs(text, out);
	*owed = layout->columns - before - width;
}

/* The columns first .. end - 1, after column 0. */
static void block_print(FILE *out, const struct table *table, const struct layout *layouts,
			size_t first, size_t end, size_t rows, size_t indent, bool colour)
{
	for (size_t line = 0; line < rows + 1; line++) {
		size_t owed = indent;

		if (line == 0 && colour)
			fputs("\033[2m", out);
		for (size_t i = 0; i < end; i = i == 0 ? first : i + 1) {
			const struct column *column = &table->columns.at[i];
			bool is_heading = line == 0;

			if (layouts[i].hidden)
				continue;
			if (i)
				owed += COLUMN_GAP;
			cell_print(out,
				   is_heading ? column->heading : cell_at(table, line - 1, i)->text,
				   is_heading && column->align == TABLE_UNIT ? TABLE_RIGHT
									     : column->align,
				   &layouts[i], &owed);
		}
		if (line == 0 && colour)
			fputs("\033[0m", out);
		fputc('\n', out);
	}
}

void table_print(FILE *out, const struct table *table, size_t indent, bool colour)
{
	size_t columns = table->columns.count;
	size_t rows = columns ? table->cells.count / columns : 0;
	struct layout *layouts = memory_alloc(columns, sizeof(*layouts));
	size_t first = 1;

	assert(columns > 0 && table->cells.count % columns == 0);
	for (size_t i = 0; i < columns; i++)
		layouts[i] = layout_of(table, i, rows);
	while (first <= columns) {
		size_t width = indent + layouts[0].columns, end = first, shown = 0;

		for (; end < columns; end++) {
			if (layouts[end].hidden)
				continue;
			if (shown && width + COLUMN_GAP + layouts[end].columns > TABLE_WIDTH_MAX)
				break;
			width += COLUMN_GAP + layouts[end].columns;
			shown++;
		}
		if (shown || first == 1) {
			if (first > 1)
				fputc('\n', out);
			block_print(out, table, layouts, first, end, rows, indent, colour);
		}
		if (end == columns)
			break;
		first = end;
	}
	memory_free(layouts);
}
