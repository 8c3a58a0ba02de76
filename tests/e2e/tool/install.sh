#!/bin/sh
# make install and uninstall: what lies where, that it works from there, that nothing stays behind.
# The for loops are over names without blanks; a page is another file than the manual.
# shellcheck disable=SC2013,SC2094
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

make_install() { # GOAL VARIABLE=VALUE...
	"${MAKE:-make}" -s --no-print-directory -C "$TOP" "BUILD=${BUILD_AS_GIVEN:-$BUILD}" "$@"
}

version=$(sed -n 's/.*MEMTRACE_VERSION "\(.*\)"/\1/p' "$TOP/src/base/settings/version.h")
major=${version%%.*}

# --- staged ---------------------------------------------------------------------------------------------
stage=$PWD/stage
ok 'make install with DESTDIR' make_install install DESTDIR="$stage" PREFIX=/usr LIBDIR=/usr/lib/here
find stage ! -type d | sed 's/^stage//' | LC_ALL=C sort >there
sed -n 's/^file\t//p' stage/usr/share/memtrace/installed | LC_ALL=C sort >told
ok 'what is there is what the record tells' cmp there told
for file in bin/memtrace lib/here/libmemtrace.so include/memtrace/memtrace.h \
	share/memtrace/trace.schema.json share/man/man1/memtrace.1 share/man/man3/libmemtrace.3 \
	share/man/man7/libmemtrace.7 lib/here/pkgconfig/memtrace.pc share/bash-completion/completions/memtrace \
	share/zsh/site-functions/_memtrace share/doc/memtrace/LICENSE share/doc/memtrace/scripts.md \
	share/memtrace/python/pytest_memtrace.py share/memtrace/ci/action.yml share/memtrace/ci/github_api.py \
	share/memtrace/containers/kubernetes.yaml; do
	ok "usr/$file" test -s "stage/usr/$file"
done
is 'the library has a versioned name' "$(readlink -f "stage/usr/lib/here/libmemtrace.so")" \
	"$stage/usr/lib/here/libmemtrace.so.$version"
is 'its soname is the link that ldconfig would make' \
	"$(readelf -d stage/usr/lib/here/libmemtrace.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" "libmemtrace.so.$major"
ok 'Python finds its part' env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=stage/usr/share/memtrace/python "$PYTHON" -c 'import memtrace, memtrace_pools'
is 'the build folder is nowhere in them' "$(grep -rlF "$stage" stage/usr/lib/here/pkgconfig stage/usr/share)" ''
ok 'make uninstall' make_install uninstall DESTDIR="$stage" PREFIX=/usr LIBDIR=/usr/lib/here
is 'leaves nothing' "$(find stage -mindepth 1)" ''
fails 2 "nothing of memtrace is installed under $stage/usr" make_install uninstall DESTDIR="$stage" PREFIX=/usr
fails 2 'must begin with a slash' make_install install PREFIX=relative

# --- a prefix -------------------------------------------------------------------------------------------
prefix="$PWD/a prefix"
ok 'make install with PREFIX' make_install install PREFIX="$prefix"
fails 3 'the loader cannot preload a path with a space' "$prefix/bin/memtrace" run -- true
ok 'and away again' make_install uninstall PREFIX="$prefix"
ok 'the prefix is gone, it was made by us' test ! -e "$prefix"
prefix=$PWD/prefix
mkdir -p prefix/include/memtrace prefix/share/man/man1
echo theirs >prefix/share/man/man1/other.1
echo theirs >prefix/include/memtrace/other.h
ok 'make install beside what others have' make_install install PREFIX="$prefix"
ok 'twice' make_install install PREFIX="$prefix"
ok 'the tool finds the library beside it' env -u MEMTRACE_LIBRARY "$prefix/bin/memtrace" run -o one.json -- "$SAMPLES/leak"
ok 'the trace is there' validate one.json
ok 'the gate of CI runs from there' env MEMTRACE_BIN="$prefix/bin/memtrace" MEMTRACE_RUN="$SAMPLES/leak" MEMTRACE_BASELINE=base.json \
	MEMTRACE_RENEW=1 MEMTRACE_OUT=gate "$prefix/share/memtrace/ci/gate.sh"
# shellcheck disable=SC2016  # for that shell to expand
is 'of that very library' "$("$prefix/bin/memtrace" run -q -- sh -c 'echo "$LD_PRELOAD"')" "$prefix/lib/libmemtrace.so.$version"
ok 'by name, where the loader looks' env LD_LIBRARY_PATH="$prefix/lib:$LD_LIBRARY_PATH" \
	LD_PRELOAD=libmemtrace.so MEMTRACE_OUTPUT=two.json "$SAMPLES/leak"
ok 'the same trace' validate two.json
ok 'doctor finds it' sh -c "'$prefix/bin/memtrace' doctor | grep -F '$prefix/lib/libmemtrace.so'"
mv prefix moved
ok 'a moved prefix' moved/bin/memtrace run -o three.json -- "$SAMPLES/leak"
ok 'works as well' validate three.json
mkdir linked
ln -s "$PWD/moved/bin/memtrace" linked/memtrace
ok 'and through a link' linked/memtrace run -o four.json -- "$SAMPLES/leak"
mv moved prefix
mkdir prefix/lib/old
echo old >prefix/lib/old/left.so
printf 'file\t%s\nfolder\t%s\n' "$prefix/lib/old/left.so" "$prefix/lib/old" >>prefix/share/memtrace/installed
ok 'a newer version' make_install install PREFIX="$prefix"
ok 'takes away what an older one put' test ! -e prefix/lib/old/left.so
if command -v pkg-config >/dev/null; then
	printf '#include <memtrace/memtrace.h>\nint main(void) { memtrace_mark("here"); return 0; }\n' >user.c
	flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs memtrace)
	# shellcheck disable=SC2086  # words
	ok 'a program built with pkg-config' "${CC:-cc}" -Wall -Werror -o user user.c $flags
	ok 'runs without the library' ./user
	is 'pkg-config knows the version' "$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --modversion memtrace)" "$version"
	is 'and the library to preload' "$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --variable=library memtrace)" "$prefix/lib/libmemtrace.so"
else
	skip 'pkg-config' 'no pkg-config here'
fi

# --- the manual -----------------------------------------------------------------------------------------
page() { # NAME: as it is read, without what overstrikes
	MANWIDTH=500 man --warnings -P cat -E UTF-8 -l "$prefix/share/man/man${1##*.}/$1" 2>warnings | col -b
}
if command -v man >/dev/null && command -v col >/dev/null; then
	for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$TOP/src/cli/commands.def"); do
		page "memtrace-$command.1" >page
		is "memtrace-$command(1): no warning" "$(cat warnings)" ''
		memtrace "$command" --help | sed -n 's/^  .*--\([a-z-]*\).*/--\1/p' >options
		missing=
		while read -r option; do
			grep -q -e "$option" page || missing="$missing $option"
		done <options
		is "memtrace-$command(1) tells every option of its help" "$missing" ''
		page memtrace.1 >all
		has "memtrace(1) tells $command" all "memtrace-$command(1)"
	done
	page libmemtrace.7 >page
	is 'libmemtrace(7): no warning' "$(cat warnings)" ''
	for name in $(sed -n 's/^OPTION([a-z_]*, *"\([A-Z_]*\)",.*/\1/p' "$TOP/src/base/settings/opt.def"); do
		has "libmemtrace(7) tells MEMTRACE_$name" page "MEMTRACE_$name"
	done
	page libmemtrace.3 >page
	is 'libmemtrace(3): no warning' "$(cat warnings)" ''
	for name in $(sed -n 's/^DOOR(\(memtrace_[a-z_]*\),.*/\1/p' "$TOP/src/capture/exports/exports.def"); do
		has "libmemtrace(3) tells $name" page "$name("
	done
else
	skip 'the manual' 'no man here'
fi

ok 'make uninstall' make_install uninstall PREFIX="$prefix"
is 'leaves what others have' "$(find prefix ! -type d | LC_ALL=C sort)" \
	"$(printf 'prefix/include/memtrace/other.h\nprefix/share/man/man1/other.1')"
is 'and no folder of ours' "$(find prefix -type d -empty)" ''
