#!/bin/bash
#
# What `refault record` costs a database: pgbench with and without it, run by run in pairs.
#
#     sudo bench/record.sh                           8 pairs of pgbench as it is (TPC-B, every commit to the disk), three minutes
#     sudo bench/record.sh --builtin select-only     the worst there is: nothing but reads of cached pages
#
# Both runs of a pair follow each other, the recorded one first in every other pair, on one server whose tables are in the machine's
# page cache. Told are transactions a second, and processor time a transaction: of the server, of pgbench, and of refault, all
# together. Loading the recorder (a third of a second) is over before the run begins. The machine is shared, so believe the medians,
# and of the two the processor time.
#
# Nothing is left behind. Exits with 0, 1 (more than --tolerance percent, or a run failed), 2 (wrong usage) or 77 (not possible here).

set -eu -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

pairs=8 clients=4 transactions=2000 scale=10 builtin=tpcb-like tolerance=5 directory=/var/tmp binaries=''

while [ $# -gt 0 ]; do
	case $1 in
	--pairs | --clients | --transactions | --scale | --builtin | --tolerance | --directory | --binaries)
		[ $# -ge 2 ] || { echo "bench/record.sh: $1 needs a value" >&2; exit 2; }
		declare "${1#--}=$2"
		shift 2
		;;
	*)
		sed -n '3,14s/^# \{0,1\}//p' bench/record.sh
		echo "    --pairs $pairs --clients $clients --transactions $transactions (of each) --scale $scale --builtin $builtin"
		echo "    --tolerance $tolerance --directory $directory --binaries DIR (PostgreSQL's)"
		[ "$1" = --help ] && exit 0
		exit 2
		;;
	esac
done

skip() {
	echo "bench/record.sh: $*" >&2
	exit 77
}
[ -n "$binaries" ] || binaries=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ "$(id -u)" = 0 ] || skip "needs root"
[ -x "${binaries:-/nowhere}/pgbench" ] || skip "needs PostgreSQL (apt-get install postgresql)"
[ -x build/refault ] || skip "needs build/refault: make"
id postgres >/dev/null 2>&1 || skip "needs a user postgres"

scratch=$(mktemp -d "$directory/refault-record.XXXXXX")
server='' group=''
finish() {
	if [ -n "$server" ]; then
		kill -INT "$server" 2>/dev/null || true
		wait "$server" || true
	fi
	if [ -n "$group" ]; then
		echo $$ >"${group%/*}/cgroup.procs" || true
		rmdir "$group" || true
	fi
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM
chown postgres "$scratch"
chmod 755 "$scratch"

export PGUSER=postgres
as_postgres() { # [exec] COMMAND
	local exec=''
	if [ "$1" = exec ]; then exec=exec; shift; fi
	$exec setpriv --reuid postgres --regid postgres --init-groups "$@"
}

as_postgres "$binaries/initdb" -D "$scratch/data" -A trust -U postgres >/dev/null
cat >>"$scratch/data/postgresql.conf" <<-END
	listen_addresses = ''
	unix_socket_directories = '$scratch'
	shared_buffers = 32MB
	max_wal_size = 1GB
	autovacuum = off
END

# All that costs processor time is in a cgroup that counts it, in nanoseconds.
make_group() {
	local root
	if root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpuacct(,|$)/ { print $2; exit }' /proc/mounts) && [ -n "$root" ]; then
		group=$root/refault-record.$$ counter=cpuacct.usage
	elif root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts) && [ -n "$root" ]; then
		group=$root/refault-record.$$ counter=cpu.stat
	else
		skip "needs a cgroup that counts processor time"
	fi
	mkdir "$group"
}
processor_ns() {
	if [ $counter = cpuacct.usage ]; then cat "$group/$counter"; else awk '$1 == "usage_usec" { print $2 * 1000 }' "$group/$counter"; fi
}
counter=''
make_group
echo $BASHPID >"$group/cgroup.procs"

(as_postgres exec "$binaries/postgres" -D "$scratch/data") >>"$scratch/log" 2>&1 &
server=$!
until "$binaries/pg_isready" -q -h "$scratch"; do sleep 0.05; done
as_postgres "$binaries/pgbench" -h "$scratch" -i -q -s "$scale" postgres >/dev/null 2>&1

# A line "tps, microseconds of processor time a transaction, events lost" of one run.
one() { # plain|recorded
	local before after total=$((clients * transactions)) lost=- recorder=''
	as_postgres "$binaries/psql" -h "$scratch" -qc checkpoint postgres
	if [ "$1" = recorded ]; then
		build/refault record -o "$scratch/trace.rft" --json --pid "$server" >"$scratch/json" &
		recorder=$!
		until grep -q 'epoll\|ep_poll' "/proc/$recorder/wchan" 2>/dev/null; do sleep 0.05; done
	fi
	before=$(processor_ns)
	as_postgres "$binaries/pgbench" -h "$scratch" -n -b "$builtin" -c "$clients" -j 1 -t "$transactions" postgres >"$scratch/out" 2>&1
	after=$(processor_ns)
	if [ "$1" = recorded ]; then
		kill -INT "$recorder"
		wait "$recorder"
		lost=$(sed -n 's/^ *"events_lost": \([0-9]*\).*/\1/p' "$scratch/json")
	fi
	awk -v ns=$((after - before)) -v total=$total -v lost="$lost" '
		/^tps = / { tps = $3 }
		END {
			if (!tps) exit 1
			printf "%.1f %.1f %s\n", tps, ns / 1000 / total, lost
		}' "$scratch/out" || { cat "$scratch/out" >&2; exit 1; }
}

one plain >/dev/null # warms up
printf '%-4s  %10s %10s  %10s %10s  %8s %8s  %s\n' pair 'plain tps' recorded 'plain us' recorded tps us lost
for pair in $(seq "$pairs"); do
	if [ $((pair % 2)) = 0 ]; then
		plain=$(one plain) recorded=$(one recorded)
	else
		recorded=$(one recorded) plain=$(one plain)
	fi
	echo "$plain $recorded" | awk -v pair="$pair" '{
		printf "%-4d  %10.1f %10.1f  %10.1f %10.1f  %+7.1f%% %+7.1f%%  %s\n", pair, $1, $4, $2, $5, ($4 / $1 - 1) * 100, ($5 / $2 - 1) * 100, $6
	}'
done | tee "$scratch/pairs"
awk -v tolerance="$tolerance" '
	function median(list, n,   i, j, kept) {
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && list[j - 1] > list[j]; j--) { kept = list[j]; list[j] = list[j - 1]; list[j - 1] = kept }
		return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
	}
	{ n++; tps[n] = $6 + 0; cpu[n] = $7 + 0 }
	END {
		if (!n) exit 1
		slower = -median(tps, n); dearer = median(cpu, n)
		printf "median of %d pairs: %.1f %% fewer transactions a second, %.1f %% more processor time\n", n, slower, dearer
		exit slower > tolerance
	}' "$scratch/pairs"
