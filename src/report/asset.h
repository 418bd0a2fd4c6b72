/*
 * asset: files that every report holds, as they are in asset/
 *
 * page.css and page.js are the report's own; uplot.css and uplot.js are a chart library, each with its licence in
 * front (script/fetch-chart-library makes them).
 */
#ifndef REFAULT_REPORT_ASSET_H
#define REFAULT_REPORT_ASSET_H

#include <stddef.h>

enum asset_id { ASSET_PAGE_CSS, ASSET_PAGE_JS, ASSET_UPLOT_CSS, ASSET_UPLOT_JS };

/* Not ended by NUL: so many bytes. */
const char *asset_text(enum asset_id id, size_t *bytes);

#endif
