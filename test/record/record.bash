# What tests of recording share: source it after test/tap.bash. Skips where nothing can be recorded.

[ "$(id -u)" = 0 ] || skip_all 'to record needs root'
[ -r /sys/kernel/btf/vmlinux ] || skip_all 'this kernel does not describe its types (BTF)'
[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'what is new in it is tried with the plain build'
# On the disk that the build is on: what is in memory, as /tmp may be, is not recorded.
disk=$(mktemp -d "$PWD/${REFAULT_BUILD:-build}/record.XXXXXX" 2>/dev/null || mktemp -d "${REFAULT_BUILD:-build}/record.XXXXXX")
trap 'rm -rf "$scratch" "$disk"' EXIT
"$REFAULT" record -o "$scratch/can.rft" -- true >/dev/null 2>"$scratch/can.err" ||
	skip_all "nothing can be recorded here: $(cat "$scratch/can.err")"
