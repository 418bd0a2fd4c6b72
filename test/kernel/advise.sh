# If this fails, somebody who has a remedy confirmed is shown what the kernel did without it, or nothing.
source test/tap.bash
source test/kernel/kernel.bash

asked=(--set machine.cgroup_limit=64MiB --set files.index.size=128MiB --set jobs.search.count=1024 --only random --confirm)
timeout -s KILL 120 "$REFAULT" advise cases/c15-mmap-readahead "${asked[@]}" --json >"$scratch/out" 2>"$scratch/err" </dev/null
status=$?
tap "$status" 'RANDOM on a mapping is confirmed'
ok 'predicted and measured are alike' python3 - "$scratch/out" <<'END'
import json, sys
(remedy,) = [r for r in json.load(open(sys.argv[1]))["remedies"] if r["id"] == "random"]
assert remedy["verdict"] == "helps" and remedy["can_be_confirmed"]
measured = remedy["measured"]
assert measured["changed"] < measured["base"] / 4, measured
# 1024 touches of 4 KiB; 64 KiB of metadata at most.
assert measured["changed"] < 1024 * 4096 + 65536, measured
assert abs(measured["change"] - remedy["reads"]["change"]) < 0.05, remedy
END
tap_done
