# If this fails, `refault top` leaves a terminal that shows nothing that is typed, draws nothing, or cannot be ended; or takes what it is not to take.
source test/tap.bash

# What it needs is said; what would be ignored is refused.
refused() { # WHAT IS SAID, ARGUMENT...
	exits 2 "refused: ${*:2}" "$REFAULT" top "${@:2}"
	says err "$1"
}
refused 'expected from 100ms to 1d' --interval 1ms
refused 'expected resident, refaults' --once --sort name
refused 'no memory cgroup' --once --cgroup /no/such
refused 'No such file' --once /no/such
refused 'has its files in memory alone' --once --mount /proc
refused 'only one of them' --cgroup / --mount /
refused 'a line has no files in it' --sort refaults
refused 'a count of 1' --once --count 2

# Without root there is no ratio, and what anybody may know is there.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && cp "$REFAULT" "$scratch/refault" && chmod 755 "$scratch" "$scratch/refault"; then
	exits 0 'by nobody' setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/refault" top --once --json --interval 100ms
	says out '"hit_ratio": null'
	says out '"conservation": null'
	says out 'needs root'
	ok 'levels are known' grep -qE '"active_file_bytes": [0-9]' "$scratch/out"
	exits 0 'lines by nobody' setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/refault" top --count 1 --interval 100ms
	says err 'needs root'
fi

command -v script >/dev/null || { tap_done; exit; }
escape=$(printf '\033')
export TERM=xterm LC_ALL=C.UTF-8

# What a terminal of ROWS and COLUMNS gets, and how it is afterwards. KEYS are pressed once it is drawn; "TERM" is a signal.
on_terminal() { # ROWS COLUMNS KEYS
	rm -f "$scratch/tty"
	echo 'echo $$ >"$0.pid"; exec "$1" top --interval 100ms' >"$scratch/top"
	printf 'stty rows %s cols %s; sh %s %s; echo "ended with $?"; stty -a\n' "$1" "$2" "$scratch/top" "$REFAULT" >"$scratch/inside"
	{
		until_there 'hit ratio'
		if [ "$3" = TERM ]; then
			kill -TERM "$(cat "$scratch/top.pid")"
		else
			for ((i = 0; i < ${#3}; i++)); do
				sleep 0.1
				printf %s "${3:i:1}"
			done
		fi
		until_there 'ended with'
	} | script -qefc "bash $scratch/inside" "$scratch/tty" >/dev/null
}
until_there() { # TEXT
	local i
	for ((i = 0; i < 500; i++)); do
		grep -q "$1" "$scratch/tty" 2>/dev/null && break
		sleep 0.02
	done
}
restored() { # HOW IT WAS ENDED
	ok "$1 ends it" grep -q 'ended with 0' "$scratch/tty"
	ok 'the screen before it is back' grep -qF "${escape}[?1049l" "$scratch/tty"
	ok 'the cursor is shown' sh -c 'grep -oE "$0\[\?(25[hl]|12l$0\[\?25h)" "$1" | tail -n 1 | grep -q "25h"' "$escape" "$scratch/tty"
	ok 'what is typed is shown, line by line' sh -c 'tail -n 12 "$0" | grep -q "[^-]icanon.*[^-]echo "' "$scratch/tty"
}

on_terminal 24 80 'rhhq'
ok 'drawn on 24 rows of 80 columns' grep -q 'IN MEMORY' "$scratch/tty"
ok 'conservation is shown' grep -q 'conserved' "$scratch/tty"
ok 'a key sorts' grep -q 'S\*' "$scratch/tty"
ok 'a key helps' grep -q 'draw anew' "$scratch/tty"
restored 'a key'

on_terminal 50 200 TERM
ok 'drawn on 50 rows of 200 columns' grep -q 'IN MEMORY' "$scratch/tty"
ok 'what is at the right end of the first row' grep -qF "$(uname -r)" "$scratch/tty"
restored SIGTERM

# Nothing but ASCII, and no colours.
LC_ALL=C NO_COLOR=1 on_terminal 24 80 $'\003'
ok 'drawn in ASCII' grep -q 'hit ratio' "$scratch/tty"
ok 'nothing else' sh -c '! LC_ALL=C grep -q "[^ -~[:cntrl:]]" "$0"' "$scratch/tty"
ok 'no colours' sh -c '! grep -qE "$0\[([0-9]+;)*(3|4)[0-7](;[0-9]+)*m" "$1"' "$escape" "$scratch/tty"
restored Ctrl-C

TERM=dumb
exits 0 'no terminal: lines' "$REFAULT" top --count 1 --interval 100ms
ok 'without escape codes' sh -c '! grep -q "$0" "$1"' "$escape" "$scratch/out"
tap_done
