# If this fails, the model no longer does what the real kernel did: more than 2 % off in the median,
# or more than 10 % somewhere; with MGLRU, 5 % and 15 %.
#
# Tables of bench/accuracy: the example (always), our own cases beside this file, the shared ones where
# they are, and those of kernels with MGLRU. Under sanitizers a handful of cases is enough: the same code runs, ten
# times as slowly.
source test/tap.bash

accuracy=${REFAULT_BUILD:-build}/bench/accuracy
[ -x "$accuracy" ] || skip_all "no $accuracy: make benches first"
shared=${REFAULT_SHARED:-../shared}/truth

table() { # NAME DIRECTORY CASE...
	local name=$1 status
	shift
	"$accuracy" "$@" >"$scratch/table" 2>"$scratch/table.err"
	status=$?
	tap "$status" "$name: $(tail -n 1 "$scratch/table")"
	[ "$status" = 0 ] || grep -vE '( [-+][0-2]\.[0-9])+   worst' "$scratch/table" "$scratch/table.err" | sed 's/^/# /'
}

mkdir "$scratch/example"
ln -s "$PWD/examples/wal-recycle.rft" "$scratch/example/"
cp test/truth/wal-recycle.jsonl "$scratch/example/measured.jsonl"
table 'examples/wal-recycle.rft' "$scratch/example"

if [ "${REFAULT_FLAVOUR:-plain}" = plain ]; then
	table 'our own cases' test/truth/cases
else
	table 'some of our own cases' test/truth/cases advice-mix-128 loop-1.02-256 interleaved-5-mixed-256 c17-touches
fi

if [ ! -r "$shared/measured.jsonl" ]; then
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP the shared cases are not here: no $shared/measured.jsonl"
elif [ "${REFAULT_FLAVOUR:-plain}" = plain ]; then
	table 'the shared cases' "$shared"
else
	table 'some of the shared cases' "$shared" loop-1.1 strided partial
fi
if [ ! -r "$shared/measured.jsonl" ] || ! grep -q '"mglru": true' "$shared/measured.jsonl"; then
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP no cases of a kernel with MGLRU are here: no $shared/measured.jsonl"
elif [ "${REFAULT_FLAVOUR:-plain}" = plain ]; then
	table 'the shared cases of kernels with MGLRU' --mglru "$shared"
else
	table 'some of the shared cases of kernels with MGLRU' --mglru "$shared" partial phase
fi
tap_done
