# If this fails, what is called measured is not what the kernel did.
source test/tap.bash
[ "${REFAULT_FLAVOUR:-plain}" != check ] || skip_all 'the sanitizers see the player and the probe in test_player and test_probe'
source test/kernel/kernel.bash

# A JSON figure by its path of keys, without a parser: the keys are the program's own.
figure() { # FILE KEY...
	python3 - "$@" <<-'END' 2>/dev/null
		import json, sys
		value = json.load(open(sys.argv[1]))
		for key in sys.argv[2:]:
		    value = value[int(key) if key.lstrip("-").isdigit() else key]
		print("null" if value is None else value)
	END
}
command -v python3 >/dev/null || skip_all 'needs python3 to read JSON'

near() { # WHAT EXPECTED PERMILLE
	local value=$1 expected=$2 off
	off=$((value > expected ? value - expected : expected - value))
	[ $((off * 1000)) -le $((expected * $3)) ] || { echo "$value, expected $expected"; return 1; }
}

for filesystem in ext4 xfs btrfs; do
	command -v mkfs.$filesystem >/dev/null || { tap_count=$((tap_count + 1)); echo "ok $tap_count # SKIP no mkfs.$filesystem"; continue; }
	exits 0 "$filesystem: twice through a file larger than the memory" "$REFAULT" replay "$scratch/twice.csv" --on kernel "${small[@]}" --filesystem $filesystem --json
	cp "$scratch/out" "$scratch/json"
	ok "$filesystem: it is what was asked for" [ "$(figure "$scratch/json" machine filesystem)" = $filesystem ]
	ok "$filesystem: of this kernel" [ "$(figure "$scratch/json" machine kernel)" = "$(uname -r)" ]
	# 32 MiB and a quarter of the other, which is used so often that it stays.
	ok "$filesystem: reads once" near "$(figure "$scratch/json" marks 0 read_bytes)" $((129 * 262144)) 15
	ok "$filesystem: reads it again" near "$(figure "$scratch/json" totals read_bytes)" $((257 * 262144)) 15
	ok "$filesystem: counts accesses" [ "$(figure "$scratch/json" totals page_accesses)" = $((2 * (256 * 32 + 448))) ]
	again=$(figure "$scratch/json" totals reread_bytes)
	if [ "$again" = null ]; then
		tap_count=$((tap_count + 1))
		echo "ok $tap_count # SKIP no tracepoints: $(figure "$scratch/json" notes 0)"
	else
		ok "$filesystem: knows what was read again" near "$again" $((32 * 1048576)) 15
		ok "$filesystem: and who is to blame" near "$(figure "$scratch/json" blame data data pages)" 8192 15
	fi
	ok "$filesystem: what a stream read from the device is not known" [ "$(figure "$scratch/json" streams data write_bytes)" = null ]
done

exits 0 'lazy statistics give a range' "$REFAULT" replay "$scratch/twice.csv" --on kernel "${small[@]}" --statistics lazy --runs 2 --json
ok 'of two runs' [ "$(figure "$scratch/out" kernel_runs)" = 2 ]
ok 'with a least' [ "$(figure "$scratch/out" range low read_bytes)" -le "$(figure "$scratch/out" range high read_bytes)" ]

# Names, descriptors and mappings, each once.
cat >"$scratch/kinds.csv" <<-'END'
	time_ns,thread,op,path,offset,bytes
	0,1,exists,a/b/file,0,65536
	0,1,exists_sparse,hole,0,1048576
	1,1,stat,a/none,0,0
	2,1,open,/a//b/./file,0,0
	3,2,read,a/b/file,4096,4096
	4,1,rename,a/b/file>a/b/other,0,0
	5,2,read,a/b/other,0,4096
	6,1,unlink,a/b/other,0,0
	7,2,read,a/b/other,8192,4096
	8,1,create,a/b/other,0,0
	9,1,write,a/b/other,0,12288
	10,1,fdatasync,a/b/other,0,0
	11,1,fsync,a/b/other,0,0
	12,1,mmap_read,a/b/other,0,12288
	13,1,mmap_write,a/b/other,4096,4096
	14,1,truncate,a/b/other,4096,0
	15,1,fallocate,a/b/other,0,65536
	16,1,fadvise_random,a/b/other,0,0
	17,1,fadvise_sequential,a/b/other,0,0
	18,1,fadvise_willneed,a/b/other,0,0
	19,1,fadvise_noreuse,a/b/other,0,0
	20,1,fadvise_dontneed,a/b/other,0,0
	21,1,read,hole,0,1048576
	22,1,mkdir,a/new,0,0
	23,1,rename,a/b>a/new/c,0,0
	24,1,read,a/new/c/other,0,4096
	25,1,sync,,0,0
	26,1,close,a/new/c/other,0,0
	27,1,unlink,a/new/c/other,0,0
	28,1,unlink,a/new/c,0,0
	29,1,stat,../../etc/passwd,0,0
	30,1,write,hole,0,262144
	31,1,sync_file_range,hole,0,131072
	32,2,compute,,0,2000000
	33,1,sync_file_range,hole,131072,131072
	34,1,compute,,0,1
	35,1,read_direct,hole,0,65536
	36,1,write_direct,hole,65536,65536
	37,1,read,hole,1000,100
	38,1,read_dontcache,hole,0,65536
	39,1,write_dontcache,hole,262144,5000
	40,1,mkdir,links,0,0
	41,1,link,hole>links/one,0,0
	42,2,read,links/one,0,4096
	43,1,symlink,links/soft,0,30
	44,1,stat,links/soft,0,0
	45,1,readdir,links,0,0
	46,1,readdir,.,0,0
	47,1,rename,links/one>hole,0,0
	48,1,unlink,links/one,0,0
	49,2,read,links/one,0,4096
	50,2,close,links/one,0,0
	51,1,link,hole>links/one,0,0
	52,1,unlink,hole,0,0
	53,1,read,links/one,0,4096
	54,1,unlink,links/one,0,0
	55,1,unlink,links/soft,0,0
	56,1,rmdir,links,0,0
END
exits 0 'every kind of operation' "$REFAULT" replay "$scratch/kinds.csv" --on kernel "${small[@]}" --json
ok 'counts them' [ "$(figure "$scratch/out" streams hole page_accesses)" = $((256 + 64 + 1 + 16 + 2)) ]
ok 'and those of the other name' [ "$(figure "$scratch/out" streams links page_accesses)" = 3 ]
ok 'stays below its root' [ "$(figure "$scratch/out" totals page_accesses)" -gt 0 ]

printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,a,0,4096\n1,1,drop_caches,,0,3\n' >"$scratch/drop.csv"
exits 2 "nobody's caches are dropped" "$REFAULT" replay "$scratch/drop.csv" --on kernel "${small[@]}"
says err 'in a guest only (--guest)'
printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,a,0,4096\n1,1,read_direct,a,100,512\n' >"$scratch/odd.csv"
exits 2 'what the kernel refuses is said' "$REFAULT" replay "$scratch/odd.csv" --on kernel "${small[@]}"
says err 'Invalid argument'

# Scenarios, by both clocks. Shorter than it is: the kernel's time is the tester's.
shorter=(--set jobs.app.duration=2s --set jobs.backup.start=1s)
if [ "${REFAULT_FLAVOUR:-plain}" = tsan ]; then
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP the player's threads read into one buffer, on purpose: it is memory of the cgroup's"
else
	exits 0 'a scenario, threads side by side' "$REFAULT" run hello --on kernel "${shorter[@]}" --images "$scratch/images" --json
	ok 'its streams' [ "$(figure "$scratch/out" streams app page_accesses)" -gt 0 ]
fi
exits 0 'a scenario on its own clock' "$REFAULT" run hello --on kernel --clock scenario "${shorter[@]}" --images "$scratch/images" --json

exits 2 'no whole machine' "$REFAULT" replay "$scratch/twice.csv" --on kernel --memory 1GiB
says err '--cgroup-limit SIZE instead of --memory'
exits 2 'no kernel is asked to live in nothing' "$REFAULT" replay "$scratch/twice.csv" --on kernel --cgroup-limit 256KiB
says err 'at least 4 MiB'
exits 2 'no policy' "$REFAULT" replay "$scratch/twice.csv" --on kernel --cgroup-limit 1GiB --policy lru
says err 'refault validate'
exits 2 'no such machine' "$REFAULT" replay "$scratch/twice.csv" --on kernal --cgroup-limit 1GiB
says err 'nearest: kernel'
exits 2 'options of the kernel for the model' "$REFAULT" replay "$scratch/twice.csv" --cgroup-limit 1GiB --images /tmp
says err 'add --on kernel'
exits 2 'no such statistics' "$REFAULT" replay "$scratch/twice.csv" --on kernel --cgroup-limit 1GiB --statistics stale
says err 'there are fresh and lazy'
exits 2 'a folder for images that is not there' "$REFAULT" replay "$scratch/twice.csv" --on kernel --cgroup-limit 24MiB --images "$scratch/nowhere"
says err 'No such file or directory'
exits 2 'nor for a scenario in threads' "$REFAULT" run hello --on kernel --images "$scratch/nowhere"
says err 'No such file or directory'
exits 2 'a directory that is not there' "$REFAULT" replay "$scratch/twice.csv" --on kernel --cgroup-limit 24MiB --directory "$scratch/nowhere"
says err 'there is no such directory'
tap_done
