# If this fails, a package of refault is broken: files missing, pkg-config wrong, or the library of no use to others.
source test/tap.bash

[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'only the plain build is installed'
cc=${REFAULT_CC:-cc}
root=$scratch/root
# A copy of what is built: another PREFIX links the program anew, and other tests are using it.
mkdir "$scratch/build"
(cd "${REFAULT_BUILD:-$PWD/build}" && cp -a obj flags prefix refault librefault* man completion "$scratch/build/")
unset MAKEFLAGS MAKELEVEL MFLAGS
make=(make --no-print-directory BUILD="$scratch/build" CC="$cc" PREFIX=/usr DESTDIR="$root")

exits 0 'make install' "${make[@]}" install
for file in bin/refault lib/librefault.a lib/librefault.so lib/librefault.so.0 lib/pkgconfig/refault.pc share/man/man1/refault.1 \
	share/man/man1/refault-replay.1 $(printf 'share/refault/%s ' $(ls scenarios/*.yaml scenarios/*/*.yaml devices/*.yaml 2>/dev/null)) share/bash-completion/completions/refault \
	share/doc/refault/scenarios.md share/doc/refault/operations.md share/doc/refault/devices.md share/doc/refault/matrix.md share/doc/refault/runs.md; do
	ok "installed: $file" test -s "$root/usr/$file"
done
ok 'the program runs from there' "$root/usr/bin/refault" --version
echo 'machin: {}' >"$scratch/wrong.yaml"
exits 2 'a wrong scenario, told by the installed program' "$root/usr/bin/refault" run "$scratch/wrong.yaml"
says err "$root/usr/share/doc/refault/scenarios.md lists the keys"
ok 'the library shows nothing but refault_*' sh -c '! nm -D --defined-only "$0" | grep -v " refault_"' "$root/usr/lib/librefault.so"
ok 'nor does the static one' sh -c '! nm -g --defined-only "$0" | grep -E " [A-Z] " | grep -v " refault_"' "$root/usr/lib/librefault.a"

export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
flags=$(pkg-config --cflags --libs refault)
tap $? "pkg-config: $flags"
if [ -f examples/embed.c ] && [ -f include/refault.h ]; then
	ok 'embed.c compiles against the shared library' $cc -std=c11 -Wall -Wextra -Werror -o "$scratch/embed" examples/embed.c $flags
	ok 'and runs' env LD_LIBRARY_PATH="$root/usr/lib" "$scratch/embed"
	ok 'embed.c compiles against the static library' $cc -o "$scratch/embed-static" examples/embed.c -I"$root/usr/include" "$root/usr/lib/librefault.a"
	ok 'and runs' "$scratch/embed-static"
fi
exits 0 'make uninstall' "${make[@]}" uninstall
ok 'nothing is left' test -z "$(find "$root" ! -type d)"
tap_done
