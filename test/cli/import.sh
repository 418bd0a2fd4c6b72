# If this fails, who has a trace of their own does not get it in, or is not told what of it was left out before they believe a figure.
source test/tap.bash

samples=test/op/samples
field() { # KEY VALUE: of the JSON in out
	ok "$1 is $2" grep -qE "^  \"$1\": $2,?\$" "$scratch/out"
}

exits 0 'a summary needs no output' "$REFAULT" import --summary "$samples/msr-two-disks.csv"
says out 'msr   8 rows   2 files   3.98 s'
says out 'would miss 24 pages (96 KiB)'
says out 'warning: 1 row is out of order'
ok 'the text has the warnings itself' sh -c '! [ -s "$0" ]' "$scratch/err"
exits 0 'as JSON' "$REFAULT" import --summary "$samples/msr-two-disks.csv" --json
field format '"msr"'
field rows 8
field reads 5
field read_bytes 147456
field writes 2
field write_bytes 28672
field span_ns 3976543300
field file_count 2
field cold_read_pages 24
# What the format cannot know is not 0.
for key in failed_calls eof_reads processes coverage threads; do field $key null; done
says out '"name": "web,0"'
says out '"rows_out_of_order": 1'
says err 'refault: warning: 1 row is out of order: kept where it stands, at the time of the row before it (line 5)'
says err 'refault: warning: 1 request of 0 bytes was left out (line 7)'

exits 0 'blkparse' "$REFAULT" import --summary "$samples/blkparse-stages.txt" --json
field reads 3
field read_bytes 196608
field reread_bytes 32768
field writes 3
field write_bytes 1081344
field threads 3
says out '"unfinished_discards": 1'
exits 0 'fio, version 2' "$REFAULT" import --summary "$samples/fio-v2.iolog" --json
field read_bytes 57344
field write_bytes 69536
field reread_bytes 16384
field cold_partial_write_pages 2
field span_ns 750000000
says out 'waits are read as the manual has them'
says out '"name": "/data/db/with space.1"'

# The same whether it comes plain, packed, through a pipe, or as our own format.
plain=$("$REFAULT" replay "$samples/msr-two-disks.csv" --memory 1GiB --json 2>/dev/null | sed -n '/"totals"/,/}/p')
for tool in gzip bzip2 xz zstd; do
	command -v $tool >/dev/null || continue
	$tool -c "$samples/msr-two-disks.csv" >"$scratch/packed" 2>/dev/null
	ok "packed with $tool" [ "$("$REFAULT" replay "$scratch/packed" --memory 1GiB --json 2>/dev/null | sed -n '/"totals"/,/}/p')" = "$plain" ]
	ok "packed with $tool, through a pipe" [ "$(cat "$scratch/packed" | "$REFAULT" replay - --memory 1GiB --json 2>/dev/null | sed -n '/"totals"/,/}/p')" = "$plain" ]
done
"$REFAULT" import "$samples/msr-two-disks.csv" -o "$scratch/t.rft" >/dev/null 2>&1
ok 'as our own' [ "$("$REFAULT" replay "$scratch/t.rft" --memory 1GiB --json 2>/dev/null | sed -n '/"totals"/,/}/p')" = "$plain" ]
# More than is kept in memory of a pipe.
{ for ((i = 0; i < 60000; i++)); do echo "$((131487204001234567 + i)),web,0,Read,$((i * 4096)),4096,7"; done; } >"$scratch/long.csv"
"$REFAULT" import --summary "$scratch/long.csv" --json | sed 1,2d >"$scratch/file"
cat "$scratch/long.csv" | "$REFAULT" import --summary - --json | sed 1,2d >"$scratch/pipe"
ok 'a long pipe is a file' cmp "$scratch/file" "$scratch/pipe"

exits 0 'replay warns' "$REFAULT" replay "$samples/msr-two-disks.csv" --memory 1GiB --policy lru --policy fifo --json
says err 'warning: 1 request of 0 bytes was left out (line 7)'
ok 'once, not for each policy' [ "$(grep -c 'left out' "$scratch/err")" = 1 ]
says out '"key": "rows_out_of_order"'

printf 'R 8 16\nW 0 8\n' >"$scratch/a.txt"
exits 0 'any text' "$REFAULT" import --summary --columns sector=2,sectors=3,op=1 "$scratch/a.txt" --json
field format '"text"'
field read_bytes 8192
exits 0 'replayed' "$REFAULT" replay --columns sector=2,sectors=3,op=1 "$scratch/a.txt" --bare --pages 4
exits 2 'a column that there is not' "$REFAULT" import --summary --columns sectr=2 "$scratch/a.txt"
says err 'nearest: sector)'
exits 2 'a text without columns' "$REFAULT" import --summary --format text "$scratch/a.txt"
says err 'as in --columns'
exits 2 'columns of what has its own' "$REFAULT" import --summary --format msr --columns offset=1 "$samples/msr-two-disks.csv"

# What its reader has to say goes into the native trace, and comes out wherever that is used.
for sample in strace-threads.txt ftrace-filemap.txt blkparse-nvme.txt msr-two-disks.csv; do
	"$REFAULT" import --summary "$samples/$sample" --json >"$scratch/text.json" 2>"$scratch/text.err"
	exits 0 "$sample as a native trace" "$REFAULT" import "$samples/$sample" -o "$scratch/a.rft"
	"$REFAULT" import --summary "$scratch/a.rft" --json >"$scratch/rft.json" 2>"$scratch/rft.err"
	ok 'warns of the same' cmp "$scratch/text.err" "$scratch/rft.err"
	ok 'and there is something to warn of' [ -s "$scratch/rft.err" ]
	ok 'counts the same' cmp <(sed -n '/"counts"/,/}/p' "$scratch/text.json") <(sed -n '/"counts"/,/}/p' "$scratch/rft.json")
	ok 'has the same span' cmp <(grep '"span_ns"' "$scratch/text.json") <(grep '"span_ns"' "$scratch/rft.json")
	exits 0 'taken in once more' "$REFAULT" import "$scratch/a.rft" -o "$scratch/b.rft"
	ok 'it is the same file' cmp "$scratch/a.rft" "$scratch/b.rft"
	exits 0 'replayed' "$REFAULT" replay "$scratch/a.rft" --memory 1GiB
	ok 'warns of the same' cmp "$scratch/text.err" "$scratch/err"
done

# Sizes are those in the end: after a truncate, a copy, a rename.
"$REFAULT" import --summary "$samples/strace-threads.txt" --json >"$scratch/text.json" 2>/dev/null
for size in base.dat:1048576 copy.new:212992 sparse:0; do
	ok "$size" [ "$(sed -n "/\"name\": \"\/data\/db\/${size%:*}\"/,/}/s/.*\"size_bytes\": \([0-9]*\).*/\1/p" "$scratch/text.json")" = "${size#*:}" ]
done

# Of a table with few rows, the wrong one is named, and a header alone is recognised.
printf '128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,-5,65536,6161\n' >"$scratch/two.csv"
exits 2 'a wrong row of two' "$REFAULT" import --summary "$scratch/two.csv"
says err 'two.csv:2:31: offset "-5" is negative'
echo 'Timestamp,Response,IOType,LUN,Offset,Size' >"$scratch/header.csv"
exits 2 'a header and no more' "$REFAULT" import --summary "$scratch/header.csv"
says err 'header.csv: holds no operations'

# A wrong row: its number, and how many are too many.
sed 's/,web,0,Read,4096000,/,web,0,Read,x,/' "$scratch/long.csv" | head -n 1100 >"$scratch/wrong.csv"
exits 2 'a wrong row' "$REFAULT" import --summary "$scratch/wrong.csv"
says err 'wrong.csv:1001:'
says err 'offset "x" is not a number'
says err '`--lenient` skips such rows and counts them.'
exits 0 'left out' "$REFAULT" import --summary "$scratch/wrong.csv" --lenient --json
field rows 1100
field skipped_rows 1
field reads 1099
says err 'a row was left out: offset "x" is not a number (line 1001)'
{ head -n 98 "$scratch/long.csv"; echo nonsense; echo nonsense; } >"$scratch/worse.csv"
exits 2 'two of a hundred' "$REFAULT" import --summary "$scratch/worse.csv" --lenient
says err '2 of 100 rows cannot be read, and more than 1 % is too many: the first: '
says err 'worse.csv:99:'
exits 2 'nothing is written of it either' "$REFAULT" import "$scratch/worse.csv" --lenient -o "$scratch/worse.rft"
ok 'no file' [ ! -e "$scratch/worse.rft" ]

exits 0 'the formats' "$REFAULT" list formats --names
for format in blkparse fio msr systor17 tencent alibaba spc disksim vscsi lirs arc u32 text oracleGeneral; do
	ok "$format is listed" grep -qx "$format" "$scratch/out"
	ok "$format is in the manual" grep -q "^| \`$format\`" docs/traces.md
done

tap_done
