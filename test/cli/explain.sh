# If this fails, somebody who asks who pushed their data out is told the wrong stream, file, place or operation.
source test/tap.bash

# Two files of 8 MiB in 12 MiB of memory, read in turn by two threads; then a stretch of one of them.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,data/one,0,8388608'
	echo '0,1,exists,log/two,0,8388608'
	echo '1000000000,1,read,data/one,0,8388608'
	echo '2000000000,2,read,log/two,0,8388608'
	echo '3000000000,1,read,data/one,0,1048576'
} >"$scratch/two.csv"
explain() { "$REFAULT" explain "$scratch/two.csv" --cgroup-limit 12MiB --policy linux-6.18,statistics=fresh "$@"; }

exits 0 'a trace' explain
says out 'what came back'
says out 'data/one'
says out 'who had pushed it out'
exits 0 'as JSON, with its operations' explain --ops --json
ok 'the page that came back, its evictor and the operation that had done it' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
story = told["explanation"]
assert story["reread_pages"] * 4096 == told["totals"]["reread_bytes"] > 0
(victim,) = story["victims"]
assert victim["path"] == "data/one" and victim["stream"] == "data"
assert victim["evicted_by"] == {"log": story["reread_pages"]}, victim["evicted_by"]
assert victim["hot"]["first_page"] == 0 and victim["hot"]["pages"] <= 512
assert victim["first"]["operation"] == 5 and victim["first"]["line"] == 6 and victim["first"]["time_ns"] == 3000000000
(op,) = story["list"]
assert op["at"]["line"] == 6 and op["evicted_at"]["line"] == 5 and op["evicted_by"] == "log"
assert op["reread_pages"] == story["reread_pages"] and op["op"] == "read"
assert story["over_time"]["reread_pages"][4] == story["reread_pages"]
assert story["over_time"]["evictors"]["log"]["evicted_pages"][3] == story["reread_pages"]
END
exits 0 'nothing of the other stream' explain --stream log
says out 'Nothing that was asked for was read again'
exits 0 'the last part of a path' explain --file one
says out 'what came back'
exits 0 'a time without any' explain --at 1s
says out 'Nothing that was asked for'
exits 0 'a time with' explain --at 2.5s..3.5s
says out 'what came back'
exits 0 'streams by another name' explain --stream '^data=heap' --stream heap
says out 'heap'

# Read once each, a second apart: what goes while the other comes in came in and was asked for a second before.
exits 0 'how old they were' explain --json
ok 'one operation, and a second' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
ages = told["explanation"]["eviction_ages"]
assert ages["evicted_pages"] == told["totals"]["evictions"] > 0 and ages["never_used_pages"] == 0 and ages["by_time"]
for which in "arrived", "used":
    assert ages[which + "_ops"]["pages"] == ages["evicted_pages"] == sum(count for _, count in ages[which + "_ops"]["buckets"])
    assert ages[which + "_ops"]["p50"] == 1 and abs(ages[which + "_ns"]["p50"] - 1e9) < 1e7 and ages[which + "_ns"]["most"] == 2000000000, ages
END
exits 0 'in words' explain
says out 'how old pages were when they were evicted'
says out 'since they came in              since last asked for'
# In use until the end, but for what only came along: two pages of a file of 32 KiB, whose readahead brings in the rest.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	for i in {0..199}; do echo "0,1,exists,small/$i,0,32768"; done
	echo '0,1,exists,log/two,0,8388608'
	for i in {0..199}; do echo "1,1,read,small/$i,0,4096"; done
	echo '2,2,read,log/two,0,8388608'
} >"$scratch/small.csv"
exits 0 'what came along' "$REFAULT" explain "$scratch/small.csv" --cgroup-limit 8MiB --json
ok 'was never asked for' python3 - "$scratch/out" <<'END'
import json, sys
ages = json.load(open(sys.argv[1]))["explanation"]["eviction_ages"]
assert not ages["by_time"] and ages["never_used_pages"] > ages["evicted_pages"] / 3, ages
END

# Every figure is a sum of what --ops lists, and of what replay says.
exits 0 'a longer one' "$REFAULT" explain examples/wal-recycle.rft --cgroup-limit 256MiB --ops --json
cp "$scratch/out" "$scratch/told"
exits 0 'replayed' "$REFAULT" replay examples/wal-recycle.rft --cgroup-limit 256MiB --json
ok 'sums agree' python3 - "$scratch/told" "$scratch/out" <<'END'
import json, sys
told, replayed = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
story = told["explanation"]
assert told["totals"] == replayed["totals"]
pages = replayed["totals"]["reread_bytes"] // 4096
assert story["reread_pages"] == pages
assert sum(v["reread_pages"] for v in story["victims"]) == pages
assert sum(sum(v["parts"]["reread_pages"]) for v in story["victims"]) == pages
assert sum(o["reread_pages"] for o in story["list"]) == pages
assert sum(story["over_time"]["reread_pages"]) == pages
assert sum(e["pages"] for e in story["over_time"]["evictors"].values()) == pages
blamed = sum(p["pages"] for v in replayed["blame"].values() for p in v.values())
assert blamed == pages
for name, e in story["over_time"]["evictors"].items():
    assert e["pages"] == sum(v.get(name, {"pages": 0})["pages"] for v in replayed["blame"].values())
for o in story["list"]:
    assert o["evicted_at"] is None or o["evicted_at"]["operation"] <= o["at"]["operation"]
distances = story["distances"]
assert distances["known_pages"] + distances["unknown_pages"] == pages
assert sum(n for _, n in distances["buckets"]) == distances["known_pages"]
END
exits 0 'a scenario that keeps time' "$REFAULT" explain pgbench-30 --set compare= --set cells= --set claims= --set figures= --set jobs.db.transactions=200 --set jobs.db.warm_up=0 --json
ok 'is the run that run does' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["explanation"]["reread_pages"] * 4096 == told["totals"]["reread_bytes"]
assert told["device"] is not None
END

# A kept run is done again as it was.
export XDG_DATA_HOME=$scratch/data
"$REFAULT" replay "$scratch/two.csv" --cgroup-limit 12MiB --policy linux-4.5 --policy linux-6.18,statistics=fresh --stream '^data=heap' >/dev/null
exits 0 'the last run' "$REFAULT" explain @last --json
ok 'is the last of the two' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["machine"]["policy"] == "linux-6.18,statistics=fresh"
assert [v["stream"] for v in told["explanation"]["victims"]] == ["heap"]
END
exits 0 'the one before' "$REFAULT" explain @-2 --stream heap
says out 'policy linux-4.5'
"$REFAULT" run pgbench-30 --set jobs.db.transactions=100 --set jobs.db.warm_up=0 >/dev/null
exits 0 'one of a table of settings' "$REFAULT" explain @last --json
cp "$scratch/out" "$scratch/told"
exits 0 'shown' "$REFAULT" show @last --json
ok 'is that one' python3 - "$scratch/told" "$scratch/out" <<'END'
import json, sys
told, shown = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
assert told["totals"] == shown["totals"] and told["machine"] == shown["machine"]
END
"$REFAULT" replay "$scratch/two.csv" --cgroup-limit 12MiB >/dev/null
echo '4000000000,1,read,data/one,0,4096' >>"$scratch/two.csv"
exits 2 'a trace that has changed' "$REFAULT" explain @last
says err 'is not what it was'
exits 2 'a run that is not there' "$REFAULT" explain @-99
exits 2 'a memory for a run' "$REFAULT" explain @last --memory 1GiB
says err 'says itself what it was'
"$REFAULT" replay "$scratch/two.csv" --bare --pages 100 >/dev/null
exits 2 'a plain cache' "$REFAULT" explain @last
says err 'plain cache'

exits 2 'no memory' "$REFAULT" explain "$scratch/two.csv"
says err 'how much memory?'
exits 2 'a stream that is not there' explain --stream lag
says err 'nearest: log'
exits 2 'a time that is none' explain --at noon
exits 2 'a time that ends before it begins' explain --at 3s..1s
says err 'ends before it begins'
exits 2 'two streams' explain --stream log --stream data
exits 2 'a device for a scenario' "$REFAULT" explain hello --device nvme-tlc

tap_done
