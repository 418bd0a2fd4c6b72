# If this fails, two runs cannot be held against each other, or chance passes for a difference.
source test/tap.bash

for seed in 1 2 3 4 5; do
	for policy in linux-6.18 linux-4.5; do
		"$REFAULT" run hello --set jobs.app.count=500 --policy $policy --seed $seed >"$scratch/out"
	done
done
mapfile -t runs < <("$REFAULT" list runs --names | tac)
wide() { awk '{ if (length > most) most = length } END { print most }' "$scratch/out"; }

exits 0 'ten runs' "$REFAULT" compare "${runs[@]}"
says out '1-5'
ok 'a star where it matters' grep -qE '^  reread_bytes .*\*$' "$scratch/out"
ok 'what all seeds agree on is exact' grep -qE '^  read_bytes .* 1\.000  exact' "$scratch/out"
says out 'linux-4.5 instead of linux-6.18: less is read again by app'
ok 'nothing is wider than 100 columns' [ "$(wide)" -le 100 ]
cp "$scratch/out" "$scratch/first"
exits 0 'again' "$REFAULT" compare "${runs[@]}"
ok 'the same, to the byte' cmp "$scratch/first" "$scratch/out"
exits 0 'in another order of seeds' "$REFAULT" compare "${runs[0]}" "${runs[9]}" "${runs[5]}" "${runs[2]}" "${runs[7]}" "${runs[4]}" "${runs[3]}" "${runs[6]}" "${runs[1]}" "${runs[8]}"
ok 'the same, too' cmp "$scratch/first" "$scratch/out"

exits 0 'two runs' "$REFAULT" compare @-2 @last
says out 'says nothing about chance'
ok 'no star' [ "$(grep -c '\*' "$scratch/out")" = 0 ]
"$REFAULT" run hello --set jobs.app.count=500 --policy fifo >"$scratch/out"
exits 0 'three sides' "$REFAULT" compare "${runs[@]}" @last
ok 'nothing is wider than 100 columns, either' [ "$(wide)" -le 100 ]
says out 'fifo instead of linux-6.18'

exits 0 'Markdown' "$REFAULT" compare "${runs[@]}" --format markdown
ok 'each line of a table has its bars' [ "$(grep '^|' "$scratch/out" | grep -vc '|$')" = 0 ]
exits 0 'CSV' "$REFAULT" compare "${runs[@]}" --format csv --metric reread_bytes
ok 'a heading, the machine and a stream, both sides each' [ "$(wc -l <"$scratch/out")" = 5 ]
ok 'each line has as many fields' [ "$(awk -F, '{ print NF }' "$scratch/out" | sort -u | wc -l)" = 1 ]
exits 0 'JSON' "$REFAULT" compare "${runs[@]}" --json
if command -v python3 >/dev/null; then
	ok 'the ratio is that of the means' python3 - "$scratch/out" <<-'END'
		import json, sys
		told = json.load(open(sys.argv[1]))
		figure = [f for f in told["figures"] if f["figure"] == "reread_bytes" and f["stream"] is None][0]
		base, other = figure["values"]
		assert abs(other["ratio"] - other["mean"] / base["mean"]) < 1e-12
		assert other["low"] <= other["ratio"] <= other["high"] < 1
		assert other["significant"] and other["verdict"] == "better" and base["significant"] is None
		assert [len(s["runs"]) for s in told["sides"]] == [5, 5]
	END
fi
exits 0 'all figures' "$REFAULT" compare @-2 @last --all
says out 'evictions'
exits 0 'a latency' "$REFAULT" compare @-2 @last --metric page_accesses

exits 2 'one side' "$REFAULT" compare "${runs[0]}" "${runs[2]}"
says err '--each'
exits 0 'each a side' "$REFAULT" compare "${runs[0]}" "${runs[2]}" --each
exits 2 'one run' "$REFAULT" compare @last
exits 2 'the same run twice' "$REFAULT" compare @last @last
says err 'one run alone'
exits 2 'no such figure' "$REFAULT" compare @-2 @last --metric reread_byte
says err 'nearest: reread_bytes'
exits 2 'no such format' "$REFAULT" compare @-2 @last --format cvs
says err 'nearest: csv'
exits 2 'no such run' "$REFAULT" compare @last zz
tap_done
