# If this fails, an import that is interrupted leaves a half-written file in somebody's folder, or a long run that is interrupted was in vain.
source test/tap.bash

command -v timeout >/dev/null && command -v mkfifo >/dev/null || skip_all 'needs timeout and mkfifo'

# More than is looked at before the output is made.
{
	printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,a,0,8192\n'
	for ((i = 0; i < 20000; i++)); do
		echo "$i,1,read,a,0,8192"
	done
} >"$scratch/rows"

# An import that waits for more when the signal comes. Afterwards $scratch/there holds its input and what it left.
interrupted() { # NAME SIGNAL COMMAND...
	local name=$1 signal=$2 feeder status
	shift 2
	rm -rf "$scratch/there"
	mkdir "$scratch/there"
	mkfifo "$scratch/there/in"
	{ cat "$scratch/rows"; exec sleep 60; } >"$scratch/there/in" &
	feeder=$!
	timeout -s "$signal" 1 env "$@" "$REFAULT" import "$scratch/there/in" -o "$scratch/there/out.rft" >"$scratch/out" 2>"$scratch/err"
	status=$?
	kill "$feeder" 2>/dev/null
	wait "$feeder" 2>/dev/null
	ok "$name: killed by it" [ "$status" = 124 ]
	ok "$name: nothing is left" [ "$(ls "$scratch/there")" = in ]
}

for signal in INT TERM HUP; do
	interrupted "SIG$signal" $signal
done

# A file system without O_TMPFILE: the file has a name from the start, and a handler unlinks it.
if [ "${REFAULT_FLAVOUR:-plain}" = plain ]; then
	cat >"$scratch/refuse.c" <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <stdarg.h>
		#include <sys/syscall.h>
		#include <unistd.h>

		int open(const char *path, int flags, ...)
		{
			va_list arguments;
			int mode;

			va_start(arguments, flags);
			mode = va_arg(arguments, int);
			va_end(arguments);
			if ((flags & O_TMPFILE) == O_TMPFILE) {
				errno = EOPNOTSUPP;
				return -1;
			}
			return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
		}
	END
	if ${REFAULT_CC:-cc} -shared -fPIC -o "$scratch/refuse.so" "$scratch/refuse.c" 2>"$scratch/err"; then
		for signal in INT TERM HUP; do
			interrupted "SIG$signal without O_TMPFILE" $signal LD_PRELOAD="$scratch/refuse.so"
		done
	fi
fi

# A run of hours says what it has, and then dies of the signal, as a shell expects.
long=(--set jobs.app.duration=1000h --set jobs.app.think=1us --set jobs.backup.start=1ms)
for options in '' '--set machine.device=nvme-tlc' '--json'; do
	# shellcheck disable=SC2086
	timeout -s INT 1 "$REFAULT" run hello "${long[@]}" $options >"$scratch/out" 2>"$scratch/err"
	ok "run${options:+ $options}: killed by SIGINT" [ "$?" = 124 ]
	says out 'interrupted: this is what had happened by then'
	says out backup
done
tap_done
