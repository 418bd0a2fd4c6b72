# If this fails, TAB in bash offers nothing, or the wrong thing.
source test/tap.bash

source <("$REFAULT" help --bash)
# In the words of readline: = ends a word.
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
compopt() { :; }

completes() { # LINE WORD: among the candidates for the end of LINE is WORD
	COMP_LINE=$1 COMP_POINT=${#1}
	COMPREPLY=()
	_refault
	local reply
	for reply in "${COMPREPLY[@]}"; do
		[ "$reply" = "$2" ] && { tap 0 "$1 -> $2"; return; }
	done
	tap 1 "$1 -> $2"
	printf '# %s\n' "${COMPREPLY[@]}"
}

completes 'refault rep' replay
completes 'refault help rep' replay
completes 'refault replay --mem' --memory
completes 'refault replay x --policy linux-6.1' linux-6.18
completes 'refault replay x --policy linux-4.5,activate_on_w' linux-4.5,activate_on_write=never
completes 'refault replay x --policy linux-4.5,activate_on_write=ne' never
completes 'refault replay x --policy=linux-4.5,vfs' linux-4.5,vfs_cache_pressure=
completes 'refault replay x --filesystem x' xfs
completes 'refault replay x --streams p' path
completes 'refault import x --format c' csv
completes 'refault list p' policies
touch "$scratch/trace.csv"
completes "refault replay $scratch/tr" "$scratch/trace.csv"
tap_done
