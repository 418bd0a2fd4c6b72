#include "report/asset.h"

/* The assembler takes the files as they are; the Makefile knows that this object depends on them. */
#define TAKE(name, file)                                                                           \
	__asm__(".pushsection .rodata\n" #name ": .incbin \"src/report/asset/" file "\"\n" #name   \
		"_end:\n.popsection\n");                                                           \
	extern const char name[], name##_end[];

TAKE(asset_page_css, "page.css")
TAKE(asset_page_js, "page.js")
TAKE(asset_uplot_css, "uplot.css")
TAKE(asset_uplot_js, "uplot.js")

const char *asset_text(enum asset_id id, size_t *bytes)
{
	static const struct {
		const char *begin, *end;
	} assets[] = {
		[ASSET_PAGE_CSS] = {asset_page_css, asset_page_css_end},
		[ASSET_PAGE_JS] = {asset_page_js, asset_page_js_end},
		[ASSET_UPLOT_CSS] = {asset_uplot_css, asset_uplot_css_end},
		[ASSET_UPLOT_JS] = {asset_uplot_js, asset_uplot_js_end},
	};

	*bytes = (size_t)(assets[id].end - assets[id].begin);
	return assets[id].begin;
}
