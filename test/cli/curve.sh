# If this fails, a miss curve is another one than runs of the caches give, or depends on what it must not depend on.
source test/tap.bash
export LC_ALL=C.UTF-8

{
	echo 'time_ns,thread,op,path,offset,bytes'
	for ((i = 0; i < 8000; i++)); do
		echo "$i,1,read,f$((i % 2)),$(((i * 7919 % 3000) ** 2 / 3000 * 4096)),$((i % 5 ? 4096 : 9000))"
	done
} >"$scratch/t.csv"
curve() {
	"$REFAULT" curve "$scratch/t.csv" "$@"
}
value() { # POLICY PAGES: its misses
	grep "^$1,$2," "$scratch/csv" | cut -d , -f 4
}

exits 0 'a curve' curve
says out 'different pages'
says out 'Knee: 90 % of the re-reads are gone at'
ok 'in a terminal without such characters, letters alone' bash -c '! LC_ALL=C "$0" curve "$1/t.csv" | LC_ALL=C grep -q "[^ -~]"' "$REFAULT" "$scratch"
exits 0 'with letters alone' curve --ascii
ok 'it is ASCII' bash -c '! grep -qP "[^\x00-\x7f]" "$0/out"' "$scratch"
curve --pages 100..1600:x4 --policy lru,fifo,arc --csv >"$scratch/csv"
ok 'CSV: a line for each policy and size' [ "$(wc -l <"$scratch/csv")" = 10 ]
for policy in lru fifo arc; do
	"$REFAULT" replay "$scratch/t.csv" --bare --pages 400 --policy $policy --no-store --json >"$scratch/run"
	ok "$policy: what a run says" grep -q "\"page_misses\": $(value $policy 400)," "$scratch/run"
done
ok 'the same with one job' bash -c '"$0" curve "$1/t.csv" --pages 100..1600:x4 --policy lru,fifo,arc --csv --jobs 1 | cmp - "$1/csv"' "$REFAULT" "$scratch"
ok 'and if the trace is read for each run' bash -c '"$0" curve "$1/t.csv" --pages 100..1600:x4 --policy lru,fifo,arc --csv --trace-memory 1KiB | cmp - "$1/csv"' "$REFAULT" "$scratch"
ok 'and from standard input' bash -c '"$0" curve - --pages 100..1600:x4 --policy lru,fifo,arc --csv <"$1/t.csv" | cmp - "$1/csv"' "$REFAULT" "$scratch"

exits 0 'a picture, and JSON' curve --policy lru,arc --points 5 --svg "$scratch/c.svg" --json
ok 'exact' grep -q '"exact": true' "$scratch/out"
ok 'the picture is one' grep -q '</svg>' "$scratch/c.svg"
exits 0 'a sample that is too small becomes exact' curve --sample 0.01 --max-error 0.00000001 --policy arc
says out 'this is exact'
exits 0 'a sample' curve --sample 0.2 --max-error 0 --policy lru,arc --json
ok 'is told' grep -q '"exact": false' "$scratch/out"
ok 'with its error' grep -qE '"mean_absolute_error": [0-9.e-]+' "$scratch/out"
exits 0 'so many pages' curve --sample-size 300 --policy lru,fifo,linux-6.18
says out 'sample: 300 pages'
says out '±'
exits 0 'requests by their start' curve --key lbn
says out 'different requests'

exits 2 'two samples' curve --sample 0.1 --sample-size 1000
exits 2 'a rate that is none' curve --sample 2
exits 2 'no such policy' curve --policy lruu
exits 2 'sizes and how many' curve --pages 10 --points 3
exits 2 'no trace' "$REFAULT" curve "$scratch/none"
echo 'time_ns,thread,op,path,offset,bytes
0,1,exists,a,0,4096' >"$scratch/nothing.csv"
exits 2 'nothing to look up' "$REFAULT" curve "$scratch/nothing.csv"
says err 'looks no page up'

# A trace that is a hundred times longer takes no more memory: neither to replay nor to sample.
rows() { # COUNT
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,f,0,67108864'
	awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++) print i ",1,read,f," (i * 7919 % 16384) * 4096 ",4096" }'
}
peak_kib() { # COMMAND...: the most memory that it has
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
if [ "${REFAULT_FLAVOUR:-plain}" = plain ]; then
	rows 20000 | "$REFAULT" import - -o "$scratch/short.rft" >/dev/null
	rows 800000 | "$REFAULT" import - -o "$scratch/long.rft" >/dev/null
	for how in 'replay --cgroup-limit 16MiB --no-store' 'replay --bare --pages 4096 --policy lru --no-store' \
		'sweep --bare --pages 4096 --policy lru --no-store --trace-memory 1KiB' 'curve' 'curve --sample-size 1000'; do
		set -- $how
		short=$(peak_kib "$REFAULT" "$1" "$scratch/short.rft" "${@:2}")
		long=$(peak_kib "$REFAULT" "$1" "$scratch/long.rft" "${@:2}")
		ok "$how: memory does not grow with the trace ($short, $long KiB)" [ "$long" -lt $((short + 5120)) ]
	done
else
	echo "ok $((++tap_count)) # SKIP memory is not ours under a sanitizer"
fi
tap_done
