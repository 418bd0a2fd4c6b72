#!/bin/bash
#
# How fast time is simulated: pgbench at scale 8000 on a machine of 64 GiB (bench/pgbench_8000.yaml), transactions a second of real time.
#
#     bench/simulation.sh                          ext4 on optane-900p, half a minute
#     bench/simulation.sh 100000                   so many transactions of each of the 64 clients, instead of 20000
#     bench/simulation.sh 20000 machine.filesystem=zfs machine.recordsize=8KiB     any --set
#
# The first run has one transaction of each client and reads the database once: what is before the beginning, which is taken off.
# The machine is shared, so time is processor time, and beside it stands how often the other bench's dependent reads of random
# places of 64 MiB could have been done in the time of one transaction (build/bench/pgbench_generator, its first row). Memory is the
# largest that the program had.

set -eu
cd "$(dirname "$0")/.."
for need in build/refault build/bench/pgbench_generator; do
	[ -x $need ] || { echo "bench/simulation.sh: needs $need: make && make benches" >&2; exit 2; }
done
[ -x /usr/bin/time ] || { echo "bench/simulation.sh: needs /usr/bin/time (apt-get install time)" >&2; exit 2; }

transactions=${1:-20000} clients=64
[[ $transactions =~ ^[1-9][0-9]*$ ]] || { echo "bench/simulation.sh: transactions of each client are a number, not '$transactions'" >&2; exit 2; }
shift || true
sets=()
for key in "$@"; do sets+=(--set "$key"); done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Seconds of processor and KiB of memory.
run() { # TRANSACTIONS
	/usr/bin/time -o "$scratch/time" -f '%U %S %M' build/refault run ./bench/pgbench_8000.yaml --set "jobs.db.transactions=$1" "${sets[@]}" --no-store --json >"$scratch/json"
	awk '{print $1 + $2, $3}' "$scratch/time"
}

reference=$(build/bench/pgbench_generator reference)
read -r before _ < <(run 1)
read -r all kib < <(run "$transactions")
awk -v before="$before" -v all="$all" -v kib="$kib" -v count=$((transactions * clients)) -v reference="$reference" 'BEGIN {
	us = (all - before) / count * 1e6
	printf "%d transactions in %.1f s: %.0f a second, %.2f us each, as %.0f random reads of %.0f ns; 10^8 take %.1f min; %d MiB\n",
		count, all - before, 1e6 / us, us, us * 1000 / reference, reference, us * 1e8 / 60e6, kib / 1024
}'
