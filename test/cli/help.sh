# If this fails, somebody who asks for help does not get it, or the three places that tell of an option disagree.
source test/tap.bash

exits 0 '--version' "$REFAULT" --version
says out 'refault 0.'
exits 0 '--help' "$REFAULT" --help
exits 0 'help' "$REFAULT" help
for command in $("$REFAULT" help --commands); do
	ok "the overview names $command" grep -q "refault $command " "$scratch/out"
done

for command in $("$REFAULT" help --commands); do
	exits 0 "$command --help" "$REFAULT" "$command" --help
	cp "$scratch/out" "$scratch/help"
	ok "$command --help has examples" grep -q '^Examples' "$scratch/help"
	ok "help $command is the same" cmp <("$REFAULT" help "$command") "$scratch/help"
	ok "man page of $command" sh -c '"$0" help --man "$1" >"$2"' "$REFAULT" "$command" "$scratch/man"
	"$REFAULT" help --bash >"$scratch/bash"
	missing=
	for option in $(grep -oE '^  (-., )?--[a-z0-9-]+' "$scratch/help" | grep -oE -- '--[a-z0-9-]+'); do
		[ "$option" = --help ] || grep -qF -- "${option//-/\\-}" "$scratch/man" || missing="$missing man:$option"
		grep -qF -- "$option" "$scratch/bash" || missing="$missing completion:$option"
	done
	ok "each option of $command is in the man page and the completion ($missing)" [ -z "$missing" ]
	# Commands of examples must exist, with options that exist.
	unknown=
	for option in $(sed -n '/^Examples/,$p' "$scratch/help" | grep '^  refault' | grep -oE -- ' --[a-z0-9-]+'); do
		grep -qE -- "^  (-., )?$option( |\$)" "$scratch/help" || unknown="$unknown $option"
	done
	ok "the examples of $command use options that exist ($unknown)" [ -z "$unknown" ]
done

if command -v groff >/dev/null; then
	for command in '' $("$REFAULT" help --commands); do
		"$REFAULT" help --man $command | groff -man -Tutf8 -ww -z >"$scratch/groff" 2>&1
		ok "groff has nothing to say about the man page of ${command:-refault}" [ ! -s "$scratch/groff" ]
	done
fi
tap_done
