# If this fails, a policy is not what its name says, or a trace's reader gives other requests than
# the trace holds: the misses differ from the published counts, which were not made with our code.
#
# Each row of expected.csv must be matched exactly, whatever format the trace is in; LIRS within 0.2 %, for the reason that
# policy/lirs.c gives. The traces are other people's and not in this tree. Those with 10 million requests are
# tried with THOROUGH=1 only, those with a million in one size; under sanitizers those below 100,000.
source test/tap.bash

traces=${REFAULT_SHARED:-../shared}/traces
[ -r "$traces/expected.csv" ] || skip_all "no $traces/expected.csv: the published counts are not on this machine"

# As they are called here.
sed '1d; s/,S3-FIFO,/,s3fifo,/; s/,MIN,/,opt,/; s/,[^,]*,/\L&/' "$traces/expected.csv" >"$scratch/expected"
cut -d , -f 1 "$scratch/expected" | sort -u >"$scratch/names"
# POLICY REQUESTS MISSES, and as found
is_right() {
	local off=$(($3 - ${5:-0}))
	[ "$2" = "${4:-}" ] && [ $((${off#-} * 500)) -le "$([ "$1" = lirs ] && echo "$3" || echo 0)" ]
}
values() { cut -d , -f "$1" "$scratch/rows" | sort -u | paste -s -d ,; }
while read -r name; do
	file=${name%@*} options=()
	# Where each request is to be one look-up, by its start, the name says so.
	[ "${name#*@}" = lbn ] && options=(--key lbn)
	[ "${file%%.*}" = w106 ] && options=(--format u32)
	grep -F "$name," "$scratch/expected" >"$scratch/rows"
	requests=$(cut -d , -f 4 "$scratch/rows" | head -n 1)
	[ "${REFAULT_FLAVOUR:-plain}" = plain ] || [ "$requests" -lt 100000 ] || continue
	if [ -z "${THOROUGH:-}" ] && [ "$requests" -gt 1000000 ]; then
		[ "$requests" -lt 10000000 ] || continue
		sizes=$(cut -d , -f 3 "$scratch/rows" | sort -nu | sed -n 2p)
		grep ",$sizes,[0-9]*,[0-9]*$" "$scratch/rows" >"$scratch/some"
		mv "$scratch/some" "$scratch/rows"
	fi
	if [ ! -r "$traces/$file" ]; then
		tap_count=$((tap_count + 1))
		echo "ok $tap_count # SKIP $name: no $traces/$file"
		continue
	fi
	"$REFAULT" sweep "$traces/$file" "${options[@]}" --bare --pages "$(values 3)" --policy "$(values 2)" \
		--jobs 1 --csv --no-store >"$scratch/out" 2>"$scratch/err" || sed 's/^/# /' "$scratch/err"
	while IFS=, read -r _ policy pages requests misses; do
		sum=$(awk -F , -v policy="$policy" -v pages="$pages" '
			NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
			$column["policy"] == policy && $column["pages"] == pages { print $column["page_accesses"], $column["page_misses"] }' "$scratch/out")
		# shellcheck disable=SC2086
		is_right $policy $requests $misses $sum
		tap $? "$name, $policy, $pages pages: $misses of $requests missed"
		# shellcheck disable=SC2086
		is_right $policy $requests $misses $sum || echo "# got ${sum:-nothing}"
	done <"$scratch/rows"
done <"$scratch/names"

tap_done
