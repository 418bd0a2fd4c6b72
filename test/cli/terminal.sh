# If this fails, files and pipes get escape codes, or NO_COLOR is not honoured.
source test/tap.bash

printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,heap,0,8192\n1,1,read,heap,0,8192\n2,1,mark,half,0,0\n' >"$scratch/a.csv"
replay=("$REFAULT" replay "$scratch/a.csv" --cgroup-limit 256MiB)
escape=$(printf '\033')

exits 0 'in a pipe' "${replay[@]}"
ok 'no escape codes in a pipe' sh -c '! grep -q "$0" "$1"' "$escape" "$scratch/out"
ok 'nothing on standard error' [ ! -s "$scratch/err" ]
exits 0 'the same again' "${replay[@]}"
cp "$scratch/out" "$scratch/first"
exits 0 'and again' "${replay[@]}"
ok 'twice the same, to the byte' cmp "$scratch/first" "$scratch/out"
exits 0 'JSON' "${replay[@]}" --json
cp "$scratch/out" "$scratch/first"
exits 0 'JSON again' "${replay[@]}" --json
ok 'twice the same JSON, to the byte' cmp "$scratch/first" "$scratch/out"

if command -v script >/dev/null; then
	on_terminal() { TERM=xterm script -qec "$(printf '%q ' "$@")" /dev/null </dev/null; }
	(unset NO_COLOR; on_terminal "${replay[@]}") >"$scratch/tty"
	ok 'colours on a terminal' grep -q "$escape\[" "$scratch/tty"
	NO_COLOR=1 on_terminal "${replay[@]}" >"$scratch/tty"
	ok 'none with NO_COLOR' sh -c '! grep -q "$0" "$1"' "$escape" "$scratch/tty"
fi
tap_done
