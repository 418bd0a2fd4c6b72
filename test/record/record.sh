# If this fails, somebody records a system and gets the wrong processes, no trace, or a trace that claims more than it has.
source test/tap.bash
source test/record/record.bash

# A number of the last output's JSON: its first "NAME": N.
json() { sed -n "s/^ *\"$1\": \([0-9.]*\).*/\1/p" "$scratch/out" | head -n 1; }
at_least() { tap "$(awk -v a="$(json "$1")" -v b="$2" 'BEGIN { print !(a != "" && a + 0 >= b) }')" "$1 is at least $2 (it is $(json "$1"))"; }
is() { tap "$([ "$(json "$1")" = "$2" ] && echo 0 || echo 1)" "$1 is $2 (it is $(json "$1"))"; }
# Streams are in the table of a replay.
# What else runs in this shell's cgroup has memory, too, and may have more than these 64 MiB.
replayed() { "$REFAULT" replay "$1" --cgroup-limit 64MiB --pinned 1MiB "${@:2}"; }

head -c 3000000 /dev/urandom >"$disk/big"
trace=$scratch/a.rft

exits 0 'a command' "$REFAULT" record -o "$trace" -- sh -c "cat '$disk/big' >/dev/null; dd if='$disk/big' of='$disk/copy' bs=4k 2>/dev/null"
says out 'ops'
says out 'coverage'
exits 0 'its trace replays' replayed "$trace"
says out 'cat:'
says out 'dd:'
exits 0 'streams by another rule' replayed "$trace" --streams path
says out 'big'
exits 0 'the same as JSON' "$REFAULT" record -o "$trace" --json -- cat "$disk/big"
at_least ops 20
is events_lost 0
is command_exit_code 0
exits 0 'a command that fails is recorded, too' "$REFAULT" record -o "$trace" --json -- sh -c 'exit 7'
is command_exit_code 7
exits 0 'streams with names' "$REFAULT" record -o "$trace" --stream "/big\$=large" -- cat "$disk/big"
exits 0 'which the trace keeps' replayed "$trace"
says out 'large'

# A process that runs already, with a file that it has open already.
exec 3<"$disk/big"
head -c 1000 <&3 >/dev/null
bash -c 'while sleep 0.2; do head -c 4096 <&3 >/dev/null; done' &
running=$!
exits 0 'a process that runs already' "$REFAULT" record -o "$trace" --json --pid $running --duration 1500ms
at_least ops 5
kill $running
exec 3<&-
exits 0 'what it had open before is known by its name' replayed "$trace" --streams path
says out 'big'

# Ctrl-C ends it, and what was recorded is whole.
"$REFAULT" record -o "$scratch/all.rft" --json --all >"$scratch/out" 2>"$scratch/err" &
recorder=$!
sleep 2
cat "$disk/big" >/dev/null
sleep 0.5
kill -INT $recorder
wait $recorder
tap $? 'the whole machine, till Ctrl-C'
at_least processes 1
at_least ops 10
exits 0 'its trace replays' replayed "$scratch/all.rft"

group=''
for root in /sys/fs/cgroup/memory /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e "$root/cgroup.procs" ] && mkdir "$root/refault-test.$$" 2>/dev/null && group=$root/refault-test.$$ && break
done
if [ -n "$group" ]; then
	trap 'kill $member 2>/dev/null; sleep 0.2; rmdir "$group"; rm -rf "$scratch" "$disk"' EXIT
	(echo $BASHPID >"$group/cgroup.procs"; for i in $(seq 10); do sleep 0.3; cat "$disk/big" "$group/memory.stat" >/dev/null; done) &
	member=$!
	exits 0 'a cgroup' "$REFAULT" record -o "$trace" --json --cgroup "$group" --duration 2s
	at_least ops 20
	tap "$(grep -q '"program": "cat"' "$scratch/out"; echo $?)" 'who is in it is recorded'
	# Whoever reads its memory.stat has its statistics summed. (Before Linux 6.15 or so, this cannot be seen.)
	if grep -q ' __traceiter_memcg_flush_stats$' /proc/kallsyms; then
		exits 0 'its summary' "$REFAULT" import --summary --json "$trace"
		at_least sum_statistics 2
	fi
	exits 2 'a folder is no cgroup' "$REFAULT" record -o "$trace" --cgroup /tmp
	says err "is no cgroup's directory"
fi

# A buffer that is too small for the flood: what is lost is counted, and said.
exits 0 'a small buffer' "$REFAULT" record -o "$trace" --json --buffer 64KiB -- dd if=/dev/zero of="$disk/flood" bs=512 count=200000
at_least events_lost 1
exits 0 'the same as text' "$REFAULT" record -o "$trace" --buffer 64KiB -- dd if=/dev/zero of="$disk/flood" bs=512 count=200000
says out 'events that did not fit the buffer'
says out 'coverage'
exits 0 'its replay' replayed "$trace"
says err "did not fit the recorder's buffer: what they told is missing"
exits 0 'its summary' "$REFAULT" import --summary --json "$trace"
at_least lost_events 1
tap "$(grep -q '"coverage": 0\.[0-9]' "$scratch/out"; echo $?)" 'how much is explained is a number below 1 there'

# Memory hangs on the buffer, not on how much is recorded: the recorder's own peak, after a flood and after one five times as long.
peak() { # CALLS
	"$REFAULT" record -o "$trace" --buffer 4MiB --pid $$ >"$scratch/out" 2>"$scratch/err" &
	recorder=$!
	for ((i = 0; i < 100; i++)); do
		grep -q 'epoll\|ep_poll' "/proc/$recorder/wchan" && break
		sleep 0.05
	done
	dd if=/dev/zero of="$disk/flood" bs=512 count="$1" conv=notrunc 2>/dev/null
	awk '/^VmHWM/ { print $2 }' "/proc/$recorder/status"
	kill -INT $recorder
	wait $recorder
}
short=$(peak 50000) long=$(peak 250000)
tap "$((0 + !(${short:-0} > 0 && ${long:-999999999} < short + 16384 && ${long:-999999999} < 131072)))" "memory is bounded: $short KiB, and $long KiB for five times as much"

rm -f "$trace"
exits 2 'no such program' "$REFAULT" record -o "$trace" -- no-such-program
says err 'cannot run no-such-program'
tap "$([ -e "$trace" ] && echo 1 || echo 0)" 'nothing is left of it'
exits 2 'no such process' "$REFAULT" record -o "$trace" --pid 4194303
says err 'there is no such process'
exits 2 'nobody to record' "$REFAULT" record -o "$trace"
says err 'record whom?'
exits 2 'two to record' "$REFAULT" record -o "$trace" --all --pid 1
says err 'one of them'
exits 2 'a buffer that is no power of two' "$REFAULT" record -o "$trace" --buffer 100KiB -- true
says err 'a power of two'
exits 2 'an expression that is none' "$REFAULT" record -o "$trace" --stream '(=x' -- true
exits 1 'a trace in a folder that is not there' "$REFAULT" record -o "$disk/none/a.rft" -- true
tap_done
