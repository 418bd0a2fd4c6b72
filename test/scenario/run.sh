# Behaviour as small files: each NAME.yaml here is run, and NAME.expect says what must come out of it. cases/NAME.expect says it of the
# scenario cases/NAME that ships.
#
# A line of an .expect file is one of
#
#     POINT  COUNTER  VALUE  [TOLERANCE]
#     with ARGUMENT...
#     fails TEXT
#     known-wrong WHY
#
# POINT      `end`, the label of a mark, `A..B` (what was counted between two of them; `start` is 0 unless there is such a mark), or
#            `job:NAME` (that job's, at the end)
# COUNTER    as in `--json`; or cached_pages, the pages on both lists
# VALUE      a number or a size (16MiB)
# TOLERANCE  how far off it may be, as a number or a size, or a share of VALUE (5%); exactly VALUE if not given
#
# `with`: what follows is expected of another run, with these arguments (before the first `with`: with none). `fails`: that run cannot be
# carried out, and the message holds this text. `known-wrong`: the model does not get there yet; that run is then reported as skipped, with
# what is off, and as passed once it is right. `#` begins a comment. To add a case, add the two files.

source test/tap.bash
[ "${REFAULT_FLAVOUR:-plain}" != tsan ] || skip_all 'one thread: nothing for the thread sanitizer to see'

check() { # FILE: prints what is wrong with $scratch/out
	awk -v expect="$1" '
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
			if (n == 0 || field[1] == "known-wrong" || field[1] == "with" || field[1] == "fails") continue
			lines++
			want = bytes(field[3])
			off = n < 4 ? 0 : field[4] ~ /%$/ ? want * (field[4] + 0) / 100 : bytes(field[4])
			got = value(field[1], field[2])
			if (got > want + off || got < want - off)
				printf "%s %s is %.0f, expected %s%s\n", field[1], field[2], got, field[3], n < 4 ? "" : " within " field[4]
		}
		if (!lines) print "nothing is expected"
	}' "$scratch/out"
}

run_one() { # SCENARIO NAME SAYS FILE: one run, whose expectations are in FILE
	local scenario=$1 name=$2 says=$3 file=$4 arguments why fails
	arguments=$(sed -n 's/^with //p' "$file")
	why=$(sed -n 's/^known-wrong //p' "$file")
	fails=$(sed -n 's/^fails //p' "$file")
	name="$name${arguments:+ $arguments}"
	if [ -n "$fails" ]; then
		exits 1 "$name cannot be carried out" "$REFAULT" run "$scenario" $arguments --json
		says err "$fails"
		return
	fi
	exits 0 "$name runs" "$REFAULT" run "$scenario" $arguments --json
	check "$file" >"$scratch/wrong"
	if [ -s "$scratch/wrong" ] && [ -n "$why" ]; then
		tap_count=$((tap_count + 1))
		echo "ok $tap_count # SKIP $name: $why ($(paste -s -d ';' "$scratch/wrong"))"
		return
	fi
	[ ! -s "$scratch/wrong" ]
	tap $? "$name: $says"
	sed 's/^/# /' "$scratch/wrong"
}

# A part for each run.
run_all() { # SCENARIO NAME SAYS EXPECT
	rm -f "$scratch"/part.*
	awk -v out="$scratch/part." 'function part() { return sprintf("%s%02d", out, count) }
		$1 == "with" && seen { count++ }
		NF && $1 !~ /^#/ { seen = 1 }
		{ print > part() }' "$4"
	for part in "$scratch"/part.*; do
		run_one "$1" "$2" "$3" "$part"
	done
}

# The sanitizers see one in four: what differs between them is less the code than the figures.
number=0
is_skipped() { [ "${REFAULT_FLAVOUR:-plain}" = check ] && [ $((number++ % 4)) != 0 ]; }
for file in test/scenario/*.yaml; do
	is_skipped && continue
	run_all "$file" "$(basename "$file" .yaml)" "$(sed -n '1s/^# //p' "$file")" "${file%.yaml}.expect"
done
for file in test/scenario/cases/*.expect; do
	is_skipped && continue
	name=cases/$(basename "$file" .expect)
	run_all "$name" "$name" "$(sed -n 's/^summary: //p' "scenarios/$name.yaml")" "$file"
done
for file in scenarios/cases/*.yaml; do
	ok "$(basename "$file") has its expectations here" test -f "test/scenario/cases/$(basename "$file" .yaml).expect"
done
tap_done
