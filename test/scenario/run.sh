# Behaviour as small files: each NAME.yaml here is run, and NAME.expect says what must come out of it.
#
# A line of an .expect file is
#
#     POINT  COUNTER  VALUE  [TOLERANCE]
#
# POINT      `end`, the label of a mark, `A..B` (what was counted between two of them; `start` is 0 unless there is such a mark), or
#            `job:NAME` (that job's, at the end)
# COUNTER    as in `--json`; or cached_pages, the pages on both lists
# VALUE      a number or a size (16MiB)
# TOLERANCE  how far off it may be, as a number or a size, or a share of VALUE (5%); exactly VALUE if not given
#
# `#` begins a comment. A line `known-wrong WHY` says that the model does not get there yet: the case is then reported as skipped, with what is
# off, and as passed once it is right. To add a case, add the two files.

source test/tap.bash

check() { # NAME: prints what is wrong
	awk -v expect="test/scenario/$1.expect" '
	function bytes(text,   number, unit) {
		number = text + 0
		unit = text
		sub(/^[0-9.]+/, "", unit)
		return number * (unit == "KiB" ? 1024 : unit == "MiB" ? 1048576 : unit == "GiB" ? 1073741824 : 1)
	}
	function value(point, counter,   at) {
		at = index(point, "..")
		if (at) return value(substr(point, at + 2), counter) - value(substr(point, 1, at - 1), counter)
		if (counter == "cached_pages") return value(point, "active_file_pages") + value(point, "inactive_file_pages")
		if (!((point, counter) in values)) {
			if (point != "start") print "there is no " counter " at " point
			return 0
		}
		return values[point, counter]
	}
	/^  "totals": \{/ { point = "end" }
	/^  "marks": \[/ { point = "" }
	/^  "streams": \{/ { point = ""; in_streams = 1 }
	/^  "blame": / { point = ""; in_streams = 0 }
	in_streams && /^    ".*": \{/ { point = $1; gsub(/[":]/, "", point); point = "job:" point }
	/"label": / { point = $2; gsub(/[",]/, "", point) }
	/^ *"[a-z_]+": [0-9]+,?$/ && point != "" {
		counter = $1
		gsub(/[":]/, "", counter)
		if (!((point, counter) in values)) values[point, counter] = $2 + 0
	}
	END {
		while ((getline line < expect) > 0) {
			sub(/#.*/, "", line)
			n = split(line, field, " ")
			if (n == 0 || field[1] == "known-wrong") continue
			lines++
			want = bytes(field[3])
			off = n < 4 ? 0 : field[4] ~ /%$/ ? want * (field[4] + 0) / 100 : bytes(field[4])
			got = value(field[1], field[2])
			if (got > want + off || got < want - off)
				printf "%s %s is %.0f, expected %s%s\n", field[1], field[2], got, field[3], n < 4 ? "" : " within " field[4]
		}
		if (!lines) print "nothing is expected: " expect
	}' "$scratch/out"
}

for file in test/scenario/*.yaml; do
	name=$(basename "$file" .yaml)
	exits 0 "$name runs" "$REFAULT" run "$file" --json
	check "$name" >"$scratch/wrong"
	says=$(sed -n '1s/^# //p' "$file")
	why=$(sed -n 's/^known-wrong //p' "${file%.yaml}.expect")
	if [ -s "$scratch/wrong" ] && [ -n "$why" ]; then
		tap_count=$((tap_count + 1))
		echo "ok $tap_count # SKIP $name: $why ($(paste -s -d ';' "$scratch/wrong"))"
		continue
	fi
	[ ! -s "$scratch/wrong" ]
	tap $? "$name: $says"
	sed 's/^/# /' "$scratch/wrong"
done
tap_done
