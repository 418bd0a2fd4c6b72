# If this fails, somebody who asks what would help is told the wrong thing first, or is told what was never tried.
source test/tap.bash

# The first remedy of a scenario: its id and its target ("-": the machine); or the headline's kind, where nothing helps.
first() { # NAME EXPECTED SCENARIO [OPTION]...
	local name=$1 expected=$2 got
	shift 2
	# With the sanitizers, some: the others are the same code with other remedies.
	[ "${REFAULT_FLAVOUR:-plain}" = plain ] || [[ $name == @(C04|C51|a journal)* ]] || return
	got=$("$REFAULT" advise "$@" --json --seeds 1 2>"$scratch/err" | python3 -c '
import json, sys
told = json.load(sys.stdin)
best = told["remedies"][0] if told["remedies"] and told["remedies"][0]["verdict"] == "helps" else None
print(best["id"], best["target"] or "-") if best else print(told["headline"]["kind"])' 2>>"$scratch/err")
	tap "$([ "$got" = "$expected" ] && echo 0 || echo 1)" "$name: $expected"
	[ "$got" = "$expected" ] || { echo "# got: $got"; sed 's/^/# /' "$scratch/err"; }
}

first 'C01, DONTNEED on what others keep hot' 'no-dontneed hot' cases/c01-backup-dontneed
first 'C03, nothing is read twice' not-a-caching-problem cases/c03-dontneed-before-reading
first 'C04, a merge' 'dontneed part' cases/c04-merge-plain
first 'C07, DONTNEED on the page that is filled' 'dontneed-range all' cases/c07-log-shipper-whole
first 'C15, a mapped index' 'random search' cases/c15-mmap-readahead --only random,readahead,memory,kernel
first 'C17, a quarter of the pages' 'random reader' cases/c17-quarter-of-pages --only random,readahead
first 'C31, held open' out-of-memory cases/c31-held-open --set files.many.count=17000 --only readahead
first 'C40, no problem' not-a-caching-problem cases/c40-active-counts-as-used --only memory,dontneed
first 'C51, parts of pages' 'whole-pages a, b' cases/c51-overwrite-in-pieces
first 'C53, recycled segments' 'whole-pages recycled' cases/c53-wal-recycle --only whole-pages,new-files,memory,kernel
first 'C53, if only the files can be new' 'new-files recycled' cases/c53-wal-recycle --only new-files,memory
first 'C55, folios written whole' 'kernel -' cases/c55-small-sync-writes --set machine.filesystem=xfs --set machine.policy=linux-6.1 --only kernel,new-files,dontneed
first 'C57, a mapped stream' 'read-not-mmap stream' cases/c57-mapped-stream
first 'C58, a scan by stale statistics' 'dontneed scan' cases/c58-stale-statistics-before
first 'C59, dropped caches' 'drop-caches -' cases/c59-drop-caches-1 --set files.tree.count=2000
first 'C59, dropped inodes' 'drop-caches -' cases/c59-drop-caches-2 --set files.tree.count=5000 --set files.hot.size=20MiB --only drop-caches,cgroup
first 'a journal, on a device' 'dontneed wal' corpus/journal-and-hot-data --set machine.device=nvme-tlc --only dontneed,memory
first 'C27, inodes that a stream leaves alone' not-a-caching-problem cases/c27-stream-beside-inodes --set files.many.count=20000 \
	--set files.stream.size=400MiB --set machine.cgroup_limit=64MiB --only cache-pressure,memory,dontneed
first 'C35, metadata over its limit' 'arc-meta-limit -' cases/c35-metadata-over-its-limit --only arc-meta-limit
first 'C50, bursts of dirty pages' 'dirty-limits -' cases/c50-bursts-of-dirty-pages
first 'C10, a journal' 'dontneed wal' cases/c10-wal-recycle --only dontneed
first 'C22, small updates' 'random carbon' cases/c22-small-updates-default --only random,readahead
first 'C24, names that are not there' 'cgroup nssdb' cases/c24-negative-dentries-1m --set machine.cgroup_limit=64MiB \
	--set files.hot.size=25MiB --set files.missing.count=250000 --only cgroup
first 'C29, a scan beside hot inodes' 'cgroup other' cases/c29-scan-beside-hot-inodes --only cgroup
first 'C31, and more memory' 'memory -' cases/c31-held-open --set files.many.count=17000
first 'C32, a walk at night' 'cgroup disk' cases/c32-status-after-walk --set machine.cgroup_limit=48MiB \
	--set files.tree.count=7500 --set files.disk.count=75000 --only cgroup
first 'C33, find on ZFS' 'cache-pressure -' cases/c33-find-on-zfs --set machine.memory=256MiB --set files.tree.count=75000 \
	--set files.data.size=100MiB --only cache-pressure,arc-max
first 'C43, too little memory' 'memory -' cases/c43-code-beside-225

exits 0 'in words' "$REFAULT" advise cases/c04-merge-plain
says out 'part: DONTNEED behind it.'
says out 'posix_fadvise(fd, offset, length, POSIX_FADV_DONTNEED)'
says out 'no effect (within ±1 %):'
says out 'not tried: '
says out 'fresh and lazy statistics'
says out 'refault advise cases/c04-merge-plain --confirm --places 1,2'
widest=$(python3 -c 'import sys; print(max(len(line.rstrip("\n")) for line in open(sys.argv[1], encoding="utf-8")))' "$scratch/out")
tap "$([ "$widest" -le 100 ] && echo 0 || echo 1)" "no line is wider than 100 columns ($widest)"

{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,hot,0,41943040'
	echo '0,1,exists,scan,0,209715200'
	for ((i = 1; i < 5; i++)); do
		echo "${i}00,1,read,hot,0,41943040"
		echo "${i}01,2,mmap_read,scan,0,209715200"
	done
} >"$scratch/scan.csv"
exits 0 'a trace, as JSON' "$REFAULT" advise "$scratch/scan.csv" --cgroup-limit 64MiB --json --jobs 1
cp "$scratch/out" "$scratch/one"
exits 0 'with three jobs' "$REFAULT" advise "$scratch/scan.csv" --cgroup-limit 64MiB --json --jobs 3
ok 'which is the same' cmp "$scratch/one" "$scratch/out"
ok 'with everything' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["headline"]["kind"] == "remedy" and told["base"]["reread_bytes"] > 0
assert told["base"]["per_second"] is None and told["base"]["p99_ns"] is None
first = told["remedies"][0]
assert first["place"] == 1 and first["id"] == "cgroup" and first["target"] == "scan", first
assert first["throughput"] is None and first["p99_ns"] is None and first["measured"] is None
assert first["reads"]["changed"] < first["reads"]["base"]
assert first["reads"]["low"] <= first["reads"]["change"] <= first["reads"]["high"] < 0
assert {s["name"] for s in first["streams"]} == {"hot", "scan"}
ids = [r["id"] for r in told["remedies"]]
assert {"memory", "kernel", "filesystem", "readahead", "cgroup"} <= set(ids)
assert {l["id"] for l in told["left_out"]} >= {"drop-caches", "recordsize", "wal-recycle"}
scores = [r["score"] for r in told["remedies"] if r["verdict"] == "helps"]
assert all(a > b - 0.02 for a, b in zip(scores, scores[1:])), scores
END
exits 0 'on a device' "$REFAULT" advise "$scratch/scan.csv" --cgroup-limit 64MiB --device nvme-tlc --only readahead,dontcache --json
ok 'time is told' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["base"]["per_second"] > 0 and told["base"]["p99_ns"] > 0
assert all(r["throughput"]["base"] > 0 for r in told["remedies"])
END

# Past the cache for what is read again and again, and advice that is not what it is for: on a device, since one saves requests alone.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,again,0,2097152'
	for ((i = 1; i < 5; i++)); do
		for ((at = 0; at < 2097152; at += 65536)); do echo "$i,1,read_direct,again,$at,65536"; done
	done
} >"$scratch/direct.csv"
first 'O_DIRECT on what is read again' 'buffered again' "$scratch/direct.csv" --cgroup-limit 32MiB
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,all,0,4194304'
	echo '1,1,fadvise_random,all,0,0'
	for ((at = 0; at < 4194304; at += 4096)); do echo "2,1,read,all,$at,4096"; done
} >"$scratch/random.csv"
first 'RANDOM on what is read in order' 'no-random all' "$scratch/random.csv" --cgroup-limit 32MiB --device nvme-tlc

# Two things at once, where one pushes out by readahead and another by what it streams.
cat >"$scratch/two.yaml" <<'END'
machine: {cgroup_limit: 32MiB}
files: {hot: {size: 20MiB}, index: {size: 128MiB}, all: {size: 150MiB}}
jobs:
  app: {read: hot, request: 8KiB, pattern: uniform, count: 10000, rate: 4000/s}
  search: {mmap_read: index, request: 4KiB, pattern: uniform, count: 750, rate: 300/s}
  backup: {read: all, request: 256KiB, rate: 60MiB/s}
END
exits 0 'two remedies' "$REFAULT" advise "$scratch/two.yaml" --seeds 1 --only random,dontcache,readahead,memory-low --json
ok 'do more together' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
both, best = told["together"], told["remedies"][0]
assert best["id"] == "random" and both["id"] == "random+dontcache", (best["id"], both["id"])
assert both["score"] > best["score"] + 0.01 and both["reads"]["changed"] < best["reads"]["changed"]
assert both["place"] is None and set(both["target"].split(", ")) == {"search", "backup"}, both["target"]
assert any(r["id"] == "memory-low" and r["command"].startswith("systemd-run") for r in told["remedies"])
END
exits 0 'in words' "$REFAULT" advise "$scratch/two.yaml" --seeds 1 --only random,dontcache
says out 'together: search: advise RANDOM; and backup: RWF_DONTCACHE'
exits 0 'one that leaves nothing' "$REFAULT" advise cases/c58-stale-statistics-before --seeds 1 --only dontneed,cgroup --json
ok 'has no second' python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["together"] is None' "$scratch/out"

# What bounds a run that is no caching problem.
cat >"$scratch/synced.yaml" <<'END'
machine: {cgroup_limit: 64MiB, device: nvme-tlc-consumer}
files: {log: {size: 4MiB}}
jobs:
  logger: {write: log, request: 4KiB, count: 500, fdatasync_every: 1}
END
exits 0 'a run bound by flushes' "$REFAULT" advise "$scratch/synced.yaml" --seeds 1 --only readahead,memory
says out "This is not a caching problem"
says out "It is bound by the device's flushes."
says out 'waiting for fsync and fdatasync: 100 % of the time in calls: 500, 1.6'
says out 'device nvme-tlc-consumer: busy '
exits 0 'as JSON' "$REFAULT" advise "$scratch/synced.yaml" --seeds 1 --only readahead --json
ok 'with the figures' python3 - "$scratch/out" <<'END'
import json, sys
bounds = {b["id"]: b for b in json.load(open(sys.argv[1]))["bounds"]}
assert bounds["flushes"]["limit"] and bounds["flushes"]["share"] > 0.9, bounds
assert not bounds["processors"]["limit"] and bounds["processors"]["share"] < 0.1
END
exits 0 'a run bound by the dirty limit' "$REFAULT" advise cases/c50-bursts-of-dirty-pages --seeds 1 --only memory
says out 'It is bound by the limit of dirty pages.'
exits 0 'a run without time' "$REFAULT" advise cases/c03-dontneed-before-reading --only memory --json
ok 'has no bounds' python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["bounds"] == []' "$scratch/out"

cat >"$scratch/db.yaml" <<'END'
machine: {cgroup_limit: 200MiB, pinned: 80MiB, device: hdd-7200, device_size: 100GiB, policy: linux-6.18}
jobs:
  db: {workload: pgbench, scale: 15, clients: 4, shared_buffers: 64MiB, transactions: 500, max_wal_size: 128MiB, min_wal_size: 64MiB, wal_segments: 6}
END
exits 0 "a database's settings" "$REFAULT" advise "$scratch/db.yaml" --only wal-recycle,wal-init-zero,wal-level --json --seeds 1
ok 'are all tried' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert not told["left_out"], told["left_out"]
assert {r["id"] for r in told["remedies"]} == {"wal-recycle", "wal-init-zero", "wal-level"}
assert all(r["failure"] is None and r["throughput"]["base"] > 0 for r in told["remedies"])
END

exits 0 'a run to be kept' "$REFAULT" replay "$scratch/scan.csv" --cgroup-limit 64MiB --db "$scratch/runs.db"
exits 0 'a kept run' "$REFAULT" advise @last --db "$scratch/runs.db" --only cgroup
says out 'scan: a memory cgroup of its own, 16MiB.'
exits 2 'a kept run in another memory' "$REFAULT" advise @last --db "$scratch/runs.db" --cgroup-limit 1GiB
says err 'a kept run says itself what it was'

exits 2 'no input' "$REFAULT" advise
exits 2 'no memory' "$REFAULT" advise "$scratch/scan.csv"
says err 'how much memory?'
exits 2 'a memory for a scenario' "$REFAULT" advise cases/c04-merge-plain --memory 1GiB
exits 2 'a remedy that is none' "$REFAULT" advise cases/c04-merge-plain --only dontned
says err 'nearest: dontneed'
exits 2 'standard input' "$REFAULT" advise - --cgroup-limit 64MiB
says err 'can be read once only'
exits 2 'places of nothing' "$REFAULT" advise cases/c04-merge-plain --places 1
says err 'add --confirm'
exits 2 'the kernel and a whole machine' "$REFAULT" advise "$scratch/scan.csv" --memory 64MiB --confirm
says err 'memory cgroup'
echo 'x,1,read,hot,0,1' >>"$scratch/scan.csv"
exits 2 'a wrong row' "$REFAULT" advise "$scratch/scan.csv" --cgroup-limit 64MiB
says err 'scan.csv:12'
if [ "$(id -u)" != 0 ]; then
	exits 1 'the kernel without root' "$REFAULT" advise cases/c04-merge-plain --confirm
	says err 'takes root'
fi

# Every remedy is in the manual.
for id in $(sed -n 's/^\t\.id = "\(.*\)",$/\1/p' src/study/remedy/*.c); do
	grep -qF "\`$id\`" docs/advise.md || echo "$id"
done >"$scratch/missing"
tap "$([ -s "$scratch/missing" ] && echo 1 || echo 0)" 'every remedy is documented'
sed 's/^/# /' "$scratch/missing"
tap_done
