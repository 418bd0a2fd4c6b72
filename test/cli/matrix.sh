# If this fails, `refault matrix` calls a loser a winner, its answer depends on the number of threads, a mistake in a change goes unnoticed,
# or a scenario of the corpus does not do what its comment says.
source test/tap.bash

matrix() { "$REFAULT" matrix "$@"; }

# The sanitizers see one run, and the mistakes of its command.
if [ "${REFAULT_FLAVOUR:-plain}" != plain ]; then
	exits 0 'another policy' matrix --policy linux-6.18 --change policy=lru corpus/loop-larger-than-memory --seeds 2
	says out '1 lose'
	exits 2 'no change' matrix
	exits 2 'no such switch' matrix --change activate_on_wirte=never
	exits 2 'no such corpus' matrix --change activate_on_write=always --corpus corpse
	tap_done
	exit
fi

# A small corpus: a loser, a winner and one that does not notice, by one change each.
mkdir "$scratch/corpus"
cp scenarios/corpus/journal-and-hot-data.yaml scenarios/corpus/partial-rewrite.yaml scenarios/corpus/temporary-files.yaml "$scratch/corpus/"
small=(--corpus "$scratch/corpus" --policy linux-4.5)
exits 0 'a small corpus, with one job' matrix "${small[@]}" --change activate_on_write=never --jobs 1
cp "$scratch/out" "$scratch/one"
says out 'linux-4.5, changed: activate_on_write=never'
says out '5 seeds, the same for both; less reread_bytes is better'
ok 'the loser is under Lose' awk '/^  Lose \(1\)/ { in_group = 1 } /^  Win/ { in_group = 0 } in_group && /partial-rewrite/ { found = 1 } END { exit !found }' "$scratch/out"
ok 'the winner is under Win' awk '/^  Win \(1\)/ { in_group = 1 } /^  Say/ { in_group = 0 } in_group && /journal-and-hot-data/ { found = 1 } END { exit !found }' "$scratch/out"
ok 'the winner says which of its jobs gains' grep -qE '^    db .*-[0-9.]+ % .*\*' "$scratch/out"
says out '1 win, 1 lose, 1 unchanged (1 of them have 0 reread_bytes either way).'
exits 0 'the same with two jobs' matrix "${small[@]}" --change activate_on_write=never --jobs 2
ok 'the same bytes with one job and with two' cmp "$scratch/one" "$scratch/out"
exits 0 'JSON with one job' matrix "${small[@]}" --change activate_on_write=never --jobs 1 --json
cp "$scratch/out" "$scratch/one"
for key in base change metric seeds scenarios winners losers unchanged left_out; do
	says out "\"$key\": "
done
exits 0 'JSON with three' matrix "${small[@]}" --change activate_on_write=never --jobs 3 --json
ok 'the same JSON' cmp "$scratch/one" "$scratch/out"
exits 0 'other seeds' matrix "${small[@]}" --change activate_on_write=never --seed 100 --json
ok 'draw other lots' sh -c '! cmp -s "$0" "$1"' "$scratch/one" "$scratch/out"

exits 0 'two changes at once' matrix "${small[@]}" --change activate_on_write=never --change refault_on_write=no --seeds 2
says out 'changed: activate_on_write=never, refault_on_write=no'
says out 'With fewer than 5 seeds'
exits 0 'what draws nothing by lot is exact' matrix --policy linux-4.5 --change refault_on_write=no corpus/rewrite-after-eviction
says out 'exact'
says out '1 lose'
exits 0 'another policy' matrix --policy linux-6.18 --change policy=lru corpus/loop-larger-than-memory
says out '1 lose'
exits 0 'a key of the machine' matrix --change filesystem=xfs --corpus "$scratch/corpus" --seeds 1
says out 'linux-6.18, changed: filesystem=xfs'
says out '1 seed, '
exits 0 'where the change is there already' matrix --change filesystem=xfs corpus/one-use-inodes hello --seeds 1
says out 'corpus/one-use-inodes: it has that already'
exits 0 'where it cannot be made' matrix --change jobs.app.request=4KiB corpus/one-use-inodes hello --seeds 1
says out 'corpus/one-use-inodes: '
exits 0 'no memory left under the change' matrix --change machine.pinned=65532KiB hello --seeds 1
says out 'hello fails under the change only'
says out '0 win, 1 lose, 0 unchanged'
exits 0 'another metric' matrix --policy linux-4.7 --change referenced_on_first_use=no --metric inodes_reallocated corpus/inodes-used-twice
says out '1 lose'
exits 0 'a metric that is not known here' matrix --policy linux-4.5 --change activate_on_write=never --metric tps hello --seeds 1
says out 'hello: it has no tps'

exits 2 'no change' matrix
says err 'what is the change?'
exits 2 'no such switch' matrix --change activate_on_wirte=never
says err 'nearest: activate_on_write'
exits 2 'no such value' matrix --change activate_on_write=perhaps
says err 'expected always|partial|never'
exits 2 'no such key of the machine' matrix --change machine.redahead=1MiB hello
says err 'nearest: "readahead"'
exits 2 'no value' matrix --change activate_on_write
says err 'is not KEY=VALUE'
exits 2 'no change to this base' matrix --change activate_on_write=never
says err 'linux-6.18 does that already'
exits 2 'a switch that the base has not' matrix --policy lru --change activate_on_write=never
says err 'lru has no active and inactive list'
exits 2 'no such base' matrix --policy linux-4.55 --change activate_on_write=never
exits 2 'no such metric' matrix --change activate_on_write=always --metric reread_byte
says err 'nearest: reread_bytes'
exits 2 'no such corpus' matrix --change activate_on_write=always --corpus corpse
says err 'nearest: corpus'
exits 2 'corpus and scenario' matrix --change activate_on_write=always --corpus corpus hello
exits 2 'no such scenario' matrix --change activate_on_write=always helo
says err 'nearest: hello'
exits 2 'no seeds' matrix --change activate_on_write=always --seeds 0
says err 'from 1 to'

# What the scenarios of the corpus say of themselves: "# loses [METRIC]: POLICY KEY=VALUE..."
for file in scenarios/corpus/*.yaml; do
	name=corpus/$(basename "$file" .yaml)
	ok "$name says what it is for" grep -qE '^# (wins|loses|stays)[ :]' "$file"
	while read -r verdict metric policy changes; do
		arguments=()
		for change in $changes; do
			arguments+=(--change "$change")
		done
		case $verdict in wins) want=winners ;; loses) want=losers ;; stays) want=unchanged ;; esac
		exits 0 "$name under $policy, $changes" matrix "$name" --policy "$policy" "${arguments[@]}" --metric "$metric" --json
		says out "\"$want\": 1"
	done < <(sed -nE 's/^# (wins|loses|stays): /\1 reread_bytes /p; s/^# (wins|loses|stays) ([a-z_]+): /\1 \2 /p' "$file")
done
tap_done
