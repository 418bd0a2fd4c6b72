# If this fails, a result cannot be had again, or to keep it has spoiled the run itself.
source test/tap.bash

quick=(--set jobs.app.count=2000)
runs() { "$REFAULT" list runs --names | wc -l; }
db=$XDG_DATA_HOME/refault/runs.db

# ---- keeping does not change what is printed ----
exits 0 'a run that is not kept' "$REFAULT" run hello "${quick[@]}" --no-store
cp "$scratch/out" "$scratch/text"
ok 'leaves nothing' [ ! -e "$XDG_DATA_HOME" ]
exits 0 'a run that is kept' "$REFAULT" run hello "${quick[@]}"
ok 'prints the same, to the byte' cmp "$scratch/text" "$scratch/out"
ok 'says nothing else to a program' [ ! -s "$scratch/err" ]
ok 'is kept where XDG says' [ -s "$db" ]
exits 0 'the same as JSON' "$REFAULT" run hello "${quick[@]}" --json
cp "$scratch/out" "$scratch/json"
ok 'and nothing else' [ ! -s "$scratch/err" ]

# ---- showing ----
exits 0 'show' "$REFAULT" show @-2
ok 'shows what the command printed' cmp "$scratch/text" "$scratch/out"
exits 0 'show --json' "$REFAULT" show @-2 --json
ok 'shows what the command would have printed as JSON' cmp "$scratch/json" "$scratch/out"

shown() { # NAME COMMAND...: show --group prints what COMMAND did, as text and as JSON
	local name=$1
	shift
	"$REFAULT" "$@" >"$scratch/printed" 2>"$scratch/err"
	"$REFAULT" show @last --group >"$scratch/out" 2>>"$scratch/err"
	ok "$name" cmp "$scratch/printed" "$scratch/out"
	"$REFAULT" "$@" --json >"$scratch/printed"
	"$REFAULT" show @last --group --json >"$scratch/out"
	ok "$name, JSON" cmp "$scratch/printed" "$scratch/out"
}
shown 'a run with a device, on the clock' run hello "${quick[@]}" --set machine.device=nvme-tlc
shown 'several policies' run hello "${quick[@]}" --policy linux-4.5 --policy lru
shown 'what a scenario compares' run hello "${quick[@]}" --set 'compare={activate_on_write: [always, never]}' --policy linux-4.5
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,heap,0,8388608'
	printf '0,1,exists,n\xc3\xa4me,0,4096\n0,1,exists,w\xffong,0,4096\n'
	for ((i = 0; i < 3000; i++)); do
		echo "$((i * 1000)),1,read,heap,$((i * 7919 % 2048 * 4096)),4096"
	done
	echo '5000000,1,mark,"the end, at last",0,0'
	printf '6000000,1,read,n\xc3\xa4me,0,4096\n'
	printf '6000000,1,read,w\xffong,0,4096\n'
	echo 'no row'
} >"$scratch/t.csv"
shown 'a trace, with rows left out' replay "$scratch/t.csv" --cgroup-limit 4MiB --lenient --stream '^heap=h p'
shown 'a trace under several policies' replay "$scratch/t.csv" --cgroup-limit 4MiB --lenient --policy linux-4.5 --policy fifo
shown 'a bare cache' replay "$scratch/t.csv" --lenient --bare --pages 100 --policy lru
exits 0 'one of several' "$REFAULT" show @-2 --json
ok 'is one' grep -q '"totals"' "$scratch/out"

# ---- names ----
id=$("$REFAULT" list runs --names | sed -n 1p)
exits 0 'by the beginning of its id' "$REFAULT" show "$id" --json
cp "$scratch/out" "$scratch/by-id"
exits 0 'the last' "$REFAULT" show @last --json
ok 'is the same' cmp "$scratch/by-id" "$scratch/out"
exits 2 'no such run' "$REFAULT" show @-999
says err 'no run @-999'
exits 2 'no name' "$REFAULT" show hello
says err 'names no run'
# Of seventeen ids two begin alike.
while [ "$(runs)" -lt 17 ]; do "$REFAULT" run hello --set jobs.app.count=10 >"$scratch/out"; done
digit=$("$REFAULT" list runs --names | cut -c 1 | sort | uniq -d | sed -n 1p)
exits 2 'an ambiguous name' "$REFAULT" show "$digit"
says err "\"$digit\" begins the names of"

# ---- listing ----
exits 0 'list runs' env TZ=UTC "$REFAULT" list runs
ok 'nothing is wider than 100 columns' [ "$(awk '{ if (length > most) most = length } END { print most }' "$scratch/out")" -le 100 ]
says out "$id"
exits 0 'list runs, JSON' "$REFAULT" list runs --json
ok 'with the digest of what was run' grep -qE '"digest": "[0-9a-f]{16}"' "$scratch/out"
ok 'and the words' grep -q '"--lenient"' "$scratch/out"
exits 2 '--db is not for other lists' "$REFAULT" list policies --db "$db"

# ---- exporting and deleting ----
exits 0 'export' "$REFAULT" export @last @-2
ok 'has both' [ "$(grep -c '"result"' "$scratch/out")" = 2 ]
exits 0 'export as CSV' "$REFAULT" export "$("$REFAULT" list runs --names | tail -n 1)" --format csv
ok 'a heading, a run, its streams' [ "$(wc -l <"$scratch/out")" = 4 ]
ok 'each line has as many fields' [ "$(awk -F, '{ print NF }' "$scratch/out" | sort -u | wc -l)" = 1 ]
exits 2 'another format' "$REFAULT" export @last --format xml
before=$(runs)
exits 2 'delete with a wrong name' "$REFAULT" delete @last zz
ok 'deletes nothing' [ "$(runs)" = "$before" ]
exits 0 'delete' "$REFAULT" delete @last @-2 @last
ok 'deletes two' [ "$(runs)" = $((before - 2)) ]

# ---- another place ----
exits 0 '--db' "$REFAULT" run hello "${quick[@]}" --db "$scratch/mine.db"
ok 'is kept there' [ "$("$REFAULT" list runs --names --db "$scratch/mine.db" | wc -l)" = 1 ]
ok 'and not in the usual place' [ "$(runs)" = $((before - 2)) ]
exits 2 '--db that cannot be' "$REFAULT" run hello --db "$scratch/no/such/place.db"
says err '--db: cannot open'
ok 'nothing was run' [ ! -s "$scratch/out" ]
exits 2 '--db and --no-store' "$REFAULT" run hello --db "$scratch/mine.db" --no-store
exits 0 'nothing is kept yet' "$REFAULT" list runs --db "$scratch/none.db"
says out 'No run is kept'

# ---- what cannot be kept is printed all the same ----
not_kept() { # NAME COMMAND...
	exits 0 "$@"
	ok 'prints the same' cmp "$scratch/text" "$scratch/out"
	says err 'warning: the result is not kept'
	ok 'says it once' [ "$(wc -l <"$scratch/err")" = 1 ]
}
not_kept 'a HOME that is not there' env -u XDG_DATA_HOME HOME=/proc/none "$REFAULT" run hello "${quick[@]}"
not_kept 'no HOME' env -u XDG_DATA_HOME -u HOME "$REFAULT" run hello "${quick[@]}"
echo 'not a database, and long enough to be one that is broken' >"$scratch/file"
not_kept 'a folder that is a file' env XDG_DATA_HOME="$scratch/file" "$REFAULT" run hello "${quick[@]}"
mkdir -p "$scratch/newer/refault"
cp "$scratch/mine.db" "$scratch/newer/refault/runs.db"
if command -v sqlite3 >/dev/null; then
	sqlite3 "$scratch/newer/refault/runs.db" 'PRAGMA user_version = 99' >/dev/null
	not_kept 'a newer version of the store' env XDG_DATA_HOME="$scratch/newer" "$REFAULT" run hello "${quick[@]}"
	exits 2 'which is refused' env XDG_DATA_HOME="$scratch/newer" "$REFAULT" list runs
	says err 'newer refault'
fi
mkdir "$scratch/small"
if unshare -m true 2>/dev/null && [ "$(id -u)" = 0 ]; then
	in_small() { # OPTIONS COMMAND...
		unshare -m sh -c 'mount -t tmpfs -o "$1" none "$2" || exit 9; export XDG_DATA_HOME="$2"; shift 2; exec "$@"' sh "$1" "$scratch/small" "${@:2}"
	}
	not_kept 'a full disk' in_small size=16k "$REFAULT" run hello "${quick[@]}"
	not_kept 'a read-only file system' in_small ro "$REFAULT" run hello "${quick[@]}"
fi

# ---- several at once ----
for ((i = 0; i < 8; i++)); do
	XDG_DATA_HOME=$scratch/many "$REFAULT" run hello --set jobs.app.count=200 --seed $i >"$scratch/many.$i" 2>&1 &
done
wait
cat "$scratch"/many.? | grep warning | sed 's/^/# /'
ok 'eight at once, none lost' [ "$(XDG_DATA_HOME=$scratch/many "$REFAULT" list runs --names | wc -l)" = 8 ]
tap_done
