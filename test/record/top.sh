# If this fails, `refault top` tells a hit ratio of a known workload that is wrong, or attributes pages to the wrong cgroup or file.
source test/tap.bash

[ "$(id -u)" = 0 ] || skip_all 'to count what the page cache does needs root'
[ -r /sys/kernel/btf/vmlinux ] || skip_all 'this kernel does not describe its types (BTF)'
[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'what the kernel does is tried with the plain build'
# On the disk that the build is on: what is in memory, as /tmp may be, has no page cache.
disk=$(mktemp -d "${REFAULT_BUILD:-$PWD/build}/top.XXXXXX")
group=/sys/fs/cgroup/memory/refault-top.$$
[ -e /sys/fs/cgroup/memory/memory.stat ] || group=/sys/fs/cgroup/refault-top.$$
trap 'rmdir "$group" 2>/dev/null; rm -rf "$scratch" "$disk"' EXIT
mkdir "$group" 2>/dev/null && [ -e "$group/memory.stat" ] || skip_all 'no memory cgroup can be made here'
"$REFAULT" top --once --interval 100ms --json --mount "$disk" >"$scratch/can" 2>"$scratch/can.err" || skip_all "nothing can be seen here: $(cat "$scratch/can.err")"
grep -q '"accesses": null' "$scratch/can" && skip_all "reads cannot be seen here: $(grep '"note"' "$scratch/can")"

file=$disk/known mib=16 pages=4096
head -c "${mib}M" /dev/urandom >"$file"
drop() { dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null; }
drop
inside() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }

: >"$scratch/views"
"$REFAULT" top --cgroup "$group" --interval 100ms --json --files 50 "$file" >"$scratch/views" 2>"$scratch/top.err" &
top=$!
# Wait until there are so many more views, at most 10 s; from now on they are those of PHASE.
views() { wc -l <"$scratch/views"; }
await() { # COUNT
	local until=$(($(views) + $1)) i
	for ((i = 0; i < 500 && $(views) < until; i++)); do sleep 0.02; done
}
begin() { echo "$1 $(($(views) + 1))" >>"$scratch/phases"; }
await 1
begin cold
inside cat "$file" >/dev/null
await 2
begin warm
inside cat "$file" >/dev/null
inside dd if="$file" of=/dev/null bs="${mib}M" status=none
await 2
begin dropped
drop
await 2
begin outside # charged to somebody else
cat "$file" >/dev/null
await 2
# A limit that the file does not fit: its pages are evicted, and come back.
drop
limit=$group/memory.limit_in_bytes
[ -e "$limit" ] || limit=$group/memory.max
begin small
echo 8M >"$limit"
inside cat "$file" >/dev/null
inside cat "$file" >/dev/null
await 2
kill -INT "$top"
wait "$top"
tap $? 'SIGINT ends it well'
ok 'it has nothing to complain about' [ ! -s "$scratch/top.err" ]

# "PHASE NAME": sums over the views of a phase, and what is always so.
python3 - "$scratch/views" "$scratch/phases" "$file" >"$scratch/sums" <<'END'
import json, sys

views = [json.loads(line) for line in open(sys.argv[1])]
phases = [line.split() for line in open(sys.argv[2])]
bad = 0
for view in views:
    pages, conservation = view["pages"], view["conservation"]
    if view["hit_ratio"] is not None:
        bad += not conservation["holds"] or pages["hits"] + pages["misses"] != pages["accesses"]
        bad += abs(view["hit_ratio"] - pages["hits"] / pages["accesses"]) > 1e-9
    bad += conservation["pages_in"] - conservation["pages_out"] - conservation["kernel_change_pages"] != conservation["error_pages"]
print("bad", bad)
print("not_conserved", sum(not view["conservation"]["holds"] for view in views))
for i, (name, first) in enumerate(phases):
    mine = views[int(first) - 1 : int(phases[i + 1][1]) - 1 if i + 1 < len(phases) else None]
    files = [file for view in mine for file in view["files"] if file["path"] == sys.argv[3]]
    for key in "accesses", "misses", "dropped", "evicted", "refaults":
        print(f"{name}.{key}", sum(view["pages"][key] for view in mine))
        print(f"{name}.file.{key}", sum(file[key] or 0 for file in files))
    asked = [view for view in mine if view["pages"]["accesses"]]
    total = sum(view["pages"]["accesses"] for view in asked)
    known = all(view["hit_ratio"] is not None for view in asked)
    print(f"{name}.ratio", sum(view["pages"]["hits"] for view in asked) / total if known and total else -1)
    back = sum(view["pages"]["refaults"] for view in mine)
    print(f"{name}.kernel_share", sum(view["kernel"]["refaults_file_pages"] for view in mine) / back if back else -1)
    print(f"{name}.file.resident", files[-1]["resident_bytes"] // 4096)
END
sum_of() { sed -n "s/^$1 //p" "$scratch/sums"; }
is() { tap "$([ "$(sum_of "$1")" = "$2" ] && echo 0 || echo 1)" "$1 is $2 (it is $(sum_of "$1"))"; }
within() { tap "$(awk -v a="$(sum_of "$1")" -v low="$2" -v high="$3" 'BEGIN { print !(a != "" && a >= low && a <= high) }')" "$1 is from $2 to $3 (it is $(sum_of "$1"))"; }

is bad 0
is not_conserved 0
# Some hundred pages more: the programs themselves.
is cold.file.accesses $pages
is cold.file.misses $pages
within cold.accesses $pages $((pages + 400))
within cold.misses $pages $((pages + 400))
within cold.ratio 0 0.1
is cold.file.resident $pages
is warm.file.accesses $((2 * pages))
is warm.file.misses 0
within warm.ratio 0.95 1
is dropped.file.dropped $pages
is dropped.file.accesses 0
is dropped.file.resident 0
# Not by the cgroup, and nothing of it; but it is in memory.
is outside.file.accesses 0
is outside.file.misses 0
is outside.file.resident $pages

within small.evicted $((pages / 2)) 1000000
within small.refaults $((pages / 4)) 1000000
within small.file.refaults $((pages / 4)) 1000000
within small.kernel_share 0.5 2

# The same as a screen's text, and as lines.
exits 0 'text of a file system' "$REFAULT" top --once --interval 100ms --mount "$disk" --files 3
says out 'hit ratio'
says out 'conserved'
says out 'IN MEMORY*'
ok 'no wider than 100 columns' sh -c '[ "$(LC_ALL=C.UTF-8 wc -L <"$0")" -le 100 ]' "$scratch/out"
exits 0 'lines' "$REFAULT" top --count 2 --interval 100ms
ok 'two below their heading' [ "$(wc -l <"$scratch/out")" = 4 ]
tap_done
