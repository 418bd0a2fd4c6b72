# refault run, from the outside: what ships runs, mistakes are named and nothing is run, the same command prints the same bytes.

source test/tap.bash

exits 0 "hello runs" "$REFAULT" run hello
says out "evicted by"
cp "$scratch/out" "$scratch/first"
exits 0 "hello runs again" "$REFAULT" run scenarios/hello.yaml
ok "and prints the same bytes" cmp "$scratch/first" "$scratch/out"
exits 0 "another seed" "$REFAULT" run hello --seed 2
ok "draws other lots" sh -c "! cmp -s '$scratch/first' '$scratch/out'"

exits 0 "a policy of one queue has no active list" "$REFAULT" run hello --policy lru --json
says out '"refaults": null'
says out '"active_file_pages": null'
exits 0 "JSON holds the contract" "$REFAULT" run hello --json
for key in totals marks streams blame machine latency; do
	says out "\"$key\": "
done

exits 0 "cache-pressure-256m runs" "$REFAULT" run cache-pressure-256m
says out "published: yes"
says out "With referenced_on_first_use no instead of yes: who gains: reader1, reader2."
cp "$scratch/out" "$scratch/first"
exits 0 "cache-pressure-256m runs again" "$REFAULT" run cache-pressure-256m
ok "the same bytes, whichever thread is first" cmp "$scratch/first" "$scratch/out"
exits 0 "a comparison as JSON" "$REFAULT" run cache-pressure-256m --json
says out '"figures": ['
says out '"runs": ['
says out '"published_ratio": 0.517'
exits 0 "inode-pressure-256m runs" "$REFAULT" run inode-pressure-256m
says out "inodes allocated again"

exits 0 "several policies side by side" "$REFAULT" run hello --policy lru --policy linux-4.5
says out "With policy linux-4.5 instead of lru"
exits 0 "one policy that has no switches to compare" "$REFAULT" run cache-pressure-256m --policy lru
says out "policy lru"
exits 0 "the comparison taken away" "$REFAULT" run cache-pressure-256m --set compare=
exits 0 "a comparison that was not there" "$REFAULT" run hello --set 'compare.policy=[lru, fifo]'
says out "fifo"
exits 0 "a key taken away" "$REFAULT" run hello --set machine.cgroup_limit= --set machine.memory=1GiB
says out "memory 1 GiB"
exits 2 "a size taken away that is needed" "$REFAULT" run hello --set files.data.size=
exits 0 "a key with a default" "$REFAULT" run hello --set machine.op_time= --json
cp "$scratch/out" "$scratch/taken"
exits 0 "a key with its default" "$REFAULT" run hello --set machine.op_time=1us --json
ok "are the same" cmp "$scratch/out" "$scratch/taken"
exits 0 "another comparison" "$REFAULT" run cache-pressure-256m --set compare= --set 'compare={vfs_cache_pressure: [50, 200]}' --set figures=
says out "vfs_cache_pressure"

exits 0 "list generators" "$REFAULT" list generators --names
says out "zipf"
says out "pgbench"
cat >"$scratch/db.yaml" <<'END'
machine: {cgroup_limit: 64MiB, device: nvme-tlc}
jobs:
  db: {workload: pgbench, scale: 1, clients: 4, transactions: 3000, warm_up: 100, shared_buffers: 2MiB, max_wal_size: 64MiB, warm: cached}
figures:
  - {label: database read again, jobs: db, counter: reread_bytes}
END
exits 0 "a workload runs on a device" "$REFAULT" run "$scratch/db.yaml"
says out "db.wal"
says out "12,000"
says out "full_page_images"
cp "$scratch/out" "$scratch/first"
exits 0 "and again" "$REFAULT" run "$scratch/db.yaml"
ok "and prints the same bytes" cmp "$scratch/first" "$scratch/out"
exits 0 "without a clock, too" "$REFAULT" run "$scratch/db.yaml" --set machine.device=instant
exits 2 "a workload that is nearly right" "$REFAULT" run "$scratch/db.yaml" --set jobs.db.workload=pgbensh
says err 'there is no workload "pgbensh" (nearest: "pgbench")'
exits 2 "one that never ends" "$REFAULT" run "$scratch/db.yaml" --set jobs.db.transactions=0
says err 'transactions "0" is out of range'

exits 2 "a name that is nearly right" "$REFAULT" run cache-presure
says err 'no scenario "cache-presure" (nearest: cache-pressure). `refault list scenarios` shows all.'
exits 2 "a file that is not there" "$REFAULT" run nowhere/x.yaml
says err "No such file"
exits 2 "a folder" "$REFAULT" run scenarios/
says err "it is a directory"
exits 2 "no machine of that name" "$REFAULT" run hello --on moon
sed 's/size:/sise:/' scenarios/hello.yaml >"$scratch/wrong.yaml"
exits 2 "a typo" "$REFAULT" run "$scratch/wrong.yaml"
says err "wrong.yaml:14:10: file \"data\" has no key \"sise\" (nearest: \"size\")"
says err "^^^^"
says err "Nothing was run."
ok "nothing on standard output" test ! -s "$scratch/out"
exits 2 "no such policy" "$REFAULT" run hello --set machine.policy=linux-4.6
says err "--set machine.policy=linux-4.6: no policy"
exits 2 "no such switch" "$REFAULT" run hello --set 'compare={activate_on_wriet: [always, never]}'
says err "activate_on_write"
exits 2 "no such value" "$REFAULT" run hello --set 'compare={activate_on_write: [always, perhaps]}'
exits 2 "no such file system" "$REFAULT" run hello --set machine.filesystem=ext5
says err "nearest: ext4"
exits 2 "no such counter" "$REFAULT" run hello --set 'figures=[{label: x, counter: reread}]'
exits 0 "values that are no counters" "$REFAULT" run cache-pressure-256m --set 'figures=[{label: x, counter: device.reads/work}, {label: y, counter: latency.read.p99.9, published: [1.5ms, 0.25]}]'
says out "1.50 ms"
exits 2 "a value of that name nearly" "$REFAULT" run cache-pressure-256m --set 'figures=[{label: x, counter: device.reeds/work}]'
says err 'no counter "device.reeds/work" (nearest: "device.reads/work")'
exits 2 "a value of one job alone" "$REFAULT" run cache-pressure-256m --set 'figures=[{label: x, counter: tps, jobs: reader1}]'
says err '"tps" is of the whole run: only plain counters are kept by job'
exits 2 "--set without a value" "$REFAULT" run hello --set machine
says err "is not KEY=VALUE"
head -c 3000 "$REFAULT" >"$scratch/program.yaml"
exits 2 "a program is no scenario" "$REFAULT" run "$scratch/program.yaml"
: >"$scratch/empty.yaml"
exits 2 "an empty file" "$REFAULT" run "$scratch/empty.yaml"
says err "empty: there is nothing in it"

# Settings, cells and claims: what is wrong is told where it stands.
settings='compare: {settings: [{label: a}, {label: b, set: {machine.policy: lru}}]}'
wrong() { # NAME LINE:COLUMN TEXT YAML...
	local name=$1 place=$2 text=$3
	shift 3
	printf '%s\n' 'machine: {memory: 64MiB}' 'files: {a: {size: 1MiB}}' 'jobs: {r: {read: a}}' "$@" >"$scratch/s.yaml"
	exits 2 "$name" "$REFAULT" run "$scratch/s.yaml"
	says err "s.yaml:$place: $text"
}
wrong 'two settings of one name' 4:42 'two of settings are called "a"' 'compare: {settings: [{label: a}, {label: a}]}'
wrong 'two cells of one name' 5:29 'two of cells are called "x"' "$settings" 'cells: [{label: x}, {label: x}]'
wrong 'a setting of an unknown key' 4:54 'machine has no key "memry" (nearest: "memory")' 'compare: {settings: [{label: a, set: {machine.memry: 1GiB}}]}'
wrong 'a setting of a wrong value' 4:55 'memory "much" is not a size' 'compare: {settings: [{label: a, set: {machine.memory: much}}]}'
wrong 'a setting of a mapping' 4:48 'machine: a setting sets single values' 'compare: {settings: [{label: a, set: {machine: {memory: 1GiB}}}]}'
wrong 'a cell on no device' 5:42 'no device "optane" (nearest: optane-900p)' "$settings" 'cells: [{label: x, set: {machine.device: optane}}]'
wrong 'cells of nothing' 4:1 'cells are for a scenario that compares settings' 'cells: [{label: x}]'
wrong 'claims of nothing' 4:1 'claims are for a scenario that compares settings' 'claims: [{label: l, value: tps, setting: a, low: 0, high: 2}]'
wrong 'claims of policies' 5:1 'claims are for a scenario that compares settings' 'compare: {policy: [lru, fifo]}' 'claims: []'
wrong 'a claim of no value' 5:28 'no counter "tsp" (nearest: "tps")' "$settings" 'claims: [{label: l, value: tsp, setting: a, low: 1, high: 2}]'
wrong 'a claim of no setting' 5:51 'there is no setting called "c" (nearest: "a")' "$settings" 'claims: [{label: l, value: reread_bytes, setting: c, low: 1, high: 2}]'
wrong 'a claim of no cell' 5:60 'there is no cell called "z"' "$settings" 'claims: [{label: l, value: reread_bytes, setting: a, cell: z, low: 1, high: 2}]'
wrong 'a claim that cannot hold' 5:68 'high is less than low' "$settings" 'claims: [{label: l, value: reread_bytes, setting: a, low: 3, high: 2}]'
printf '%s\n' 'machine: {memory: 64MiB}' 'jobs:' '  a: {workload: pgbench, transactions: 1}' '  b: {workload: pgbench, transactions: 1}' >"$scratch/s.yaml"
exits 2 'two databases' "$REFAULT" run "$scratch/s.yaml"
says err 's.yaml:4:17: job "a" is a pgbench, too, and its files have the same names: give each a directory'
exits 0 'two databases, each in its place' "$REFAULT" run "$scratch/s.yaml" --set jobs.b.directory=b
printf '%s\n' 'machine: {memory: 64MiB}' 'files: {a: {size: 1MiB}}' 'jobs: {r: {read: a}}' "$settings" 'cells: [{label: x}, {label: y, set: {machine.memory: 1GiB}}]' >"$scratch/s.yaml"
exits 0 'settings without figures' "$REFAULT" run "$scratch/s.yaml" --set cells=
says out 'r read again'
exits 0 'in cells' "$REFAULT" run "$scratch/s.yaml" --json
says out '"label": "r read again"'
exits 0 'cells whose comparison was taken away' "$REFAULT" run "$scratch/s.yaml" --set compare=
says out 'read from device'

mkdir "$scratch/my dir"
cp scenarios/hello.yaml "$scratch/my dir/he llo.yaml"
exits 0 "a file with a blank in its name" "$REFAULT" run "$scratch/my dir/he llo.yaml" --seed 3 --set jobs.app.request=4KiB --set machine.cgroup_limit=72MiB
unfold out
says out "Try: refault advise '$scratch/my dir/he llo.yaml' --set machine.cgroup_limit=72MiB --set jobs.app.request=4KiB --seed 3"

# From standard input: what it compares is run, too, and nobody is told to name it again.
"$REFAULT" run - --no-store <scenarios/hello.yaml >"$scratch/out"
ok 'a scenario from standard input' grep -q 'read again was pushed out by\|reads again was pushed out by' "$scratch/out"
tap "$(grep -c 'refault advise' "$scratch/out")" 'which has no name to be given again'
"$REFAULT" run - --no-store <scenarios/cache-pressure-256m.yaml >"$scratch/out"
ok 'with all that it compares' grep -q 'referenced_on_first_use no instead of yes' "$scratch/out"
echo 'machine: {cgroup_limit: 64MiB}' | "$REFAULT" run - 2>"$scratch/err"
says err 'standard input:1:1: scenario needs the key'
"$REFAULT" run - 2>"$scratch/err" </dev/null
says err 'standard input is empty'

for scenario in scenarios/*.yaml scenarios/*/*.yaml; do
	name=${scenario#scenarios/}
	name=${name%.yaml}
	exits 0 "list shows $name" "$REFAULT" list scenarios --names
	says out "$name"
done

exits 0 'a scenario in a folder, by name' "$REFAULT" run cases/c03-dontneed-before-reading
says out 'c03-dontneed-before-reading'
exits 2 'one that is not there' "$REFAULT" run cases/c03-dontneed-before-writing
says err 'nearest: cases/c03-dontneed-before-reading'
tap_done
