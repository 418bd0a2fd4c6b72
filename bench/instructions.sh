#!/bin/bash
#
# Instructions per page access, counted by callgrind on fixed slices: they repeat, whatever else the machine is doing.
#
#     make benches && bench/instructions.sh
#
# Each slice is 2 Mi accesses from an empty cache, so a quarter to a half of them are misses; what making the slice itself costs is counted alone, and taken off.

set -eu
cd "$(dirname "$0")/.."
command -v valgrind > /dev/null || { echo "bench/instructions.sh: needs valgrind (apt-get install valgrind)" >&2; exit 2; }

count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null build/bench/speed "$1" 2>&1 | sed -n 's/.*Collected *: *//p'
}

accesses=$((2 * 1024 * 1024))
base=$(count nothing)
for slice in bare-{lru,fifo,clock,sieve,arc,s3fifo,2q,lirs,w-tinylfu} full-random full-sequential; do
	awk -v slice=$slice -v all="$(count $slice)" -v base="$base" -v accesses=$accesses \
		'BEGIN { printf "%-16s %7.1f instructions an access\n", slice, (all - base) / accesses }'
done
