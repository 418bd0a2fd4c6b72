#include "report/svg.h"

#include "report/markup.h"

/* The light colours of asset/page.css. */
static const char style[] =
	"svg{background:#fff;font-family:system-ui,sans-serif;font-size:12px}"
	"text{fill:#24292f}.number{font-size:11px}.title{font-weight:600}"
	".axis{stroke:#57606a}.grid{stroke:#d8dee4}.mark{stroke:#8250df;stroke-dasharray:4 "
	"3}.begin{stroke:#9a6700}rect.span{fill:#9a6700;fill-opacity:.12}"
	"path{fill:none;stroke-width:1.75;stroke-linejoin:round}"
	"path.s0{stroke:#0550ae}path.s1{stroke:#bc4c00}path.s2{stroke:#116329}path.s3{stroke:#"
	"8250df}"
	"path.s4{stroke:#a40e26}path.s5{stroke:#1b7c83}path.s6{stroke:#7d4e00}path.s7{stroke:#"
	"6e7781}"
	"rect.s0{fill:#0550ae}rect.s1{fill:#bc4c00}rect.s2{fill:#116329}rect.s3{fill:#8250df}"
	"rect.s4{fill:#a40e26}rect.s5{fill:#1b7c83}rect.s6{fill:#7d4e00}rect.s7{fill:#6e7781}"
	".h0{fill:#f6f8fa}.h1{fill:#fff1e0}.h2{fill:#ffe0bd}.h3{fill:#ffc78f}.h4{fill:#fbaa64}"
	".h5{fill:#ec8a3d}.h6{fill:#d0661b}.h7{fill:#a3480b}.h8{fill:#702d00}"
	"text.h0,text.h1,text.h2,text.h3,text.h4,text.h5{fill:#24292f}"
	"text.h6,text.h7,text.h8{fill:#fff}";

enum { TITLE_HEIGHT = 26 };

/* What is said of it, at the end of the opening tag. */
static void described(FILE *out, const struct svg_picture *picture)
{
	fprintf(out, " role=\"img\" aria-labelledby=\"%s-t %s-d\"><title id=\"%s-t\">", picture->id,
		picture->id, picture->id);
	markup_text(out, picture->title);
	fprintf(out, "</title><desc id=\"%s-d\">", picture->id);
	markup_text(out, picture->description);
	fputs("</desc>\n", out);
}

void svg_begin(FILE *out, const struct svg_picture *picture)
{
	fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\"", picture->width, picture->height);
	described(out, picture);
}

void svg_begin_alone(FILE *out, const struct svg_picture *picture)
{
	double height = picture->height + TITLE_HEIGHT;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 -%d %.0f %.0f\"",
		picture->width, height, TITLE_HEIGHT, picture->width, height);
	described(out, picture);
	fprintf(out, "<style>%s</style>\n", style);
	svg_text(out, "title", 8, -8, SVG_START, picture->title);
}

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

void svg_line(FILE *out, const char *class, double x1, double y1, double x2, double y2)
{
	fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
		class, x1, y1, x2, y2);
}

void svg_rect(FILE *out, const char *class, double x, double y, double width, double height,
	      const char *hint)
{
	fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
		class, x, y, width, height);
	if (!hint) {
		fputs("/>\n", out);
		return;
	}
	fputs("><title>", out);
	markup_text(out, hint);
	fputs("</title></rect>\n", out);
}

void svg_text(FILE *out, const char *class, double x, double y, enum svg_anchor anchor,
	      const char *text)
{
	static const char *const anchors[] = {"start", "middle", "end"};

	fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
		anchors[anchor]);
	markup_text(out, text);
	fputs("</text>\n", out);
}

void svg_text_turned(FILE *out, const char *class, double x, double y, const char *text)
{
	fprintf(out, "<text class=\"%s\" transform=\"translate(%.1f %.1f) rotate(-38)\">", class, x,
		y);
	markup_text(out, text);
	fputs("</text>\n", out);
}

void svg_path_begin(FILE *out, const char *class)
{
	fprintf(out, "<path class=\"%s\" d=\"", class);
}

void svg_path_move(FILE *out, double x, double y)
{
	fprintf(out, "M%.1f %.1f", x, y);
}

void svg_path_line(FILE *out, double x, double y)
{
	fprintf(out, "L%.1f %.1f", x, y);
}

void svg_path_end(FILE *out)
{
	fputs("\"/>\n", out);
}
