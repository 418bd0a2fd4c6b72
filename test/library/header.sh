# If this fails, somebody's C or C++ program does not compile with include/refault.h, or clashes with a name of it.
source test/tap.bash

strict=(-pedantic -Wall -Wextra -Wshadow -Wundef -Werror -fsyntax-only -Iinclude)
printf '#include <refault.h>\n#include <refault.h>\nint main(void) { return refault_version() == 0; }\n' >"$scratch/use.c"
cp "$scratch/use.c" "$scratch/use.cc"
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	ok "C11 with $cc" $cc -std=c11 "${strict[@]}" "$scratch/use.c"
done
for cxx in g++ clang++; do
	echo 'int main() { return 0; }' >"$scratch/empty.cc"
	$cxx -fsyntax-only "$scratch/empty.cc" 2>/dev/null || continue
	ok "C++11 with $cxx" $cxx -std=c++11 "${strict[@]}" "$scratch/use.cc"
done

# What the header declares, and what it defines for the preprocessor: ours all of it.
sed -E 's|/\*.*\*/||; /\/\*/,/\*\//d' include/refault.h >"$scratch/code"
ok 'functions begin with refault_' sh -c '! grep -oE "[a-z_0-9]+\(" "$0" | grep -v "^refault_" | grep -v "^push("' "$scratch/code"
ok 'types begin with refault_' sh -c '! grep -oE "^(struct|enum) [a-z_0-9]+" "$0" | grep -v " refault_"' "$scratch/code"
ok 'macros and constants begin with REFAULT_' sh -c \
	'! { sed -nE "s/^#define ([A-Za-z_0-9]+).*/\1/p; s/^\t([A-Z][A-Z_0-9]+)( = [0-9]+)?,.*/\1/p" "$0"; } | grep -v "^REFAULT_"' "$scratch/code"

# Each function that is declared is there, and the header says the version that everything else says.
library=${REFAULT_BUILD:-build}/librefault.so
if [ -f "$library" ]; then
	grep -oE 'refault_[a-z_0-9]+\(' "$scratch/code" | tr -d '(' | sort -u >"$scratch/declared"
	nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u >"$scratch/defined"
	ok 'the library has these functions and no others' diff "$scratch/declared" "$scratch/defined"
fi
version=$(sed -nE 's/^#define REFAULT_VERSION "([^"]*)".*/\1/p' include/refault.h)
ok "version $version is the program's" sh -c '"$0" --version | grep -qF "refault $1"' "$REFAULT" "$version"
tap_done
