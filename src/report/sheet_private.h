/*
 * What the kinds of charts share.
 */
#ifndef REFAULT_REPORT_SHEET_PRIVATE_H
#define REFAULT_REPORT_SHEET_PRIVATE_H

#include "report/sheet.h"

/* As wide as a column of the page. */
enum { CHART_WIDTH = 560, CHART_NAME_COLUMNS = 18 };

/*
 * A chart is drawn into what sheet_chart_begin() returns. sheet_chart_end() puts it on the page in a <figure>
 * that is left open, for its table; sheet_figure_end() closes that. `caption` NULL: none. is_data: it is in the
 * sheet's data as well.
 */
FILE *sheet_chart_begin(struct sheet *sheet);
void sheet_chart_end(struct sheet *sheet, const struct svg_picture *picture, const char *caption,
		     bool is_data);
void sheet_figure_end(struct sheet *sheet);

/* A <details> with a table whose headings follow; ended by </table></details>. */
void sheet_table_begin(struct sheet *sheet, const char *title);
void sheet_table_end(struct sheet *sheet);

#endif
