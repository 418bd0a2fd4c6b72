# If this fails, docs/pgbench.md no longer tells what was measured, or bench/pgbench.sh leaves somebody without a reason.
source test/tap.bash

results=bench/pgbench/measured.jsonl

cp docs/pgbench.md "$scratch/document.md"
ok 'the tables can be made anew' bench/pgbench/table.sh $results "$scratch/document.md"
ok 'the document has the tables of the results' diff docs/pgbench.md "$scratch/document.md"

# Whatever else is in a line: three file systems, five limits, recycling and none, and none of them disturbed.
cells=$(sed -n 's/.*"outcome": "complete".*"filesystem": "\([a-z0-9]*\)", "limit_mib": \([0-9]*\), "wal_recycle": "\(o[nf]*\)".*"drops": 0,.*/\1 \2 \3/p' $results)
tap "$([ "$(sort -u <<<"$cells" | wc -l)" = 30 ] && echo 0 || echo 1)" 'the whole matrix was measured'
tap "$([ "$(wc -l <<<"$cells")" = "$(wc -l <$results)" ] && echo 0 || echo 1)" 'in runs that nobody disturbed'

exits 0 'the help' bench/pgbench.sh --help
says out '--limits'
exits 2 'an unknown option' bench/pgbench.sh --speed 9
says err "what is '--speed'?"
exits 2 'an unknown file system' bench/pgbench.sh --filesystems 'ext4 fat'
says err "--filesystems is of ext4 xfs btrfs, not 'fat'"
exits 2 'no number' bench/pgbench.sh --limits 200MiB
says err "--limits is a number of 1 or more, not '200MiB'"
exits 2 'an option without its value' bench/pgbench.sh --scale
exits 2 'results that are not there' bench/pgbench/table.sh "$scratch/nothing"

nobody=()
[ "$(id -u)" != 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
if "${nobody[@]}" test -x bench/pgbench.sh 2>/dev/null; then
	exits 77 'not root' "${nobody[@]}" bench/pgbench.sh
	says err 'needs root'
fi
tap_done
