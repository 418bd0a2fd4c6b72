# If this fails, somebody who sends dumps of a slow machine gets no answer, a wrong one, or one that does not say what it rests on.
source test/tap.bash
samples=test/state/samples

exits 0 'a pair, slabinfo and meminfo in one file' "$REFAULT" diagnose $samples/procfs-pair.txt
says out 'File pages thrash: 36,000 came back after their eviction within 30.0 s, 140.6 MiB (4.7 MiB/s).'
says out 'procfs-pair.txt:22'
says out 'workingset_refault_file 1916500'
says out '93.75 %'
says out '66.67 %'
says out 'it is file pages that thrash, not swap'
says out 'cannot be seen in these dumps'
cp "$scratch/out" "$scratch/once"
exits 0 'the same again' "$REFAULT" diagnose $samples/procfs-pair.txt
ok 'is the same to the byte' cmp "$scratch/once" "$scratch/out"

# Everything is as well in JSON.
exits 0 'as JSON' "$REFAULT" diagnose $samples/procfs-pair.txt --json
ok 'with figures, lines and what is not shown' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["verdict"] == "caching" and told["page_bytes"] == 4096
findings = {f["id"]: f for f in told["findings"]}
thrash = findings["file-thrash"]
assert thrash["kind"] == "problem" and thrash["severity"] == "high"
assert thrash["figures"]["file_refaults_pages"] == {"value": 36000, "unit": "pages", "formula": "workingset_refault_file: 1,916,500 - 1,880,500"}
assert thrash["figures"]["refaulted_share_of_reads"]["value"] == 93.75
assert {"file": "test/state/samples/procfs-pair.txt", "line": 22, "text": "workingset_refault_file 1916500"} in thrash["evidence"]
assert findings["negative-dentries"]["figures"]["negative_bytes"]["value"] == 11884800
assert all(f["rule"] for f in told["findings"] if f["kind"] != "cannot_tell" and f["id"] != "swapping")
assert all(gap["what"] for gap in told["cannot_show"]) and told["cannot_show"]
assert told["memory"]["total"] == 948304 * 1024
assert told["pairs"][0]["interval_s"] == 30
END

# In parts, in any order, plain and packed, from standard input.
csplit -s -z -f "$scratch/part" $samples/procfs-pair.txt '/^### /' '{*}'
xz -k "$scratch/part00"
rm "$scratch/part00"
exits 0 'in parts, in any order' "$REFAULT" diagnose "$scratch"/part04 "$scratch"/part01 "$scratch"/part03 "$scratch"/part02 "$scratch"/part00.xz --json
ok 'says the same' python3 -c '
import json, sys
told = json.load(open(sys.argv[1]))
assert [f for f in told["findings"] if f["id"] == "file-thrash"][0]["figures"]["file_refaults_pages"]["value"] == 36000' "$scratch/out"
ok 'from standard input' bash -c '"$1" diagnose - <'$samples'/procfs-pair.txt | grep -q "36,000 came back"' bash "$REFAULT"
sed '/^###/d' $samples/procfs-pair.txt >"$scratch/bare"
exits 0 'without any heading' "$REFAULT" diagnose "$scratch/bare" --interval 30s
says out '36,000 came back after their eviction within 30.0 s'
exits 0 'nor an interval' "$REFAULT" diagnose "$scratch/bare"
says out 'at a rate that is not known'

# What is wrong.
printf 'nr_dirty 1\nnr_writeback 4x\nnr_mapped 2\n' >"$scratch/garbled"
exits 2 'a garbled row' "$REFAULT" diagnose "$scratch/garbled"
says err 'garbled:2:14: found "4x", expected a whole number'
says err '  2 | nr_writeback 4x'
says err '^^'
says err '`--lenient` leaves such rows out'
exits 0 'left out if asked for' "$REFAULT" diagnose "$scratch/garbled" --lenient
says out '1 row could not be read and was left out'
echo 'dear list, it is slow' >"$scratch/prose"
exits 2 'no dump at all' "$REFAULT" diagnose "$scratch/prose"
says err 'prose:1: holds no dump that is known: expected /proc/meminfo'
exits 2 'nor with --lenient' "$REFAULT" diagnose "$scratch/prose" --lenient
: >"$scratch/empty"
exits 2 'an empty file' "$REFAULT" diagnose "$scratch/empty"
says err 'is empty'
exits 2 'a binary' "$REFAULT" diagnose "$REFAULT"
exits 2 'a file that is not there' "$REFAULT" diagnose "$scratch/none"
says err "$scratch/none"
exits 2 'a trace' "$REFAULT" diagnose test/op/test_csv.c
exits 2 'a page size that is none' "$REFAULT" diagnose "$scratch/bare" --page-size 5000
exits 2 'a page size that contradicts' "$REFAULT" diagnose $samples/procfs-pair.txt --page-size 64KiB
says err 'pages of 4096 bytes'
exits 2 'no interval' "$REFAULT" diagnose "$scratch/bare" --interval 0
exits 2 'an option for this machine' "$REFAULT" diagnose "$scratch/bare" --save x
exits 2 'a cgroup that is not there' "$REFAULT" diagnose --cgroup /no/such/cgroup
says err 'no memory cgroup /no/such/cgroup'

# What is known of each sample: the verdict, and what is a problem, not caching, or explained.
while read -r sample verdict ids; do
	"$REFAULT" diagnose "$samples/$sample" --json >"$scratch/out" 2>"$scratch/err"
	python3 - "$scratch/out" "$verdict" $ids 2>"$scratch/why" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
found = ["%s:%s" % (f["kind"], f["id"]) for f in told["findings"] if f["kind"] in ("problem", "not_caching", "explanation")]
wanted = sys.argv[3:]
assert told["verdict"] == sys.argv[2], told["verdict"] + ": " + told["summary"]
assert sorted(set(found)) == sorted(wanted), found
END
	tap $? "$sample: $verdict"
	sed 's/^/# /' "$scratch/why" "$scratch/err"
	"$REFAULT" diagnose "$samples/$sample" >"$scratch/out"
	tap $((0 + $(awk '{ gsub(/[^\x00-\x7f]/, "x"); if (length($0) > 100) n++ } END { print n + 0 }' "$scratch/out"))) "$sample: nothing is wider than 100 columns"
done <test/state/samples/expected

# Every rule is in the manual.
for id in $(sed -n 's/^\t\.id = "\(.*\)",$/\1/p' src/state/finding/*.c); do
	grep -qF "\`$id\`" docs/diagnose.md || echo "$id"
done >"$scratch/missing"
tap "$([ -s "$scratch/missing" ] && echo 1 || echo 0)" 'every finding is documented'
sed 's/^/# /' "$scratch/missing"

# This machine: whatever it does, it is read, told, and can be saved.
[ -r /proc/vmstat ] && {
	exits 0 'this machine' "$REFAULT" diagnose
	says out 'refault diagnose --interval 10s'
	exits 0 'twice' "$REFAULT" diagnose --interval 1s --save "$scratch/saved" --json
	exits 0 'what was saved says it again' "$REFAULT" diagnose "$scratch/saved"
	says out 'vmstat x 2'
}
tap_done
