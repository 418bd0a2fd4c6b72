# If this fails, a mistake on the command line ends in silence, in the wrong exit code, or in a message that does not help.
source test/tap.bash

exits 2 'no command' "$REFAULT"
exits 2 'an unknown command' "$REFAULT" repaly
says err 'refault: no command "repaly" (nearest: replay). `refault help` shows all.'
exits 2 'an unknown command, nothing like any' "$REFAULT" zzzzzz
says err 'no command "zzzzzz". `refault help` shows all.'
exits 2 'an unknown option' "$REFAULT" replay x --memroy 1GiB
says err 'refault: replay has no option "--memroy" (nearest: --memory). `refault replay --help` shows all.'
exits 2 'an option without its value' "$REFAULT" replay x --memory
says err '--memory needs a value: --memory SIZE'
exits 2 'a value for a flag' "$REFAULT" replay x --json=yes
says err '--json takes no value'
exits 2 'no trace' "$REFAULT" replay --memory 1GiB
says err 'replay needs a TRACE'
exits 2 'two traces' "$REFAULT" replay a b --memory 1GiB
says err '"b" is one more'
exits 2 'a size with an unknown unit' "$REFAULT" replay a --memory 1Gigs
says err '--memory "1Gigs"'
exits 2 'a negative size' "$REFAULT" replay a --memory=-1
says err 'negative'

printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,heap,0,8192\n1,1,read,heap,81 92,8192\n2,1,read,heap,0,8192\n' >"$scratch/broken.csv"
for i in {1..98}; do echo 3,1,read,heap,0,8192; done >>"$scratch/broken.csv"
sed 3d "$scratch/broken.csv" >"$scratch/good.csv"
exits 2 'no memory said' "$REFAULT" replay "$scratch/good.csv"
says err '--cgroup-limit 256MiB'
exits 2 'memory and limit' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --cgroup-limit 1GiB
exits 2 'memory smaller than one reclaim step' "$REFAULT" replay "$scratch/good.csv" --cgroup-limit 4KiB
exits 2 'a device that there is not' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --device nvme-tls
says err 'nearest: nvme-tlc'
exits 2 'processors without a device' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --processors 2
says err 'add --device'
exits 2 'a recordsize that is none' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --recordsize 5000
says err 'power of two'
exits 2 'an unknown file system' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --filesystem ext5
says err 'nearest: ext4'
exits 2 'a file system in capitals' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --filesystem XFS
says err 'nearest: xfs'
exits 2 'an empty policy' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --policy ''
says err '--policy needs a value: --policy NAME'
exits 2 'an empty value after =' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --filesystem=
exits 2 'a comma and no switch' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --policy lru,
says err 'expected KEY=VALUE'
exits 2 'an empty policy in a scenario' "$REFAULT" run hello --set machine.policy=
exits 2 'the beginning of a policy' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --policy linux
says err 'nearest: linux-6.18)'
exits 2 'an unknown policy' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --policy linux-4.55
exits 2 'an unknown switch' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --policy linux-4.5,activate_on_wirte=never
says err 'activate_on_write'
exits 2 'an unknown format' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --format cvs
exits 2 'a bad stream expression' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --stream '(=a'
exits 2 'bare without its size' "$REFAULT" replay "$scratch/good.csv" --bare
exits 2 'bare with no pages' "$REFAULT" replay "$scratch/good.csv" --bare --pages 0
exits 2 'bare and a machine' "$REFAULT" replay "$scratch/good.csv" --bare --pages 4 --memory 1GiB
exits 2 'pages without bare' "$REFAULT" replay "$scratch/good.csv" --memory 1GiB --pages 4
exits 2 'standard input twice' "$REFAULT" replay - --memory 1GiB --policy lru --policy fifo

exits 2 'a wrong row' "$REFAULT" replay "$scratch/broken.csv" --cgroup-limit 256MiB
cat >"$scratch/expected" <<END
refault: $scratch/broken.csv:3:15: offset "81 92" is not a whole number of bytes
  3 | 1,1,read,heap,81 92,8192
    |               ^^^^^
Nothing was run. \`--lenient\` skips such rows and counts them.
END
ok 'the row is shown, and what is wrong in it' diff "$scratch/expected" "$scratch/err"
exits 0 '--lenient' "$REFAULT" replay "$scratch/broken.csv" --cgroup-limit 256MiB --lenient
says out "1 row of the input could not be read and was left out"
exits 0 '--lenient, JSON' "$REFAULT" replay "$scratch/broken.csv" --cgroup-limit 256MiB --lenient --json
says out '"skipped_rows": 1'
head -n -2 "$scratch/broken.csv" >"$scratch/worse.csv"
exits 2 'more than one row in a hundred is wrong' "$REFAULT" replay "$scratch/worse.csv" --cgroup-limit 256MiB --lenient
says err '1 of 99 rows cannot be read, and more than 1 % is too many: the first: offset "81 92"'
says err 'worse.csv:3:15: '

printf 'time,thread,op,path,offset,bytes\n0,1,read,heap,0,8192\n' >"$scratch/header.csv"
exits 2 'a wrong header' "$REFAULT" replay "$scratch/header.csv" --memory 1GiB
ok 'no promise that --lenient helps there' sh -c '! grep -q lenient "$0"' "$scratch/err"
printf 'time_ns,thread,op,path,offset,bytes\n0,1,read,nowhere,0,8192\n' >"$scratch/nowhere.csv"
exits 2 'an op on a file that is not there' "$REFAULT" replay "$scratch/nowhere.csv" --memory 1GiB
sed "s|SCRATCH|$scratch|" >"$scratch/expected" <<'END'
refault: SCRATCH/nowhere.csv:2:10: read "nowhere": there is no such file here; a file that is there before the start needs an exists line
  2 | 0,1,read,nowhere,0,8192
    |          ^^^^^^^
END
ok 'its row is shown, too' diff "$scratch/expected" "$scratch/err"
ok 'no promise that --lenient helps here either' sh -c '! grep -q lenient "$0"' "$scratch/err"
exits 2 'the same from standard input' sh -c '"$0" replay - --memory 1GiB <"$1"' "$REFAULT" "$scratch/nowhere.csv"
says err 'refault: standard input:2: read "nowhere"'
long=$(printf '%0120d/' 1 2 3 4 5 6 7 8)name
printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,"%s",0x,8192\n' "$long" >"$scratch/long.csv"
exits 2 'a row that is much too long' "$REFAULT" replay "$scratch/long.csv" --memory 1GiB
ok 'no line of what is shown of it is wider than 100 columns' sh -c '! grep " | " "$0" | grep -q ".\{101\}"' "$scratch/err"
says err '0x,8192'
exits 2 'no such file' "$REFAULT" replay "$scratch/none.csv" --memory 1GiB
: >"$scratch/empty.csv"
exits 2 'an empty file' "$REFAULT" replay "$scratch/empty.csv" --memory 1GiB
exits 2 'a program is no trace' "$REFAULT" replay "$REFAULT" --memory 1GiB

exits 0 'import' "$REFAULT" import "$scratch/good.csv" -o "$scratch/good.rft"
cp "$scratch/good.rft" "$scratch/cut.rft"
truncate -s -3 "$scratch/cut.rft"
exits 2 'a trace that was cut off' "$REFAULT" replay "$scratch/cut.rft" --memory 1GiB
says err '`--lenient` takes what there is.'
"$REFAULT" import examples/wal-recycle.rft -o "$scratch/whole.rft" >/dev/null
head -c -1 "$scratch/whole.rft" >"$scratch/cut.rft"
exits 2 'cut off by one byte' "$REFAULT" replay "$scratch/cut.rft" --bare --pages 4
says err 'cut off after 255,018 ops'
exits 0 'cut off by one byte, --lenient' "$REFAULT" replay "$scratch/cut.rft" --bare --pages 4 --lenient
says out 'the input is cut off'
ok 'no row was left out' sh -c '! grep -q row "$0"' "$scratch/out"
exits 0 'the same as JSON' "$REFAULT" replay "$scratch/cut.rft" --bare --pages 4 --lenient --json
says out '"skipped_rows": 0'
says out '"cut_off": true'
exits 0 'import of it' "$REFAULT" import "$scratch/cut.rft" --lenient -o "$scratch/again.rft"
says out 'the input is cut off'
rm "$scratch"/*.rft

head -c 48 /dev/zero >"$scratch/objects.bin"
exits 2 'objects are no files' "$REFAULT" replay "$scratch/objects.bin" --format oracleGeneral --memory 1GiB
says err 'replay it with --bare --pages N'
exits 0 'but a plain cache takes them' "$REFAULT" replay "$scratch/objects.bin" --format oracleGeneral --bare --pages 4
exits 2 'a pipe cannot be read twice' timeout 20 bash -c '"$0" replay <(cat "$1") --memory 1GiB --policy lru --policy fifo' "$REFAULT" "$scratch/good.csv"
says err 'can be read once only'
if command -v mkfifo >/dev/null; then
	mkfifo "$scratch/fifo"
	exits 2 'nor can a FIFO, and nothing waits for it' timeout 20 "$REFAULT" replay "$scratch/fifo" --memory 1GiB --policy lru --policy fifo
fi
exits 2 'import to standard output' "$REFAULT" import "$scratch/good.csv" -o -
says err 'regular file'
ok 'no file of that name is there' [ ! -e - ]
exits 2 'import to no name' "$REFAULT" import "$scratch/good.csv" -o ''

exits 2 'nothing to list' "$REFAULT" list polices
says err 'nearest: policies'
exits 2 'import without an output' "$REFAULT" import "$scratch/good.csv"
exits 2 'import onto itself' "$REFAULT" import "$scratch/good.csv" -o "$scratch/../$(basename "$scratch")/good.csv"
says err 'is the input itself'
ok 'the input is as it was' [ "$(wc -l <"$scratch/good.csv")" = 101 ]
exits 2 'import of a wrong row' "$REFAULT" import "$scratch/broken.csv" -o "$scratch/new.rft"
ok 'nothing half-written is left' [ "$(ls "$scratch" | grep -c rft)" = 0 ]
if [ -w /dev/full ]; then
	exits 1 'the answer cannot be written' sh -c '"$0" list policies >/dev/full' "$REFAULT"
	says err 'cannot write the answer'
fi
tap_done
