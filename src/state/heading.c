#include "state/heading.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "state/dump.h"

/* Files beside those that are read, and of no use: what some hold would be taken for another's rows. */
static const char *const others[] = {"memory.swap.events",
				     "memory.swap.high",
				     "memory.swap.peak",
				     "memory.numa_stat",
				     "memory.oom.group",
				     "memory.reclaim",
				     "memory.zswap.current",
				     "memory.zswap.max",
				     "memory.zswap.writeback",
				     "memory.force_empty",
				     "memory.pressure_level",
				     "memory.use_hierarchy",
				     "memory.move_charge_at_immigrate",
				     "memory.kmem.failcnt",
				     "memory.kmem.max_usage_in_bytes",
				     "memory.kmem.slabinfo",
				     "memory.kmem.tcp.failcnt",
				     "memory.kmem.tcp.limit_in_bytes",
				     "memory.kmem.tcp.max_usage_in_bytes",
				     "memory.kmem.tcp.usage_in_bytes",
				     "memory.memsw.failcnt",
				     "memory.memsw.max_usage_in_bytes",
				     "zfetchstats",
				     "vdev_cache_stats",
				     "dbufstats",
				     "abdstats",
				     "dmu_tx",
				     NULL};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The longer of `best` and the one among `names` that `text` begins with. */
static const char *longest(const char *best, const char *const *names, const char *text,
			   size_t bytes)
{
	for (; *names; names++) {
		size_t length = strlen(*names);

		if (length <= bytes && memcmp(text, *names, length) == 0 &&
		    (length == bytes || !is_alnum(text[length])) &&
		    (!best || length > strlen(best)))
			best = *names;
	}
	return best;
}

static const char *name_at(const char *text, size_t bytes)
{
	const char *best = longest(NULL, others, text, bytes);

	for (enum dump_id id = 0; id < DUMP_ID_COUNT; id++)
		best = longest(best, dump_kind(id)->files, text, bytes);
	return best;
}

const char *heading_name_in(const char *text, size_t bytes, size_t *at)
{
	for (*at = 0; *at < bytes; ++*at) {
		const char *name;

		if (*at && is_alnum(text[*at - 1]))
			continue;
		name = name_at(text + *at, bytes - *at);
		if (name)
			return name;
	}
	return NULL;
}

static bool is_of_another(const char *name)
{
	for (size_t i = 0; others[i]; i++) {
		if (strcmp(others[i], name) == 0)
			return true;
	}
	return false;
}

static void names_read(struct heading *heading, const char *text)
{
	size_t bytes = strlen(text), at;
	const char *name;

	while (heading->name_count < HEADING_NAMES_MAX &&
	       (name = heading_name_in(text, bytes, &at))) {
		heading->is_of_another = is_of_another(name);
		heading->names[heading->name_count++] = name;
		text += at + strlen(name);
		bytes -= at + strlen(name);
	}
}

/* ---- whose ---- */

/* Parts of paths that only cgroups have. */
static bool looks_like_cgroup(const char *path, size_t bytes)
{
	static const char *const parts[] = {".slice/", ".service/", ".scope/",
					    "docker/", "kubepods",  "lxc/"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (memmem(path, bytes, parts[i], strlen(parts[i])))
			return true;
	}
	return false;
}

/* "/sys/fs/cgroup/memory/a/b/memory.stat" is of the cgroup "/a/b". */
static void cgroup_read(struct state *state, struct heading *heading, const char *text)
{
	static const char root[] = "/sys/fs/cgroup";
	const char *from = strstr(text, root), *end, *slash;

	if (from) {
		from += strlen(root);
	} else {
		const char *name = heading->name_count ? strstr(text, heading->names[0]) : NULL;

		from = name;
		while (from && from > text && !strchr(" \t>=#:'\"", from[-1]))
			from--;
		if (!from || !looks_like_cgroup(from, (size_t)(name - from)))
			return;
	}
	end = from + strcspn(from, " \t:<>'\"");
	if (strncmp(from, "/memory/", 8) == 0)
		from += 7;
	else if (strncmp(from, "/unified/", 9) == 0)
		from += 8;
	for (slash = end; slash > from && slash[-1] != '/'; slash--)
		continue;
	while (slash > from && slash[-1] == '/')
		slash--;
	heading->cgroup =
		slash == from ? "/" : state_text(state, "%.*s", (int)(slash - from), from);
}

/* ---- when ---- */

/* "12.5" at `text` in ns; *bytes of it. False: no number, or one that is too large. */
static bool seconds_read(const char *text, uint64_t *ns, size_t *bytes)
{
	uint64_t whole = 0, scale = NS_PER_SECOND / 10;
	size_t at = 0;

	for (; is_digit(text[at]); at++) {
		if (whole > UINT64_C(100000000000))
			return false;
		whole = whole * 10 + (uint64_t)(text[at] - '0');
	}
	*bytes = at;
	if (at == 0 || whole > UINT64_C(10000000000))
		return false;
	*ns = whole * NS_PER_SECOND;
	if (text[at] == '.' && is_digit(text[at + 1])) {
		for (at++; is_digit(text[at]); at++) {
			*ns += (uint64_t)(text[at] - '0') * scale;
			scale /= 10;
		}
	}
	*bytes = at;
	return true;
}

/* "30", "30s", "5m" behind "t=" or "sleep ". */
static bool span_read(const char *text, uint64_t *ns)
{
	size_t bytes;

	if (!seconds_read(text, ns, &bytes))
		return false;
	text += bytes;
	if (strncmp(text, "ms", 2) == 0)
		*ns /= 1000;
	else if (*text == 'm')
		*ns *= 60;
	else if (*text == 'h')
		*ns *= 3600;
	else if (is_alnum(*text) && *text != 's')
		return false;
	return true;
}

static bool two_digits(const char *text, uint64_t most, uint64_t *value)
{
	if (!is_digit(text[0]) || !is_digit(text[1]))
		return false;
	*value = (uint64_t)(text[0] - '0') * 10 + (uint64_t)(text[1] - '0');
	return *value <= most;
}

/* "10:11:12" or "10:11:12.5", in ns of the day. */
static bool day_time_read(const char *text, uint64_t *ns)
{
	uint64_t hour, minute, fraction = 0;
	size_t bytes;

	if (!two_digits(text, 23, &hour) || text[2] != ':' || !two_digits(text + 3, 59, &minute) ||
	    text[5] != ':' || !is_digit(text[6]) || !is_digit(text[7]) ||
	    !seconds_read(text + 6, &fraction, &bytes))
		return false;
	*ns = (hour * 60 + minute) * 60 * NS_PER_SECOND + fraction;
	return true;
}

/* Days since 1970 of a date in the Gregorian calendar. */
static uint64_t days(uint64_t year, uint64_t month, uint64_t day)
{
	/* Years begin in March, so that the leap day is a year's last. */
	uint64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* "2026-01-05" */
static bool iso_date_read(const char *text, uint64_t *day)
{
	uint64_t century, year, month, date;

	if (!two_digits(text, 99, &century) || !two_digits(text + 2, 99, &year) || text[4] != '-' ||
	    !two_digits(text + 5, 12, &month) || text[7] != '-' || !two_digits(text + 8, 31, &date))
		return false;
	year += century * 100;
	if (year < 1980 || year > 2200 || month == 0 || date == 0)
		return false;
	*day = days(year, month, date);
	return true;
}

/* "Jan  5": of which year stands further on, or nowhere. */
static bool month_day_read(const char *text, uint64_t *month, uint64_t *date)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (*month = 1; *month <= 12; ++*month) {
		if (strncmp(text, months + (*month - 1) * 3, 3) != 0 || text[3] != ' ')
			continue;
		*date = strtoul(text + 4, NULL, 10);
		return *date >= 1 && *date <= 31;
	}
	return false;
}

/* A year from 1980 to 2200 that stands by itself; 0: none. */
static uint64_t year_in(const char *text)
{
	for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
		uint64_t century, year;

		if (two_digits(text, 22, &century) && two_digits(text + 2, 99, &year) &&
		    !is_alnum(text[4]) && text[4] != '-' && text[4] != ':' && text[4] != '.' &&
		    century * 100 + year >= 1980)
			return century * 100 + year;
	}
	return 0;
}

/* Where words begin. */
static bool is_start(const char *text, const char *at)
{
	return at == text || !is_alnum(at[-1]);
}

static void date_read(struct heading *heading, const char *text)
{
	uint64_t day = 0, of_day = 0, month = 0, date = 0, year = year_in(text);
	bool has_day = false, has_time = false;

	for (const char *at = text; *at; at++) {
		if (!is_start(text, at) && !(at > text && at[-1] == 'T'))
			continue;
		if (!has_day && iso_date_read(at, &day))
			has_day = true;
		else if (!has_day && year && month_day_read(at, &month, &date)) {
			day = days(year, month, date);
			has_day = true;
		} else if (!has_time)
			has_time = day_time_read(at, &of_day);
	}
	if (!has_time)
		return;
	heading->clock = has_day ? CLOCK_DATE : CLOCK_DAY;
	heading->time_ns = (has_day ? day * 24 * 3600 * NS_PER_SECOND : 0) + of_day;
}

/* "1796029365" or "@1796029365.5": from 2001 to 2106. */
static void epoch_read(struct heading *heading, const char *text)
{
	for (const char *at = text; *at; at++) {
		uint64_t ns;
		size_t bytes;

		if (!is_start(text, at) || !is_digit(*at) || strspn(at, "0123456789") != 10)
			continue;
		if (at > text && strchr("./-_:", at[-1]))
			continue;
		if (!seconds_read(at, &ns, &bytes) || is_alnum(at[bytes]) ||
		    ns < 1000000000 * NS_PER_SECOND || ns >> 32 >= NS_PER_SECOND)
			continue;
		heading->clock = CLOCK_DATE;
		heading->time_ns = ns;
		return;
	}
}

static void relative_read(struct heading *heading, const char *text)
{
	for (const char *at = text; *at; at++) {
		uint64_t ns;

		if (!is_start(text, at))
			continue;
		if (strncmp(at, "sleep ", 6) == 0 && span_read(at + 6, &ns))
			heading->sleep_ns = ns;
		if ((*at == 't' || *at == 'T') && (at[1] == '=' || at[1] == '+') &&
		    span_read(at + 2, &ns)) {
			heading->clock = CLOCK_RELATIVE;
			heading->time_ns = ns;
		}
	}
}

/* "root@db1:~# cat", "bash-5.1$", "$ cat", "# cat", "--", "====", "[...]" */
static bool is_marked(const char *text)
{
	const char *sign = strpbrk(text, "#$%");

	if (strchr("#=$%>*~+[<", *text) || strncmp(text, "--", 2) == 0)
		return true;
	return sign && sign > text && (sign[1] == ' ' || sign[1] == '\0') && !is_digit(sign[-1]);
}

void heading_read(struct state *state, struct heading *heading, const char *text)
{
	*heading = (struct heading){.is_marked = is_marked(text)};
	names_read(heading, text);
	cgroup_read(state, heading, text);
	epoch_read(heading, text);
	date_read(heading, text);
	relative_read(heading, text);
}
