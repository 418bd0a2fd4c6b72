#!/bin/bash
#
# What bench/pgbench.sh counted, as tables in Markdown: per transaction, the median of a cell's runs; of what the device read and wrote
# also (least to most).
#
#     bench/pgbench/table.sh [RESULTS]               to standard output; RESULTS is bench/pgbench/measured.jsonl if not given
#     bench/pgbench/table.sh RESULTS DOCUMENT        in place of what stands between the marks `<!-- tables` and `<!-- end` in DOCUMENT

set -eu
export LC_ALL=C
results=${1:-$(dirname "$0")/measured.jsonl} document=${2:-}
[ $# -le 2 ] && [ "${results#-}" = "$results" ] || { sed -n '3,7s/^# \{0,1\}//p' "$0"; [ "$results" = --help ]; exit $(($? * 2)); }
[ -r "$results" ] || { echo "bench/pgbench/table.sh: cannot read $results" >&2; exit 2; }
[ -z "$document" ] || [ -w "$document" ] || { echo "bench/pgbench/table.sh: cannot write $document" >&2; exit 2; }

tables() {
	awk '
	function value(key) { return match($0, "\"" key "\": (\"[^\"]*\"|[^,}]*)") ? unquoted(substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4)) : "" }
	function unquoted(text) { gsub(/"/, "", text); return text }
	function listed(list, item) { return (", " list ", ") ~ (", " item ", ") ? list : (list == "" ? item : list ", " item) }
	function keep(column, number) { of[cell, column, runs[cell]] = number }

	function sort_runs(cell, column, sorted,   i, j, t) {
		for (i = 1; i <= runs[cell]; i++) {
			t = of[cell, column, i]
			for (j = i; j > 1 && sorted[j - 1] > t; j--) sorted[j] = sorted[j - 1]
			sorted[j] = t
		}
		return runs[cell]
	}
	function median(cell, column, format,   n, sorted) {
		n = sort_runs(cell, column, sorted)
		return sprintf(format, n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2)
	}
	function median_and_range(cell, column, format,   n, sorted, least, most) {
		n = sort_runs(cell, column, sorted)
		least = sprintf(format, sorted[1])
		most = sprintf(format, sorted[n])
		return median(cell, column, format) (least == most ? "" : " (" least " to " most ")")
	}

	{
		cell = value("filesystem") SUBSEP value("limit_mib") SUBSEP value("wal_recycle")
		filesystems = listed(filesystems, value("filesystem"))
		limits = listed(limits, value("limit_mib"))
		recycles = listed(recycles, value("wal_recycle"))
		kernels = listed(kernels, value("kernel"))
		servers = listed(servers, value("server"))
		shapes = listed(shapes, "scale " value("scale") " and " value("clients") " clients with " value("transactions") " transactions after " value("warmup"))
		date = substr(value("date"), 1, 10)
		if (first == "" || date < first) first = date
		if (date > last) last = date
		if (value("outcome") != "complete") { killed[cell]++; killed_all++; next }
		runs[cell]++
		runs_all++
		n = value("transactions")
		keep("read", value("device_read_bytes") / n / 1024)
		keep("reads", value("device_read_requests") / n)
		keep("written", value("device_write_bytes") / n / 1024)
		keep("flushes", value("device_flushes") / n)
		keep("misses", value("server_blks_read") / n)
		keep("refaults", (value("memory_end_workingset_refault_file") - value("memory_start_workingset_refault_file")) / n)
		keep("active", value("memory_end_active_file") / 1048576)
		keep("inactive", value("memory_end_inactive_file") / 1048576)
		keep("recycled", value("wal_recycled"))
		keep("removed", value("wal_removed"))
		keep("made", value("wal_end_segments") - value("wal_start_segments") + value("wal_removed"))
		keep("user", value("cpu_user_us") / n)
		keep("system", value("cpu_system_us") / n)
		if (value("control_lost_kib") > lost) lost = value("control_lost_kib")
	}

	END {
		printf "%d runs, %s, Linux %s, PostgreSQL %s; %s.\n", runs_all, first == last ? first : first " to " last, kernels, servers, shapes
		printf "Killed for want of memory: %s. Lost of the 32 MiB control file: at most %d KiB.\n", killed_all ? killed_all : "none", lost
		fn = split(filesystems, filesystem, ", "); ln = split(limits, limit, ", "); rn = split(recycles, recycle, ", ")
		for (f = 1; f <= fn; f++) {
			printf "\n### %s\n\n", filesystem[f]
			print "| limit MiB | recycle | KiB read | KiB written | reads | flushes | buffer misses | refaults, 4 KiB | active + inactive file MiB | WAL recycled, removed, made | CPU us, user + system |"
			print "|---|---|---|---|---|---|---|---|---|---|---|"
			for (l = 1; l <= ln; l++) for (r = 1; r <= rn; r++) {
				cell = filesystem[f] SUBSEP limit[l] SUBSEP recycle[r]
				if (!(cell in runs)) {
					if (cell in killed) printf "| %s | %s | killed for want of memory | | | | | | | | |\n", limit[l], recycle[r]
					continue
				}
				printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s + %s | %s, %s, %s | %s + %s |\n", limit[l], recycle[r],
					median_and_range(cell, "read", "%.2f"), median_and_range(cell, "written", "%.1f"),
					median(cell, "reads", "%.3f"), median(cell, "flushes", "%.2f"), median(cell, "misses", "%.2f"), median(cell, "refaults", "%.2f"),
					median(cell, "active", "%.0f"), median(cell, "inactive", "%.0f"),
					median(cell, "recycled", "%.0f"), median(cell, "removed", "%.0f"), median(cell, "made", "%.0f"),
					median(cell, "user", "%.0f"), median(cell, "system", "%.0f")
			}
		}
	}' "$results"
}

if [ -z "$document" ]; then
	tables
else
	between=$(tables)
	all=$(awk '/^<!-- end/ { inside = 0; if (between) print ""; while ((getline line < "/dev/fd/3") > 0) print line; print "" } !inside { print } /^<!-- tables/ { inside = 1 }' \
		"$document" 3<<<"$between")
	printf '%s\n' "$all" >"$document"
fi
