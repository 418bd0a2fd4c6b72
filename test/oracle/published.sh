# If this fails, a policy is not what its name says, or a trace's reader gives other requests than
# the trace holds: the misses differ from the published counts, which were not made with our code.
#
# Each row of expected.csv for LRU, FIFO, CLOCK, SIEVE, ARC, S3-FIFO, 2Q and MIN (which is opt) must be
# matched exactly, whatever format the trace is in; LIRS within 0.2 %, for the reason that
# policy/lirs.c gives. Of the two longest traces one size is enough, or all with REFAULT_ALL_ROWS. The
# traces are other people's and not in this tree.
source test/tap.bash

traces=${REFAULT_SHARED:-../shared}/traces
[ -r "$traces/expected.csv" ] || skip_all "no $traces/expected.csv: the published counts are not on this machine"

grep '^[^,]*,\(LRU\|FIFO\|CLOCK\|SIEVE\|ARC\|S3-FIFO\|2Q\|LIRS\|MIN\),' "$traces/expected.csv" >"$scratch/rows"
[ "${REFAULT_ALL_ROWS:-}" ] || sed -i '/^P\(6\|12\)\..*,\(4096\|32768\),/d' "$scratch/rows"
[ -s "$scratch/rows" ] || skip_all "$traces/expected.csv has no rows"
# Where each request is to be one look-up, by its start, the name says so.
while IFS=, read -r name policy pages requests misses; do
	file=${name%@*} options=() ours=${policy,,} off=0 # off: one in so many misses may be
	ours=${ours/-/}
	[ "$policy" = LIRS ] && off=500
	[ "$policy" = MIN ] && ours=opt
	[ "${name#*@}" = lbn ] && options=(--key lbn)
	[ "${file%%.*}" = w106 ] && options=(--format u32)
	if [ ! -r "$traces/$file" ]; then
		tap_count=$((tap_count + 1))
		echo "ok $tap_count # SKIP $name, $policy, $pages pages: no $traces/$file"
		continue
	fi
	"$REFAULT" replay "$traces/$file" "${options[@]}" --bare --pages "$pages" --policy "$ours" --json >"$scratch/out" 2>"$scratch/err"
	sum=$(sed -nE '/"totals"/,/\}/s/.*"page_(accesses|misses)": ([0-9]+).*/\2/p' "$scratch/out" | paste -s -d ' ')
	got=${sum#* } is_wrong=1
	if [ "$sum" = "$requests $misses" ]; then
		is_wrong=0
	elif ((off)) && [ "$sum" = "$requests $got" ]; then
		error=$((got - misses))
		((${error#-} * off <= misses)) && is_wrong=0
	fi
	tap $is_wrong "$name, $policy, $pages pages: $misses of $requests missed"
	((is_wrong)) && { echo "# got ${sum:-nothing}"; sed 's/^/# /' "$scratch/err"; }
done <"$scratch/rows"

tap_done
