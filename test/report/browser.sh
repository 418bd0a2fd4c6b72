# If this fails, who opens a report sees empty charts, errors on the console, or a page that does not fit the screen.
#
# Needs chromium, node and the npm package playwright-core (where NODE_PATH says, or npm fetches it into a folder that is removed).
# Screenshots and a printed page stay in $REFAULT_BUILD/report-pictures.
source test/tap.bash

CHROMIUM=$(command -v chromium || command -v chromium-browser) || skip_all 'no chromium here (apt-get install chromium)'
export CHROMIUM
command -v node >/dev/null || skip_all 'no node here'
[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'the plain build is enough: what is tested is the page'
if ! node -e 'require("playwright-core")' 2>/dev/null; then
	command -v npm >/dev/null || skip_all 'no playwright-core, and no npm to fetch it'
	timeout -s KILL 60 npm install --silent --no-audit --no-fund --prefix "$scratch/npm" playwright-core >/dev/null 2>&1
	export NODE_PATH=$scratch/npm/node_modules
	node -e 'require("playwright-core")' 2>/dev/null || skip_all 'no playwright-core, and npm could not fetch it'
fi

pictures=${REFAULT_BUILD:-build}/report-pictures
mkdir -p "$pictures"
replay() { timeout -s KILL 60 "$REFAULT" replay examples/wal-recycle.rft --device nvme-tlc --cgroup-limit "$@"; }
for memory in 64MiB 192MiB 384MiB; do replay "$memory" >/dev/null; done
"$REFAULT" report @-3 @-2 @last -o "$scratch/curve.html" || skip_all 'no report to look at'
timeout -s KILL 60 "$REFAULT" explain examples/wal-recycle.rft --device nvme-tlc --cgroup-limit 192MiB \
	--stream '^wal=</script><img src=x onerror=console.error(1)>' --json >"$scratch/story.json"
"$REFAULT" report "$scratch/story.json" -o "$scratch/story.html" || skip_all 'no report to look at'
cat >"$scratch/db.yaml" <<'END'
machine: {cgroup_limit: 200MiB, pinned: 80MiB, device: nvme-tlc, device_size: 100GiB}
jobs:
  db: {workload: pgbench, scale: 5, clients: 4, shared_buffers: 32MiB, duration: 4s, max_wal_size: 64MiB, min_wal_size: 32MiB, wal_segments: 4}
END
timeout -s KILL 60 "$REFAULT" run "$scratch/db.yaml" --json >"$scratch/db.json"
"$REFAULT" report "$scratch/db.json" -o "$scratch/checkpoints.html" || skip_all 'no report to look at'

# It counts its own lines.
timeout -s KILL 120 node test/report/browser.js "$pictures" "$scratch/curve.html" "$scratch/story.html" "$scratch/checkpoints.html" 2>&1
[ "${PIPESTATUS[0]}" = 0 ] || echo 'not ok 999 - the browser ends by itself'
