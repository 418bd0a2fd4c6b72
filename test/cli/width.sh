# If this fails, somebody's terminal of 100 columns is folded, somebody's without UTF-8 is filled with question marks, or a command that is
# shown is not the one that the shell gets.
source test/tap.bash

folder="$scratch/a folder with blanks, and a name that goes on and on and on/it's \"quoted\" \$HOME"
mkdir -p "$folder"
name="$folder/the file's name, which is longer than what anybody would have thought of on a good day 0123456789 0123456789"
python3 - "$name" <<'END2'
import sys
name = sys.argv[1]
hot = "/srv/databases/production/a directory with a long name that does not end/base/16384/hot relation with a long name.0001"
cold = "/var/backups/2026-12-01/everything that was there and more than that/all of it in one file with a long name.tar.zst"
with open(name + ".csv", "w") as out:
    print("time_ns,thread,op,path,offset,bytes", file=out)
    print(f"0,1,exists,{hot},0,12582912\n0,1,exists,{cold},0,41943040", file=out)
    time = 0
    for round in range(4):
        for offset in range(0, 12582912, 524288):
            time += 1000000
            print(f"{time},1,read,{hot},{offset},524288", file=out)
        for offset in range(0, 41943040, 1048576):
            time += 1000000
            print(f"{time},2,read,{cold},{offset},1048576", file=out)
        print(f"{time},2,fadvise_dontneed,{hot},0,0\n{time},2,mark,a mark whose name is longer than what a mark is for {round},0,0", file=out)
with open(name + ".yaml", "w") as out:
    out.write("machine: {cgroup_limit: 32MiB, device: nvme-tlc}\nfiles: {a file whose name is long beyond what is reasonable: {path: " + '"' + hot.lstrip("/") + '"' + ", size: 24MiB}, "
              "another file whose name is long beyond what is reasonable: {path: " + '"' + cold.lstrip("/") + '"' + ", size: 40MiB}}\n"
              "jobs:\n  the job that reads the file with the long name: {read: a file whose name is long beyond what is reasonable, loop: 3}\n"
              "  the job that reads the other file with the long name: {read: another file whose name is long beyond what is reasonable, loop: 3}\n")
END2
cp test/state/samples/procfs-pair.txt "$name.txt"

narrow() { # NAME COMMAND...: no line is wider than 100 columns, in both alphabets; without UTF-8 all of it is ASCII
	local name=$1 got
	shift
	"$@" >"$scratch/wide" 2>"$scratch/err" </dev/null || sed 's/^/# /' "$scratch/err"
	LC_ALL=C "$@" >"$scratch/ascii" 2>>"$scratch/err" </dev/null
	got=$(python3 - "$scratch/wide" "$scratch/ascii" <<'END2'
import sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
wide = [line for line in lines if len(line) > 100]
plain = open(sys.argv[2], "rb").read()
if len(lines) < 2:
    print("it says nothing")
for line in wide[:3]:
    print(len(line), "columns:", line)
if max(plain) > 126:
    print("not ASCII:", [line for line in plain.splitlines() if line and max(line) > 126][:2])
for line in plain.decode("latin-1").splitlines():
    if len(line) > 100:
        print("ASCII,", len(line), "columns:", line)
        break
END2
	)
	tap "$([ -z "$got" ] && echo 0 || echo 1)" "$name: 100 columns"
	[ -z "$got" ] || sed 's/^/# /' <<<"$got"
}

runs=(--db "$scratch/runs.db")
narrow replay "$REFAULT" replay "$name.csv" --cgroup-limit 32MiB "${runs[@]}"
narrow 'replay on a device' "$REFAULT" replay "$name.csv" --cgroup-limit 24MiB --device nvme-tlc "${runs[@]}"
narrow 'replay, side by side' "$REFAULT" replay "$name.csv" --cgroup-limit 32MiB --policy linux-4.5 --policy lru --policy linux-6.18 --no-store
narrow run "$REFAULT" run "$name.yaml" --no-store
narrow explain "$REFAULT" explain "$name.csv" --cgroup-limit 32MiB --ops
narrow advise "$REFAULT" advise "$name.csv" --cgroup-limit 32MiB --streams path
narrow 'advise on a device' "$REFAULT" advise "$name.yaml" --only readahead,memory,dontneed --seeds 1
narrow compare "$REFAULT" compare @-3 @last "${runs[@]}"
narrow lint "$REFAULT" lint "$name.csv" --cgroup-limit 32MiB
narrow matrix "$REFAULT" matrix --change policy=lru "$name.yaml" --seeds 1
narrow diagnose "$REFAULT" diagnose "$name.txt"
narrow 'list runs' "$REFAULT" list runs "${runs[@]}"

# What is shown as a command is the command: with an echo in its place the shell has the same words.
words() { # FILE LEAD: the words of the last command that begins with LEAD, each in a line
	python3 - "$1" "$2" <<'END2'
import subprocess, sys
text = open(sys.argv[1], encoding="utf-8").read()
at = text.rindex(sys.argv[2]) + len(sys.argv[2])
print(subprocess.run(["bash", "-c", "refault() { printf '%s\\n' \"$@\"; }; HOME=/wrong; " + text[at:]], capture_output=True, text=True).stdout, end="")
END2
}
"$REFAULT" replay "$name.csv" --cgroup-limit 32MiB --no-store >"$scratch/out"
tap "$([ "$(words "$scratch/out" 'Try: ' | sed -n 1,3p)" = "$(printf 'advise\n%s\n--cgroup-limit' "$name.csv")" ] && echo 0 || echo 1)" 'the command to try can be pasted'
"$REFAULT" advise "$name.csv" --cgroup-limit 32MiB --stream "hot.*=the hot's" --stream 'all of=a b' --only dontneed,memory,cgroup,memory-low,readahead,cache-pressure >"$scratch/out"
words "$scratch/out" 'Confirm on this kernel: ' >"$scratch/words"
tap "$([ "$(sed -n 2p "$scratch/words")" = "$name.csv" ] && grep -qx "hot.\*=the hot's" "$scratch/words" && grep -qx -- --confirm "$scratch/words" && echo 0 || echo 1)" \
	'the command that confirms can be pasted'
sed 's/^/# /' "$scratch/words"
ok 'each setting is a command' python3 - "$REFAULT" "$name.csv" <<'END2'
import json, subprocess, sys
out = subprocess.run([sys.argv[1], "advise", sys.argv[2], "--cgroup-limit", "32MiB", "--json", "--streams", "path"], capture_output=True, text=True, check=True).stdout
commands = [r["command"] for r in json.loads(out)["remedies"] if r["command"]]
assert len(commands) >= 6, commands
for command in commands:
    assert subprocess.run(["bash", "-n", "-c", command]).returncode == 0, command
assert any(c.startswith("systemd-run --scope -p MemoryMax=") for c in commands), commands
assert any(c.startswith("echo ") and "memory.max" in c for c in commands), commands
END2
tap_done
