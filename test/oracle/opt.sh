# If this fails, the bound is told for another trace, another stream or another stretch than it says; or a trace that does not
# fit in memory ends in a crash.
source test/tap.bash

# a b a c | b a, two pages: for c, a goes, since b is needed before; so a comes twice.
{
	printf 'time_ns,thread,op,path,offset,bytes\n'
	for path in a b c; do echo "0,1,exists,$path,0,4096"; done
	for path in a b a c; do echo "1,1,read,$path,0,4096"; done
	echo 2,1,mark,half,0,0
	for path in b a; do echo "3,1,read,$path,0,4096"; done
	echo 4,1,mark,end,0,0
} >"$scratch/t.csv"
exits 0 'opt' "$REFAULT" replay "$scratch/t.csv" --bare --pages 2 --policy opt --streams path --json
field() { # JQ
	python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$scratch/out" "$1"
}
is() { # NAME EXPECTED JQ
	local got
	got=$(field "$3")
	tap "$([ "$got" = "$2" ] && echo 0 || echo 1)" "$1"
	[ "$got" = "$2" ] || echo "# got $got, expected $2"
}
is 'requests, misses and evictions' '[6, 4, 2]' '[r["totals"][k] for k in ("page_accesses", "page_misses", "evictions")]'
is 'marks stand where they stood' "[('half', 4, 3), ('end', 6, 4)]" '[(m["label"], m["page_accesses"], m["page_misses"]) for m in r["marks"]]'
is 'each stream has its own' "[('a', 3, 2), ('b', 2, 1), ('c', 1, 1)]" 'sorted((n, s["page_accesses"], s["page_misses"]) for n, s in r["streams"].items())'

exits 0 'beside others' "$REFAULT" replay "$scratch/t.csv" --bare --pages 2 --policy opt --policy lru
says out opt
exits 2 'not of a whole machine' "$REFAULT" replay "$scratch/t.csv" --memory 1GiB --policy opt
says err 'only the plain cache (--bare)'

# Twelve million requests are 192 MB: more than may be used. (A sanitizer needs more than that for itself.)
if [ "${REFAULT_FLAVOUR:-plain}" = plain ]; then
	truncate -s 48M "$scratch/large.u32"
	(
		ulimit -v 160000
		exec "$REFAULT" replay "$scratch/large.u32" --format u32 --bare --pages 2 --policy opt >"$scratch/out" 2>"$scratch/err"
	)
	tap "$([ $? = 2 ] && echo 0 || echo 1)" 'a trace larger than memory is an error'
	says err '16 bytes a request, and there is memory for 10240000 requests here: the trace has more'
fi

tap_done
