# If this fails, a policy is not what its name says: its misses differ from the published counts,
# which were not made with our code.
#
# Each row of expected.csv for LRU, FIFO, CLOCK and ARC on the oracleGeneral trace must be matched
# exactly. The trace is other people's and not in this tree.
source test/tap.bash

traces=${REFAULT_SHARED:-../shared}/traces
[ -r "$traces/expected.csv" ] || skip_all "no $traces/expected.csv: the published counts are not on this machine"

grep '^cloudPhysicsIO.oracleGeneral.bin,\(LRU\|FIFO\|CLOCK\|ARC\),' "$traces/expected.csv" >"$scratch/rows"
[ -s "$scratch/rows" ] || skip_all "$traces/expected.csv has no rows for the oracleGeneral trace"
while IFS=, read -r trace policy pages requests misses; do
	"$REFAULT" replay "$traces/$trace" --bare --pages "$pages" --policy "${policy,,}" --json >"$scratch/out" 2>"$scratch/err"
	sum=$(sed -nE '/"totals"/,/\}/s/.*"page_(accesses|misses)": ([0-9]+).*/\2/p' "$scratch/out" | paste -s -d ' ')
	[ "$sum" = "$requests $misses" ]
	tap $? "$policy, $pages pages: $misses of $requests missed"
	[ "$sum" = "$requests $misses" ] || { echo "# got ${sum:-nothing}"; sed 's/^/# /' "$scratch/err"; }
done <"$scratch/rows"

tap_done
