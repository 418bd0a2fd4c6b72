# If this fails, a run on the kernel that somebody stops leaves mounts, loop devices, cgroups or images on his machine.
source test/tap.bash
source test/kernel/kernel.bash
[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'signals and kills are tried with the plain build'

# So long that it is surely under way when the signal comes.
{
	cat "$scratch/twice.csv"
	for ((i = 0; i < 400000; i++)); do
		echo "9000000,1,read,data/big,$((i * 131072 % 33554432)),131072"
	done
} >"$scratch/long.csv"

begin() { # OPTION...: starts a run, and waits until its player works in its cgroup; its process is $pid
	local i
	"$REFAULT" replay "$scratch/long.csv" --on kernel "$@" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		grep -qs '[0-9]' /sys/fs/cgroup/refault-$pid.*/cgroup.procs /sys/fs/cgroup/*/refault-$pid.*/cgroup.procs && break
		sleep 0.05
	done
	sleep 0.3
}

for signal in INT TERM HUP KILL; do
	begin "${small[@]}"
	ok "SIG$signal: it was under way" [ -n "$(leftovers $pid)" ]
	kill -$signal $pid
	wait $pid 2>/dev/null
	status=$?
	ok "SIG$signal: ends by it" [ $status = $((128 + $(kill -l $signal))) ]
	ok "SIG$signal: nothing is left" nothing_left $pid
done

# The player alone is killed: the run fails, says so, and tidies up.
begin "${small[@]}"
kill -KILL "$(pgrep -P $pid refault-player)"
wait $pid
ok 'the player killed: exit 1' [ $? = 1 ]
ok 'the player killed: says so' grep -q 'the player was killed' "$scratch/err"
ok 'the player killed: nothing is left' nothing_left $pid

# In a directory of the user's, only what was made there goes.
mkdir "$scratch/mine"
echo precious >"$scratch/mine/file"
begin --cgroup-limit 24MiB --directory "$scratch/mine"
ok 'a directory: its files are there' [ "$(ls "$scratch/mine" | wc -l)" = 2 ]
kill -KILL $pid
wait $pid 2>/dev/null
ok 'a directory: nothing is left' nothing_left $pid
ok 'a directory: what was there before still is' [ "$(ls "$scratch/mine")" = file ]

# Whoever sees to the rest is killed as well.
begin --cgroup-limit 24MiB --directory "$scratch/mine"
kill -KILL "$(pgrep -P $pid refault-janitor)" $pid
wait $pid 2>/dev/null
sleep 0.5
ok 'all killed: something is left' [ -n "$(leftovers $pid)" ]
another=$pid
mkdir "$scratch/elsewhere"
begin --cgroup-limit 24MiB --images "$scratch/elsewhere"
exits 0 'refault clean' "$REFAULT" clean
says out "refault-$another"
ok 'refault clean: not what is in use' [ -n "$(leftovers $pid)" ]
ok 'refault clean: nothing is left' nothing_left $another
ok 'refault clean: what was there before still is' [ "$(ls "$scratch/mine")" = file ]
kill -TERM $pid
wait $pid 2>/dev/null
ok 'and nothing of the other' nothing_left $pid

# Failures of other kinds.
exits 2 'an op that cannot be' "$REFAULT" replay <(printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,a,0,8192\n1,1,read,b,0,4096\n') --on kernel "${small[@]}"
says err 'read "b": No such file or directory'
ok 'nothing is left of what failed' [ -z "$(ls "$scratch/images")" ]
exits 1 'a full disk' "$REFAULT" replay <(printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,a,0,8192\n1,1,write,a,0,900000000\n') --on kernel "${small[@]}"
says err 'is full'
says err '--image-size'
tap_done
