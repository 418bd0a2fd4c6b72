#!/bin/bash
#
# PostgreSQL's pgbench in a memory cgroup: what a real database reads and writes per transaction. This is the target that
# the model of a database has to meet, so its counters are kept, one JSON line a run (docs/pgbench.md tells what came of it).
#
#     sudo bench/pgbench.sh                                        the whole matrix thrice, 90 runs, half an hour to an hour
#     sudo bench/pgbench.sh --filesystems ext4 --limits "300 400" --output build/mine.jsonl
#     bench/pgbench/table.sh build/mine.jsonl                      the lines as tables
#
# A run, each with file system, limit and recycling of its own:
#
#   fresh      A new image behind a loop device (direct I/O, so nothing is cached twice), mkfs, a copy of the template cluster, unmount
#              and mount: cold, and no page belongs to anybody.
#   charged    All relation files are read once inside the cgroup, in the order of their names (it matters for long), then the server
#              starts there: its shared buffers, its page cache and the kernel's memory for them are charged to it alone. The client is outside.
#   warm-up    A fixed number of transactions, not a time: then states compare, however much processor the neighbours leave.
#   measured   Counters, a fixed number of transactions, counters. memory.stat is read at those two moments only, because from Linux 6.12
#              on reading it changes what reclaim does.
#
# Settings: a checkpoint is due every 128 MiB of WAL (max_wal_size 256 MB and a completion target of 0.9), and a transaction writes 10.3 KiB.
# So the warm-up of 8 x 1500 brings the first one near, and 8 x 5000 have three of them, each with 8 segments to recycle or to remove.
# Fewer transactions would be faster and would measure where in that cycle they happen to stop.
#
# Somebody else may drop the machine's caches: such a run shows in drop_pagecache and drop_slab of /proc/vmstat, is thrown away and
# repeated, three times at most. Page cache may also be taken by what is no cgroup's reclaim (a host's, DAMON): a control file outside the
# cgroup is read at the beginning, and how much of it is gone at the end is in the line. Transactions a second and latencies are in
# it too: they depend on what else the machine does, so compare them between neighbouring runs or not at all.
#
# Nothing is left behind, however it ends: the work is done in a mount and a PID namespace of its own. Killing that is how it is
# stopped, whoever wants it (Ctrl-C, kill, kill -9 of this script): the kernel then ends the server, unmounts, and detaches the loop
# device. An image or a cgroup that outlived a kill -9 is swept by the next run.

set -eu -o pipefail
self=$(realpath "$0")
export LC_ALL=C

filesystems='ext4 xfs btrfs' limits='200 300 400 500 700' recycle='on off' runs=3
scale=30 clients=8 warmup=1500 transactions=5000 seed=1
output='' directory=${self%/*/*}/build/pgbench binaries='' settings='' nodatacow=no

usage() {
	cat <<-END
	usage: bench/pgbench.sh [OPTION VALUE]...

	  --filesystems "$filesystems"      on which file systems
	  --limits "$limits"   memory of the cgroup, MiB
	  --recycle "$recycle"               wal_recycle: WAL segments are renamed and written again, or removed and made anew
	  --runs $runs                         how often each of these
	  --scale $scale                       pgbench -i -s: 15 MiB of tables and indexes each
	  --clients $clients                      sessions
	  --warmup $warmup                    transactions of each before counting starts
	  --transactions $transactions              transactions of each that are counted
	  --seed $seed                         of pgbench's random numbers; run N of a cell has this + N - 1
	  --settings "NAME=VALUE ..."      of the server, besides its own ("wal_level=minimal max_wal_senders=0")
	  --nodatacow $nodatacow                   yes: the cluster's directory is made so (btrfs only)
	  --output FILE                    where the lines are added (standard output if it is not given)
	  --directory DIR                  for the template cluster, which is kept, and for images (build/pgbench; 6 GiB)
	  --binaries DIR                   PostgreSQL's (the newest below /usr/lib/postgresql)

	Needs root, cgroups with a memory controller (version 1 or 2), loop devices, and the packages postgresql, postgresql-contrib, e2fsprogs,
	xfsprogs, btrfs-progs and util-linux; installs nothing. Exits with 0, 1 (a run failed), 2 (wrong usage) or 77 (not possible here).
	END
}

say() { echo "bench/pgbench.sh: $*" >&2; }
wrong() { say "$*"; exit 2; }
impossible() { say "$*"; exit 77; }

number() { # NAME VALUE...
	local name=$1 value
	shift
	for value in "$@"; do
		[[ $value =~ ^[1-9][0-9]{0,8}$ ]] || wrong "--$name is a number of 1 or more, not '$value'"
	done
	[ $# -gt 0 ] || wrong "--$name names nothing"
}

among() { # NAME "ALLOWED..." VALUE...
	local name=$1 allowed=$2 value
	shift 2
	for value in "$@"; do
		[[ " $allowed " == *" $value "* ]] || wrong "--$name is of $allowed, not '$value'"
	done
	[ $# -gt 0 ] || wrong "--$name names nothing"
}

arguments=("$@")
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) usage; exit ;;
	--filesystems | --limits | --recycle | --runs | --scale | --clients | --warmup | --transactions | --seed | --settings | --nodatacow | --output | --directory | --binaries)
		[ $# -ge 2 ] || wrong "$1 wants a value"
		declare "${1#--}=$2"
		shift 2
		;;
	*) wrong "what is '$1'? --help tells" ;;
	esac
done
among filesystems 'ext4 xfs btrfs' $filesystems
among recycle 'on off' $recycle
among nodatacow 'yes no' $nodatacow
[ $nodatacow = no ] || [ "$filesystems" = btrfs ] || wrong '--nodatacow is for --filesystems btrfs alone'
extra=$settings
number limits $limits
for option in runs scale clients warmup transactions seed; do number $option "${!option}"; done

# ---- outside: is it possible, and one process to wait for ----

mountpoint=/mnt    # within the namespace a tmpfs that nobody else sees: short paths, open to the server's user
group=refault-pgbench

# The memory controller's hierarchy, and the one that counts processor time (version 2 has one for all).
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	cgroup=v1 memory=/sys/fs/cgroup/memory cpu=/sys/fs/cgroup/cpuacct
elif grep -qsw memory /sys/fs/cgroup/cgroup.controllers; then
	cgroup=v2 memory=/sys/fs/cgroup cpu=/sys/fs/cgroup
else
	cgroup='' memory='' cpu=''
fi

check() {
	local filesystem tool
	[ "$(id -u)" = 0 ] || impossible 'needs root: it mounts, and makes cgroups'
	[ -n "$binaries" ] || binaries=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1) || true
	for tool in postgres initdb psql pgbench pg_resetwal; do
		[ -x "$binaries/$tool" ] || impossible "needs PostgreSQL's $tool (apt-get install postgresql postgresql-contrib)"
	done
	id -u postgres >/dev/null 2>&1 || impossible 'needs a user postgres, as the server will not run as root'
	for tool in unshare setpriv losetup fincore flock; do
		[ -n "$(command -v $tool)" ] || impossible "needs $tool (apt-get install util-linux)"
	done
	for filesystem in $filesystems; do
		[ -n "$(command -v "mkfs.$filesystem")" ] || impossible "needs mkfs.$filesystem (apt-get install e2fsprogs xfsprogs btrfs-progs)"
	done
	[ -n "$cgroup" ] || impossible 'no memory controller below /sys/fs/cgroup'
	[ -e /dev/loop-control ] || impossible 'no loop devices here'
	unshare -m -p -f true 2>/dev/null || impossible 'may not make a mount and a PID namespace here'
}

# What an earlier run left: images with their loop devices (the lock says that nobody uses them), cgroups of processes that are no more.
sweep() {
	local left device
	for left in "$directory"/*.img; do
		[ -e "$left" ] || continue
		for device in $(losetup -n -O NAME -j "$left"); do losetup -d "$device"; done
		rm -f "$left"
	done
	for left in {"$memory","$cpu"}/$group.*; do
		[ ! -d "$left" ] || [ -d "/proc/${left##*.}" ] || rmdir "$left" 2>/dev/null || true
	done
}

stop() {
	trap - EXIT
	[ -z "${inner:-}" ] || { kill -KILL "$inner" && wait "$inner"; } 2>/dev/null || true
	for _ in {1..100}; do
		rmdir {"$memory","$cpu"}/$group.$$ 2>/dev/null || true
		[ -d "$memory/$group.$$" ] || [ -d "$cpu/$group.$$" ] || break
		sleep 0.1
	done
	sweep
	exit "$1"
}

if [ "${REFAULT_PGBENCH:-}" = '' ]; then
	check
	[ -z "$output" ] || { touch "$output" && output=$(realpath "$output"); } || wrong "cannot write $output"
	mkdir -p "$directory"
	directory=$(realpath "$directory")
	exec 8>"$directory/lock"
	flock -n 8 || impossible "another run is using $directory"
	sweep
	trap 'stop 130' INT
	trap 'stop 143' TERM HUP
	trap 'stop $?' EXIT
	# Whoever dies takes the next with him: this script unshare, unshare the namespace's first process, that one everything.
	REFAULT_PGBENCH=$$ setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child=KILL --mount-proc --propagation private \
		bash "$self" "${arguments[@]}" --directory "$directory" --binaries "$binaries" ${output:+--output "$output"} 8>&- &
	inner=$!
	status=0
	wait "$inner" || status=$?
	inner=''
	exit "$status"
fi

# ---- inside: from here on the end of this shell is the end of everything it started ----

group=$group.$REFAULT_PGBENCH
mount -t tmpfs none $mountpoint
mkdir -m 755 $mountpoint/data $mountpoint/template
mkdir -m 777 $mountpoint/socket
cd $mountpoint
PATH=$binaries:$PATH
export PGHOST=$mountpoint/socket PGUSER=postgres PGDATABASE=postgres

failed() {
	say "$*"
	sed 's/^/    /' "$mountpoint"/{server,step}.log 2>/dev/null | tail -n 20 >&2
	exit 1
}

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; }

settings=(listen_addresses= "unix_socket_directories=$mountpoint/socket" max_connections=60 shared_buffers=64MB
	max_wal_size=256MB min_wal_size=80MB checkpoint_timeout=10min checkpoint_completion_target=0.9 autovacuum=off
	fsync=on full_page_writes=on wal_level=replica log_checkpoints=on logging_collector=off
	track_io_timing=on track_wal_io_timing=on timezone=UTC)

# The server of a cluster, in the cgroup if `where` is group; returns when it answers.
server_start() { # DATA-DIRECTORY group|outside SETTING...
	local data=$1 where=$2 setting flags=()
	shift 2
	for setting in "${settings[@]}" "$@"; do flags+=(-c "$setting"); done
	(
		if [ "$where" = group ]; then group_enter; fi
		exec setpriv --reuid=postgres --regid=postgres --init-groups -- postgres -D "$data" "${flags[@]}"
	) >server.log 2>&1 &
	server=$!
	disown "$server"    # its end is no news for bash to tell
	for _ in {1..600}; do
		psql -qAtXc 'select 1' >/dev/null 2>&1 && return
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
	done
	failed 'the server did not start'
}

server_stop() {
	kill -INT "$server" 2>/dev/null || true
	while kill -0 "$server" 2>/dev/null; do sleep 0.1; done
}

# Made once for each scale and version of the server, under another name until it is complete.
template_make() {
	version=$(postgres --version | sed 's/[^0-9]*\([0-9.]*\).*/\1/')
	template=$directory/template-$version-$scale
	if [ ! -d "$template" ]; then
		say "making the template, PostgreSQL $version at scale $scale"
		rm -rf "$directory"/template-*.new
		mkdir "$template.new"
		chown postgres:postgres "$template.new"
		mount --bind "$template.new" template
		as_postgres initdb -D template -A trust -U postgres -E UTF8 --locale=C -N >step.log 2>&1 || failed 'initdb failed'
		server_start $mountpoint/template outside fsync=off max_wal_size=4GB
		pgbench -q -i -s "$scale" >step.log 2>&1 || failed 'pgbench -i failed'
		psql -qXc 'vacuum freeze analyze' >step.log 2>&1 || failed 'vacuum failed'
		server_stop
		as_postgres pg_resetwal -D template >step.log 2>&1 || failed 'pg_resetwal failed'
		umount template
		sync -f "$template.new"
		mv "$template.new" "$template"
	fi
}

# ---- the cgroup ----

group_make() { # LIMIT-MIB
	mkdir -p "$memory/$group" "$cpu/$group"
	if [ $cgroup = v1 ]; then
		echo $(($1 << 20)) >"$memory/$group/memory.limit_in_bytes"
	else
		grep -qw memory "$memory/cgroup.subtree_control" || echo +memory >"$memory/cgroup.subtree_control"
		echo $(($1 << 20)) >"$memory/$group/memory.max"
		echo 0 >"$memory/$group/memory.swap.max" 2>/dev/null || true
	fi
}

group_enter() { # 0 is who writes it
	echo 0 >"$memory/$group/cgroup.procs"
	[ $cgroup = v2 ] || echo 0 >"$cpu/$group/cgroup.procs"
}

group_remove() {
	rmdir "$memory/$group"
	[ $cgroup = v2 ] || rmdir "$cpu/$group"
}

group_oom_kills() {
	local file=$memory/$group/memory.events
	[ $cgroup = v2 ] || file=$memory/$group/memory.oom_control
	awk '$1 == "oom_kill" { print $2 }' "$file"
}

# ---- the file system ----

# Sets `device`. Detached at once, which for a mounted device means: when it is unmounted, by whomever.
image_mount() {
	device=$(losetup --find --show --direct-io=on "$image")
	echo 128 >"/sys/block/${device#/dev/}/queue/read_ahead_kb"
	[ "${1:-}" = '' ] || "mkfs.$1" -q "$device" >step.log 2>&1 || failed "mkfs.$1 failed"
	mount -o noatime "$device" data
	losetup --detach "$device"
}

filesystem_make() { # FILE-SYSTEM
	image=$directory/$REFAULT_PGBENCH.img
	truncate -s $((2048 + scale * 100))M "$image"
	image_mount "$1"
	mkdir data/cluster
	[ $nodatacow = no ] || chattr +C data/cluster
	cp -a "$template/." data/cluster
	umount data
	image_mount
	rm "$image"
}

# btrfs has a readahead of its own, whatever the device's is.
readahead_kib() { # FILE-SYSTEM
	case $1 in
	btrfs) cat "/sys/fs/btrfs/$(findmnt -n -o UUID data)/bdi/read_ahead_kb" ;;
	*) cat "/sys/block/${device#/dev/}/bdi/read_ahead_kb" ;;
	esac
}

# ---- counters: lines of `delta NAME VALUE` (the end less the beginning is what counts) or `level NAME VALUE` (both are kept) ----

vmstat='drop_pagecache|drop_slab|workingset_refault_file|workingset_activate_file|workingset_restore_file|pgsteal_kswapd|pgsteal_direct'

statistics() { # view [condition]: its numbers, under their own names
	echo "select 'delta', 'server_' || key, value from $1 v, json_each_text(row_to_json(v))
		where value ~ '^[0-9.]+\$' and key not in ('datid', 'numbackends') ${2:-};"
}

count_server() {
	{
		statistics pg_stat_wal
		statistics pg_stat_bgwriter
		statistics pg_stat_database "and v.datname = current_database()"
		echo "select 'delta', 'server_lsn_bytes', pg_current_wal_insert_lsn() - '0/0';"
		echo "select 'level', 'wal_segments', count(*) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}\$';"
		[ "${version%%.*}" -lt 17 ] || statistics pg_stat_checkpointer
	} | psql -qAtX -F ' ' -v ON_ERROR_STOP=1
}

count_kernel() {
	awk '{ split("1 read_requests 3 read_bytes 5 write_requests 7 write_bytes 12 discards 14 discard_bytes 16 flushes", field)
		for (i = 1; i in field; i += 2) printf "delta device_%s %.0f\n", field[i + 1], $field[i] * (field[i + 1] ~ /bytes/ ? 512 : 1) }' \
		"/sys/block/${device#/dev/}/stat"
	awk '!/^(total_|hierarchical_)/ { print "level memory_" $1, $2 }' "$memory/$group/memory.stat"
	awk -v names="^($vmstat)\$" '$1 ~ names { print "delta machine_" $1, $2 }' /proc/vmstat
	if [ $cgroup = v1 ]; then
		echo "delta cpu_user_us $(($(cat "$cpu/$group/cpuacct.usage_user") / 1000))"
		echo "delta cpu_system_us $(($(cat "$cpu/$group/cpuacct.usage_sys") / 1000))"
	else
		awk '/^(user|system)_usec/ { sub(/_usec/, "", $1); print "delta cpu_" $1 "_us", $2 }' "$cpu/$group/cpu.stat"
	fi
}

# The server is asked first and last, so that what the questions cost is outside of what the kernel counts.
count_start() { { count_server; count_kernel; } >start; }
count_end() { { count_kernel; sleep 1.5; count_server; } >end; }

# Both snapshots as members of a JSON object, in the order of the first.
counted() {
	awk 'NR == FNR { start[$2] = $3; next }
		$2 in start && $1 == "delta" { printf ", \"%s\": %.14g", $2, $3 - start[$2] }
		$2 in start && $1 == "level" { name = $2; sub(/_/, "_start_", name); printf ", \"%s\": %.14g", name, start[$2]
			sub(/_start_/, "_end_", name); printf ", \"%s\": %.14g", name, $3 }' start end
}

# What the server said about its checkpoints in the lines of its log from the given one on.
checkpoints() { # FIRST-LINE
	tail -n "+$1" server.log | awk '
		function before(word) { return match($0, "[0-9]+ (WAL file\\(s\\) )?" word) ? substr($0, RSTART) + 0 : 0 }
		/checkpoint complete/ { n++; added += before("added"); removed += before("removed"); recycled += before("recycled"); buffers += before("buffers") }
		END { printf ", \"checkpoints\": %d, \"checkpoint_buffers\": %d, \"wal_added\": %d, \"wal_removed\": %d, \"wal_recycled\": %d",
			n, buffers, added, removed, recycled }'
}

dropped() { awk '/^drop_(pagecache|slab) / { sum += $2 } END { print sum }' /proc/vmstat; }

# 32 MiB that nobody maps or reads, outside of the cgroup.
control_read() {
	[ -e "$directory/control" ] || head -c 32M /dev/zero >"$directory/control"
	cat "$directory/control" >/dev/null
}
control_lost_kib() { echo $((32768 - $(fincore -n -b -o RES "$directory/control") / 1024)); }

# ---- one run ----

transact() { # TRANSACTIONS SEED
	# Without progress (here: never) pgbench tells no deviation.
	pgbench -n -M prepared -c "$clients" -j 2 -t "$1" --random-seed="$2" --progress=86400 >pgbench.out 2>step.log
}

reported() { sed -n "s|^$1[^0-9]*\([0-9.]*\).*|\1|p" pgbench.out; }

# Leaves its line in `line`. Succeeds, too, if the kernel killed the server for want of memory: then that is the line.
run_once() { # FILE-SYSTEM LIMIT-MIB RECYCLE RUN
	local filesystem=$1 limit=$2 recycle=$3 run=$4 before load log_line began outcome=complete oom_kills date
	date=$(date -u +%FT%TZ)
	filesystem_make "$filesystem"
	group_make "$limit"
	before=$(dropped)
	control_read
	# Sorted: ext4 lists a directory in an order that each mkfs makes up, and what is read last is what is cached.
	find data/cluster/base data/cluster/global -type f | sort >files
	( group_enter; exec xargs cat <files ) >/dev/null
	server_start $mountpoint/data/cluster group wal_recycle="$recycle" $extra
	read -r load _ </proc/loadavg
	if transact "$warmup" $((seed + run - 1)) && count_start; then
		log_line=$(($(wc -l <server.log) + 1))
		began=${EPOCHREALTIME/./}
		transact "$transactions" $((seed + run + 999)) && began=$((${EPOCHREALTIME/./} - began)) && count_end || outcome=failed
	else
		outcome=failed
	fi
	oom_kills=$(group_oom_kills)
	if [ $outcome = failed ]; then
		[ "${oom_kills:-0}" != 0 ] || failed "pgbench failed ($filesystem, $limit MiB, recycle $recycle)"
		outcome=oom
	fi
	{
		printf '{"date": "%s", "outcome": "%s", "kernel": "%s", "server": "%s", "filesystem": "%s", "limit_mib": %d, "wal_recycle": "%s"' \
			"$date" $outcome "$(uname -r)" "$version" "$filesystem" "$limit" "$recycle"
		printf ', "extra": "%s", "nodatacow": "%s"' "$extra" $nodatacow
		printf ', "run": %d, "scale": %d, "clients": %d, "warmup": %d, "transactions": %d, "seed": %d, "cgroup": "%s", "settings": "%s"' \
			"$run" "$scale" "$clients" $((warmup * clients)) $((transactions * clients)) "$seed" $cgroup "${settings[*]:3}"
		printf ', "drops": %d, "control_lost_kib": %d, "oom_kills": %d' $(($(dropped) - before)) "$(control_lost_kib)" "${oom_kills:-0}"
		printf ', "mount": "%s", "readahead_kib": %d, "processors": %d, "load": %s' \
			"$(findmnt -n -o OPTIONS data)" "$(readahead_kib "$filesystem")" "$(nproc)" "$load"
		if [ $outcome = complete ]; then
			printf ', "seconds": %s, "tps": %s, "latency_ms": %s, "latency_deviation_ms": %s' \
				"$(awk "BEGIN { print $began / 1e6 }")" "$(reported 'tps =')" "$(reported 'latency average')" "$(reported 'latency stddev')"
			counted
			checkpoints "$log_line"
		fi
		echo '}'
	} >line
	server_stop
	umount data
	group_remove
}

summary() {
	awk 'function value(key) { return match($0, "\"" key "\": [^,}]*") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "" }
		{ n = value("transactions"); if (value("tps") == "") print "killed for want of memory"
		else printf "%.2f KiB read, %.1f KiB written, %.2f flushes a transaction; %.0f tps\n", value("device_read_bytes") / n / 1024,
			value("device_write_bytes") / n / 1024, value("device_flushes") / n, value("tps") }' line
}

template_make
given_up=0
order=$recycle
for ((run = 1; run <= runs; run++)); do
	for limit in $limits; do
		for filesystem in $filesystems; do
			for setting in $order; do
				for attempt in 1 2 3 ''; do
					[ -n "$attempt" ] || { say 'somebody drops caches all the time: given up'; given_up=1; break; }
					run_once "$filesystem" "$limit" "$setting" "$run"
					grep -q '"drops": 0,' line || { say "$filesystem, $limit MiB, recycle $setting: caches were dropped meanwhile, again"; continue; }
					if [ -n "$output" ]; then cat line >>"$output"; else cat line; fi
					say "$filesystem, $limit MiB, recycle $setting: $(summary)"
					break
				done
			done
		done
	done
	order=$(tac -s ' ' <<<"$order ")    # neighbours change places
done
exit $given_up
