#include "report/top.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/glyph.h"
#include "base/size.h"
#include "report/name.h"

enum { CELL_BYTES = 64, PIECE_BYTES = 4 * TOP_COLUMNS_MAX + 8, NAME_COLUMNS = 11 };

/* ---- figures, in a few columns ---- */

static const char *count_text(char text[CELL_BYTES], const struct top_amount *amount)
{
	return amount->known ? count_format(text, amount->value) : strcpy(text, "-");
}

static const char *size_text(char text[CELL_BYTES], const struct top_amount *bytes)
{
	return bytes->known ? size_format(text, bytes->value) : strcpy(text, "-");
}

static struct top_amount amount(uint64_t value)
{
	return (struct top_amount){.known = true, .value = value};
}

static struct top_amount counted(const struct top_view *view, uint64_t value)
{
	return (struct top_amount){.known = view->is_counting, .value = value};
}

static struct top_amount bytes_of_pages(const struct top_view *view, struct top_amount pages)
{
	pages.value *= view->page_bytes;
	return pages;
}

/* "1,234" of what happened in the interval. */
static const char *rate_text(char text[CELL_BYTES], const struct top_view *view,
			     struct top_amount in_interval)
{
	struct top_amount rate = top_per_second(&in_interval, view->interval_ns);

	return count_text(text, &rate);
}

/* "98.2 %"; "100 %" and "0" only where it is so. */
static const char *percent_text(char text[CELL_BYTES], const struct top_amount *ppm)
{
	uint64_t tenths = (ppm->value + 500) / 1000;

	if (!ppm->known)
		return strcpy(text, "-");
	if (ppm->value == 0 || ppm->value == 1000000)
		return strcpy(text, ppm->value ? "100 %" : "0 %");
	if (tenths == 0)
		return strcpy(text, "<0.1 %");
	if (tenths >= 1000)
		return strcpy(text, ">99.9 %");
	snprintf(text, CELL_BYTES, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
	return text;
}

static const char *signed_text(char text[CELL_BYTES], int64_t value)
{
	char count[2 * SIZE_TEXT_BYTES];

	count_format(count, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	snprintf(text, CELL_BYTES, "%s%s", value < 0 ? "-" : value > 0 ? "+" : "", count);
	return text;
}

static struct top_amount ratio_ppm(const struct top_view *view)
{
	return top_ppm(&view->hits, view->counts.accesses);
}

/* A file's, where the whole's is to be trusted. */
static struct top_amount file_ratio_ppm(const struct top_view *view,
					const struct top_view_file *file)
{
	struct top_amount hits = {0};

	if ((view->why != TOP_WHY_NOT && view->why != TOP_WHY_NOTHING_ASKED) ||
	    !file->accesses.known || file->misses.value > file->accesses.value)
		return hits;
	hits = amount(file->accesses.value - file->misses.value);
	return top_ppm(&hits, file->accesses.value);
}

/* ---- pieces ---- */

/* What is left of others' names is '?': our own glyphs are ASCII already (base/glyph.h). */
static void ascii_make(char *text)
{
	char *to = text;

	for (const char *at = text; *at;) {
		size_t bytes = 1;

		while (((unsigned char)at[bytes] & 0xc0) == 0x80)
			bytes++;
		*to++ = (unsigned char)*at < 0x80 ? *at : '?';
		at += bytes;
	}
	*to = '\0';
}

/* How many bytes the first `columns` columns take. */
static size_t columns_bytes(const char *text, size_t columns)
{
	size_t at = 0;

	while (text[at] && columns--) {
		at++;
		while (((unsigned char)text[at] & 0xc0) == 0x80)
			at++;
	}
	return at;
}

/* Text at a place, cut at the edge. Returns the column behind it. */
__attribute__((format(printf, 5, 6))) static size_t put(struct top_screen *screen, size_t row,
							size_t column, enum top_style style,
							const char *format, ...)
{
	char text[PIECE_BYTES];
	va_list arguments;
	size_t bytes;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (row >= screen->rows || column >= screen->columns || !text[0])
		return column;
	if (screen->is_ascii)
		ascii_make(text);
	bytes = columns_bytes(text, screen->columns - column);
	*array_push(&screen->pieces) = (struct top_piece){
		.row = row,
		.column = column,
		.style = style,
		.text = arena_text(&screen->texts, text, bytes),
	};
	return column + text_columns(screen->pieces.at[screen->pieces.count - 1].text);
}

/* "   active 1.2 GiB": a figure with its name, if the whole fits. */
static size_t put_figure(struct top_screen *screen, size_t row, size_t column, const char *name,
			 const char *text)
{
	if (column + strlen(name) + 1 + text_columns(text) > screen->columns)
		return screen->columns;
	column = put(screen, row, column, TOP_DIM, "%s ", name);
	return put(screen, row, column, TOP_PLAIN, "%s", text) + 3;
}

static size_t put_name(struct top_screen *screen, size_t row, const char *name)
{
	put(screen, row, 0, TOP_DIM, "%s", name);
	return NAME_COLUMNS;
}

static size_t put_level(struct top_screen *screen, size_t row, size_t column,
			const struct top_view *view, enum top_level level, const char *name)
{
	char text[CELL_BYTES];

	if (!view->levels[level].known)
		return column;
	return put_figure(screen, row, column, name, size_text(text, &view->levels[level]));
}

static size_t put_counter(struct top_screen *screen, size_t row, size_t column,
			  const struct top_view *view, enum top_counter counter, const char *name)
{
	char text[CELL_BYTES];

	rate_text(text, view, view->counters[counter]);
	if (view->counters[counter].known)
		strcat(text, "/s");
	return put_figure(screen, row, column, name, text);
}

/* A counter of bytes. */
static size_t put_flow(struct top_screen *screen, size_t row, size_t column,
		       const struct top_view *view, enum top_counter counter, const char *name)
{
	struct top_amount rate = top_per_second(&view->counters[counter], view->interval_ns);
	char text[CELL_BYTES];

	if (!rate.known)
		return put_figure(screen, row, column, name, "-");
	size_text(text, &rate);
	return put_figure(screen, row, column, name, strcat(text, "/s"));
}

/* ---- the rows above the files ---- */

enum {
	ROW_TITLE,
	ROW_RATIO,
	ROW_CAME,
	ROW_WENT,
	ROW_CONSERVED,
	ROW_MEMORY,
	ROW_LISTS,
	ROW_SLAB,
	ROW_CACHES,
	ROW_RECLAIM,
	ROW_DEVICE,
	ROW_FILES_HEADING = 12,
	ROW_FILES,
};

static void title_draw(struct top_screen *screen, const struct top_shown *shown)
{
	char name[4 * 64 + 8], every[SIZE_TEXT_BYTES];
	size_t column;

	column = put(screen, ROW_TITLE, 0, TOP_STRONG, "refault top  %s",
		     shown->target[0] ? name_fit(name, shown->target, 30) : "machine");
	column = put(screen, ROW_TITLE, column + 2, TOP_PLAIN, "%s  every %s", shown->time,
		     time_format(every, shown->every_ns));
	if (shown->is_paused)
		column = put(screen, ROW_TITLE, column + 2, TOP_ALARM, "PAUSED");
	if (column + 2 + strlen(shown->system) <= screen->columns)
		put(screen, ROW_TITLE, screen->columns - strlen(shown->system), TOP_DIM, "%s",
		    shown->system);
}

/* The past as a line of blocks: 0 % at the bottom, 100 % at the top, a blank where there was none. */
static void history_draw(struct top_screen *screen, const struct top_shown *shown, size_t column,
			 size_t columns)
{
	size_t count = shown->history_count < columns ? shown->history_count : columns;
	char text[4 * TOP_COLUMNS_MAX] = "";

	for (size_t i = 0; i < count; i++) {
		uint32_t ppm = shown->history[shown->history_count - count + i];
		unsigned int height =
			ppm == TOP_NO_RATIO
				? 0
				: (unsigned int)((ppm * UINT64_C(7) + 500000) / 1000000);

		strcat(text, ppm == TOP_NO_RATIO ? " " : glyph_level(height));
	}
	put(screen, ROW_RATIO, column, TOP_PLAIN, "%s", text);
}

static void ratio_draw(struct top_screen *screen, const struct top_shown *shown)
{
	const struct top_view *view = shown->view;
	struct top_amount ppm = ratio_ppm(view);
	char text[CELL_BYTES];
	size_t column = put_name(screen, ROW_RATIO, "hit ratio");

	column = put(screen, ROW_RATIO, column, TOP_STRONG, "%s", percent_text(text, &ppm));
	if (!ppm.known) {
		/* That nothing was read is no fault. */
		put(screen, ROW_RATIO, column + 2,
		    view->why == TOP_WHY_NOTHING_ASKED ? TOP_PLAIN : TOP_ALARM, "%s",
		    top_why_text(view->why));
		return;
	}
	column = NAME_COLUMNS + 10;
	column = put_figure(screen, ROW_RATIO, column, "asked/s",
			    rate_text(text, view, counted(view, view->counts.accesses)));
	column = put_figure(screen, ROW_RATIO, column, "missed/s",
			    rate_text(text, view, counted(view, view->counts.misses)));
	if (column < screen->columns && shown->history_count > 1)
		history_draw(screen, shown, column, screen->columns - column);
}

static void flows_draw(struct top_screen *screen, const struct top_view *view)
{
	char text[CELL_BYTES];
	size_t column = put_name(screen, ROW_CAME, "came in/s");

	column = put_figure(screen, ROW_CAME, column, "pages",
			    rate_text(text, view, counted(view, view->counts.inserted)));
	column = put_figure(screen, ROW_CAME, column, "again",
			    rate_text(text, view, view->refaults));
	column = put_figure(screen, ROW_CAME, column, "kernel's refaults",
			    rate_text(text, view, view->counters[TOP_COUNTER_refaults_file]));
	put_figure(screen, ROW_CAME, column, "activated",
		   rate_text(text, view, view->counters[TOP_COUNTER_activated_file]));
	column = put_name(screen, ROW_WENT, "went/s");
	column = put_figure(screen, ROW_WENT, column, "evicted",
			    rate_text(text, view, counted(view, view->counts.evicted)));
	column = put_figure(screen, ROW_WENT, column, "dropped",
			    rate_text(text, view, counted(view, view->counts.dropped)));
	put_figure(screen, ROW_WENT, column, "never asked for",
		   rate_text(text, view, counted(view, view->counts.unused)));
}

static void conservation_draw(struct top_screen *screen, const struct top_view *view)
{
	const struct top_conservation *sum = &view->conservation;
	char in[CELL_BYTES], level[CELL_BYTES], error[CELL_BYTES], tolerance[CELL_BYTES];
	size_t column = put_name(screen, ROW_CONSERVED, "conserved");

	if (!sum->known) {
		put(screen, ROW_CONSERVED, column, TOP_PLAIN, "-");
		return;
	}
	column = put(screen, ROW_CONSERVED, column, sum->holds ? TOP_PLAIN : TOP_ALARM, "%s",
		     sum->holds ? "yes" : "NO");
	put(screen, ROW_CONSERVED, column, TOP_PLAIN,
	    "   counted %s   kernel %s   error %s (at most %s) pages",
	    signed_text(in, sum->counted_pages), signed_text(level, sum->level_pages),
	    signed_text(error, sum->error_pages), count_format(tolerance, sum->tolerance_pages));
}

static void levels_draw(struct top_screen *screen, const struct top_view *view)
{
	char text[CELL_BYTES], unused[CELL_BYTES], both[2 * CELL_BYTES + 16];
	const struct top_amount *levels = view->levels;
	size_t row = ROW_MEMORY, column = put_name(screen, row, "memory");

	column = put_level(screen, row, column, view, TOP_LEVEL_total, "total");
	column = put_level(screen, row, column, view, TOP_LEVEL_limit, "limit");
	column = put_level(screen, row, column, view, TOP_LEVEL_usage, "used");
	column = put_level(screen, row, column, view, TOP_LEVEL_free, "free");
	column = put_level(screen, row, column, view, TOP_LEVEL_anon, "anon");
	column = put_level(screen, row, column, view, TOP_LEVEL_shmem, "shared");
	put_level(screen, row, column, view, TOP_LEVEL_available, "available");

	column = put_name(screen, row = ROW_LISTS, "file lists");
	column = put_level(screen, row, column, view, TOP_LEVEL_active_file, "active");
	column = put_level(screen, row, column, view, TOP_LEVEL_inactive_file, "inactive");
	column = put_level(screen, row, column, view, TOP_LEVEL_dirty, "dirty");
	column = put_level(screen, row, column, view, TOP_LEVEL_writeback, "writeback");
	put_level(screen, row, column, view, TOP_LEVEL_mapped, "mapped");

	column = put_name(screen, row = ROW_SLAB, "slab");
	if (levels[TOP_LEVEL_slab].known)
		column = put(screen, row, column, TOP_PLAIN, "%s",
			     size_text(text, &levels[TOP_LEVEL_slab])) +
			 3;
	column = put_level(screen, row, column, view, TOP_LEVEL_slab_reclaimable, "reclaimable");
	column = put_level(screen, row, column, view, TOP_LEVEL_kernel, "kernel");
	if (levels[TOP_LEVEL_dentries].known) {
		snprintf(both, sizeof(both), "%s (%s unused)",
			 count_text(text, &levels[TOP_LEVEL_dentries]),
			 count_text(unused, &levels[TOP_LEVEL_dentries_unused]));
		column = put_figure(screen, row, column, "dentries", both);
	}
	if (levels[TOP_LEVEL_inodes].known)
		put_figure(screen, row, column, "inodes",
			   count_text(text, &levels[TOP_LEVEL_inodes]));

	column = put_name(screen, row = ROW_CACHES, "  of which");
	for (size_t i = 0; i < view->slab_count; i++)
		column = put_figure(screen, row, column, view->slabs[i].name,
				    size_format(text, view->slabs[i].bytes));
	if (!view->slab_count)
		put(screen, row, column, TOP_PLAIN, "-");
}

static void kernel_draw(struct top_screen *screen, const struct top_view *view)
{
	size_t row = ROW_RECLAIM, column = put_name(screen, row, "reclaim");

	column = put_counter(screen, row, column, view, TOP_COUNTER_scanned_background,
			     "background");
	column = put_counter(screen, row, column, view, TOP_COUNTER_scanned_direct,
			     "direct scanned");
	column = put_counter(screen, row, column, view, TOP_COUNTER_slabs_scanned, "slab");
	put_counter(screen, row, column, view, TOP_COUNTER_pages_of_inodes, "by inode");
	column = put_name(screen, row = ROW_DEVICE, "device");
	column = put_flow(screen, row, column, view, TOP_COUNTER_read, "read");
	column = put_flow(screen, row, column, view, TOP_COUNTER_written, "written");
	put_counter(screen, row, column, view, TOP_COUNTER_major_faults, "major faults");
}

/* ---- files ---- */

struct file_column {
	const char *heading;
	size_t columns;     /* with the blank before it */
	enum top_sort sort; /* that it is the column of; TOP_SORTS: none */
	void (*text)(char text[CELL_BYTES], const struct top_view *view,
		     const struct top_view_file *file);
};

static void in_memory_text(char text[CELL_BYTES], const struct top_view *view,
			   const struct top_view_file *file)
{
	const struct top_amount bytes = bytes_of_pages(view, file->total.resident);

	size_text(text, &bytes);
}

static void share_text(char text[CELL_BYTES], const struct top_view *view,
		       const struct top_view_file *file)
{
	struct top_amount in = bytes_of_pages(view, file->total.resident), ppm;

	/* The last page may be more than the rest of the file. */
	if (in.value > file->total.size.value)
		in.value = file->total.size.value;
	ppm = top_ppm(&in, file->total.size.value);
	if (ppm.known)
		snprintf(text, CELL_BYTES, "%" PRIu64 " %%", (ppm.value + 5000) / 10000);
	else
		strcpy(text, "-");
}

static void dirty_text(char text[CELL_BYTES], const struct top_view *view,
		       const struct top_view_file *file)
{
	const struct top_amount bytes = bytes_of_pages(view, file->dirty);

	size_text(text, &bytes);
}

static void asked_text(char text[CELL_BYTES], const struct top_view *view,
		       const struct top_view_file *file)
{
	rate_text(text, view, file->accesses);
}

static void missed_text(char text[CELL_BYTES], const struct top_view *view,
			const struct top_view_file *file)
{
	rate_text(text, view, file->misses);
}

static void hit_text(char text[CELL_BYTES], const struct top_view *view,
		     const struct top_view_file *file)
{
	const struct top_amount ppm = file_ratio_ppm(view, file);

	percent_text(text, &ppm);
}

static void again_text(char text[CELL_BYTES], const struct top_view *view,
		       const struct top_view_file *file)
{
	rate_text(text, view, file->refaults);
}

static void evicted_text(char text[CELL_BYTES], const struct top_view *view,
			 const struct top_view_file *file)
{
	rate_text(text, view, file->evicted);
}

static const struct file_column file_columns[] = {
	{"IN MEMORY", 10, TOP_BY_RESIDENT, in_memory_text},
	{"OF IT", 6, TOP_SORTS, share_text},
	{"DIRTY", 11, TOP_SORTS, dirty_text},
	{"ASKED/S", 9, TOP_BY_ACCESSES, asked_text},
	{"MISS/S", 8, TOP_BY_MISSES, missed_text},
	{"HIT", 8, TOP_SORTS, hit_text},
	{"AGAIN/S", 9, TOP_BY_REFAULTS, again_text},
	{"EVICT/S", 9, TOP_BY_EVICTED, evicted_text},
};
enum { FILE_COLUMNS = sizeof(file_columns) / sizeof(file_columns[0]), PATH_COLUMNS_MIN = 24 };

/* Where it is narrow, what says least is left out: so many columns remain for the path. */
static size_t columns_choose(size_t columns, enum top_sort sort, bool shown[FILE_COLUMNS])
{
	static const size_t least_first[] = {2, 7, 4};
	size_t used = 2;

	for (size_t i = 0; i < FILE_COLUMNS; i++) {
		shown[i] = true;
		used += file_columns[i].columns;
	}
	for (size_t i = 0; i < sizeof(least_first) / sizeof(least_first[0]); i++) {
		if (columns >= used + PATH_COLUMNS_MIN)
			break;
		if (file_columns[least_first[i]].sort == sort)
			continue;
		shown[least_first[i]] = false;
		used -= file_columns[least_first[i]].columns;
	}
	return columns > used + 3 ? columns - used : 3;
}

static void files_draw(struct top_screen *screen, const struct top_shown *shown)
{
	const struct top_view *view = shown->view;
	bool is_shown[FILE_COLUMNS];
	size_t path_columns = columns_choose(screen->columns, shown->sort, is_shown), column = 0;
	size_t rows = top_files_shown(screen->rows + 1);
	char bar[TOP_COLUMNS_MAX + CELL_BYTES] = "", text[CELL_BYTES];

	for (size_t i = 0; i < FILE_COLUMNS; i++) {
		/* A star behind the column by which they are sorted: colours are not for everybody. */
		snprintf(text, sizeof(text), "%s%s", file_columns[i].heading,
			 file_columns[i].sort == shown->sort ? "*" : "");
		if (is_shown[i])
			column += (size_t)snprintf(bar + column, sizeof(bar) - column, "%*s",
						   (int)file_columns[i].columns, text);
	}
	snprintf(bar + column, sizeof(bar) - column, "  %-*s",
		 (int)(screen->columns > column ? screen->columns - column : 0), "FILE");
	put(screen, ROW_FILES_HEADING, 0, TOP_HEADING, "%s", bar);
	for (size_t i = 0; i < view->files.count && i < rows; i++) {
		const struct top_view_file *file = &view->files.at[i];
		char path[PIECE_BYTES];

		column = 0;
		for (size_t at = 0; at < FILE_COLUMNS; at++) {
			if (!is_shown[at])
				continue;
			file_columns[at].text(text, view, file);
			/* A figure that is too wide moves the others. */
			column = put(screen, ROW_FILES + i, column, TOP_PLAIN, "%*s",
				     (int)file_columns[at].columns, text);
		}
		name_fit(path, file->total.path, path_columns);
		put(screen, ROW_FILES + i, column + 2,
		    file->total.is_named ? TOP_STRONG : TOP_PLAIN, "%s", path);
	}
}

size_t top_files_shown(size_t rows)
{
	return rows > ROW_FILES + 1 ? rows - ROW_FILES - 1 : 0;
}

size_t top_rows_for(size_t files)
{
	return ROW_FILES + files + 1;
}

/* ---- help ---- */

static const char *const help_lines[] = {
	"Keys",
	"  m  files by what is in memory     q       end",
	"  a  by what was asked for          p       pause, and go on",
	"  s  by misses                      + -     look less often, more often",
	"  r  by refaults (again)            h ?     this, and back",
	"  e  by evictions                   Ctrl-L  draw anew",
	"",
	"hit ratio   pages that reads asked for and that had not come in for it, of all they asked "
	"for",
	"missed      had come into the cache, and were asked for the first time: also by readahead",
	"again       came in after reclaim had evicted them since this began",
	"dropped     taken out otherwise: truncated, unlinked, advised away, drop_caches",
	"never ...   left the cache without having been asked for",
	"conserved   what came less what went is what the kernel's file pages grew by; else no "
	"ratio",
	"",
	"Accesses through mappings cannot be seen, and are in no ratio. -: not known.",
};

static void help_draw(struct top_screen *screen)
{
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++)
		put(screen, i + 2, 0, i ? TOP_PLAIN : TOP_STRONG, "%s", help_lines[i]);
}

/* ---- the screen ---- */

static void foot_draw(struct top_screen *screen, const struct top_shown *shown)
{
	char note[PIECE_BYTES];

	if (screen->rows < 2)
		return;
	if (shown->note[0] && !shown->is_help) {
		name_fit(note, shown->note, screen->columns);
		put(screen, screen->rows - 1, 0, TOP_ALARM, "%s", note);
	} else if (shown->has_keys) {
		put(screen, screen->rows - 1, 0, TOP_DIM,
		    "q end   p pause   m a s r e sort   + - interval   h help");
	}
}

void top_screen_draw(struct top_screen *screen, const struct top_shown *shown, size_t rows,
		     size_t columns)
{
	*screen = (struct top_screen){
		.rows = rows,
		.columns = columns < TOP_COLUMNS_MAX ? columns : TOP_COLUMNS_MAX,
		.is_ascii = shown->is_ascii,
	};
	/* The last row is the foot's. */
	screen->rows = rows ? rows - 1 : 0;
	title_draw(screen, shown);
	if (shown->is_help) {
		help_draw(screen);
	} else if (!shown->view) {
		put(screen, ROW_RATIO, 0, TOP_PLAIN, "Looking ...");
	} else {
		ratio_draw(screen, shown);
		flows_draw(screen, shown->view);
		conservation_draw(screen, shown->view);
		levels_draw(screen, shown->view);
		kernel_draw(screen, shown->view);
		files_draw(screen, shown);
	}
	screen->rows = rows;
	foot_draw(screen, shown);
}

void top_screen_deinit(struct top_screen *screen)
{
	array_deinit(&screen->pieces);
	arena_deinit(&screen->texts);
}

void top_screen_print(FILE *out, const struct top_screen *screen)
{
	size_t row = 0, column = 0;

	for (size_t i = 0; i < screen->pieces.count; i++) {
		const struct top_piece *piece = &screen->pieces.at[i];
		const char *text = piece->text;
		size_t bytes = strlen(text);
		bool is_last =
			i + 1 == screen->pieces.count || screen->pieces.at[i + 1].row != piece->row;

		for (; row < piece->row; row++, column = 0)
			fputc('\n', out);
		while (is_last && bytes && text[bytes - 1] == ' ')
			bytes--;
		fprintf(out, "%*s%.*s", (int)(piece->column - column), "", (int)bytes, text);
		column = piece->column + text_columns(text);
	}
	fputc('\n', out);
}

/* ---- lines ---- */

struct line_column {
	const char *heading, *unit;
	int columns;
};

static const struct line_column line_columns[] = {
	{"hit", "%", 7},           {"asked", "pages/s", 10}, {"missed", "pages/s", 8},
	{"in", "pages/s", 8},      {"again", "pages/s", 8},  {"evicted", "pages/s", 8},
	{"dropped", "pages/s", 8}, {"active", "MiB", 7},     {"inactive", "MiB", 9},
	{"dirty", "MiB", 6},       {"slab", "MiB", 6},       {"error", "pages", 6},
};
enum { LINE_COLUMNS = sizeof(line_columns) / sizeof(line_columns[0]) };

void top_line_heading(FILE *out)
{
	fprintf(out, "%8s", "time");
	for (size_t i = 0; i < LINE_COLUMNS; i++)
		fprintf(out, "%*s", line_columns[i].columns, line_columns[i].heading);
	fprintf(out, "\n%8s", "");
	for (size_t i = 0; i < LINE_COLUMNS; i++)
		fprintf(out, "%*s", line_columns[i].columns, line_columns[i].unit);
	fputc('\n', out);
}

static void line_rate(FILE *out, int columns, const struct top_view *view,
		      struct top_amount in_interval)
{
	struct top_amount rate = top_per_second(&in_interval, view->interval_ns);

	if (rate.known)
		fprintf(out, "%*" PRIu64, columns, rate.value);
	else
		fprintf(out, "%*s", columns, "-");
}

static void line_level(FILE *out, int columns, const struct top_amount *bytes)
{
	if (bytes->known)
		fprintf(out, "%*" PRIu64, columns, (bytes->value + MIB / 2) / MIB);
	else
		fprintf(out, "%*s", columns, "-");
}

void top_line_print(FILE *out, const struct top_shown *shown)
{
	const struct top_view *view = shown->view;
	const struct top_counts *counts = &view->counts;
	const struct top_amount rates[] = {
		counted(view, view->sees_reads ? counts->accesses : 0),
		counted(view, view->sees_reads ? counts->misses : 0),
		counted(view, counts->inserted),
		view->refaults.known ? view->refaults : view->counters[TOP_COUNTER_refaults_file],
		counted(view, counts->evicted),
		counted(view, counts->dropped),
	};
	const enum top_level levels[] = {TOP_LEVEL_active_file, TOP_LEVEL_inactive_file,
					 TOP_LEVEL_dirty, TOP_LEVEL_slab};
	struct top_amount ppm = ratio_ppm(view);
	size_t at = 0;

	fprintf(out, "%8s", shown->time);
	if (ppm.known)
		fprintf(out, "%*.2f", line_columns[at++].columns, (double)ppm.value / 1e4);
	else
		fprintf(out, "%*s", line_columns[at++].columns, "-");
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		line_rate(out, line_columns[at++].columns, view, rates[i]);
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		line_level(out, line_columns[at++].columns, &view->levels[levels[i]]);
	assert(at == LINE_COLUMNS - 1);
	if (view->conservation.known)
		fprintf(out, "%*" PRId64 "%s", line_columns[at].columns,
			view->conservation.error_pages,
			view->conservation.holds ? "" : " NOT CONSERVED");
	else
		fprintf(out, "%*s", line_columns[at].columns, "-");
	fputc('\n', out);
}
