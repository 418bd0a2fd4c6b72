# What shell tests share: `source test/tap.bash`, then ok NAME COMMAND... and friends. Each is counted by script/check.
# The program is $REFAULT; the tests run from the project's root.

set -u
REFAULT=${REFAULT:-$PWD/build/refault}
[ -x "$REFAULT" ] || { echo "no program $REFAULT: make first"; exit 1; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
# What is run here is not kept among the user's runs.
export XDG_DATA_HOME=$scratch/data
tap_count=0

tap() { # STATUS NAME
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
	fi
}

# The command succeeds.
ok() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >"$scratch/ok.out" 2>"$scratch/ok.err"
	local status=$?
	tap "$status" "$name"
	[ "$status" = 0 ] || sed 's/^/# /' "$scratch/ok.out" "$scratch/ok.err"
}

# The command ends with that exit code; its output is then in $scratch/out and $scratch/err.
exits() { # CODE NAME COMMAND...
	local code=$1 name=$2
	shift 2
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	local status=$?
	tap "$([ "$status" = "$code" ] && echo 0 || echo 1)" "$name"
	[ "$status" = "$code" ] || { echo "# exit $status, expected $code"; sed 's/^/# /' "$scratch/out" "$scratch/err"; }
}

# What the last `exits` printed on out or err holds this text.
says() { # out|err TEXT
	grep -qF -- "$2" "$scratch/$1"
	local status=$?
	tap "$status" "says: $2"
	[ "$status" = 0 ] || sed 's/^/# /' "$scratch/$1"
}

# In what the last `exits` printed, commands that go on in the next line are one line.
unfold() { # out|err
	sed -i -z 's/ \\\n */ /g; s/\\\n//g' "$scratch/$1"
}

skip_all() { # WHY
	echo "$1"
	exit 77
}

tap_done() {
	echo "1..$tap_count"
}
