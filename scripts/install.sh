#!/bin/sh
# Puts what was built under a prefix, and takes it away again: install.sh install|uninstall.
#
# PREFIX, LIBDIR, DESTDIR, BUILD and VERSION come from the Makefile. What was put there, and which
# folders had to be made for it, is written to share/memtrace/installed: uninstall removes exactly
# that, so what other versions have put there or others have added stays.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}" "${PREFIX:=/usr/local}" "${LIBDIR:=$PREFIX/lib}" "${DESTDIR:=}" "${VERSION:=}"
tab=$(printf '\t')
record=$PREFIX/share/memtrace/installed

fail() {
	echo "install: $*" >&2
	exit 1
}

# mode, source (or the text of a link), destination: everything that is installed, one a line.
files() {
	major=${VERSION%%.*}
	row 755 "$BUILD/memtrace" "$PREFIX/bin/memtrace"
	row 644 "$BUILD/libmemtrace.so" "$LIBDIR/libmemtrace.so.$VERSION"
	row link "libmemtrace.so.$VERSION" "$LIBDIR/libmemtrace.so.$major"
	row link "libmemtrace.so.$major" "$LIBDIR/libmemtrace.so"
	for file in include/memtrace/*.h; do
		row 644 "$file" "$PREFIX/include/memtrace/${file##*/}"
	done
	for file in include/memtrace/*.schema.json; do
		row 644 "$file" "$PREFIX/share/memtrace/${file##*/}"
	done
	for file in memtrace_pools.py pytest_memtrace.py; do
		row 644 "scripts/$file" "$PREFIX/share/memtrace/python/$file"
	done
	for file in scripts/python/memtrace/*.py; do
		row 644 "$file" "$PREFIX/share/memtrace/python/memtrace/${file##*/}"
	done
	for file in scripts/ci/*; do
		row "$(if [ -x "$file" ]; then echo 755; else echo 644; fi)" "$file" "$PREFIX/share/memtrace/ci/${file##*/}"
	done
	row 644 samples/queries.sql "$PREFIX/share/memtrace/queries.sql"
	for file in "$BUILD"/share/*.[1-9]; do
		row 644 "$file" "$PREFIX/share/man/man${file##*.}/${file##*/}"
	done
	row 644 "$BUILD/share/memtrace.bash" "$PREFIX/share/bash-completion/completions/memtrace"
	row 644 "$BUILD/share/memtrace.zsh" "$PREFIX/share/zsh/site-functions/_memtrace"
	for file in scripts/containers/Dockerfile scripts/containers/kubernetes.yaml; do
		row 644 "$file" "$PREFIX/share/memtrace/containers/${file##*/}"
	done
	row 644 README.md "$PREFIX/share/doc/memtrace/README.md"
	row 644 scripts/README.md "$PREFIX/share/doc/memtrace/scripts.md"
	row 644 LICENSE "$PREFIX/share/doc/memtrace/LICENSE"
	row pc scripts/memtrace.pc.in "$LIBDIR/pkgconfig/memtrace.pc"
}

row() {
	printf '%s\t%s\t%s\n' "$@"
}

# Makes the folder, telling each one that was not there.
folder() { # PATH, without DESTDIR
	[ ! -d "$DESTDIR$1" ] && [ "$1" != / ] || return 0
	folder "$(dirname "$1")"
	mkdir "$DESTDIR$1"
	printf 'folder\t%s\n' "$1"
}

put() { # MODE SOURCE DESTINATION
	target=$DESTDIR$3
	# A new file in the place of the old one: programs that run keep theirs.
	rm -f "$target"
	case $1 in
	link) ln -s "$2" "$target" ;;
	pc)
		sed -e "s|@PREFIX@|$PREFIX|" -e "s|@LIBDIR@|$LIBDIR|" -e "s|@VERSION@|$VERSION|" "$2" >"$target"
		chmod 644 "$target"
		;;
	*) install -m "$1" "$2" "$target" ;;
	esac
	printf 'file\t%s\n' "$3"
}

install_all() {
	case $PREFIX$LIBDIR$DESTDIR in
	*"$tab"* | *[\|\&\\]*) fail 'PREFIX, LIBDIR and DESTDIR may hold no tab, |, & or backslash' ;;
	esac
	case $PREFIX:$LIBDIR in
	/*:/*) ;;
	*) fail "PREFIX and LIBDIR must begin with a slash: $PREFIX $LIBDIR" ;;
	esac
	before=$(cat "$DESTDIR$record" 2>/dev/null || true)
	new=$(mktemp)
	trap 'rm -f "$new"' EXIT
	umask 022
	[ -z "$DESTDIR" ] || mkdir -p "$DESTDIR"
	{
		folder "$(dirname "$record")"
		files | while IFS=$tab read -r mode source destination; do
			folder "$(dirname "$destination")"
			put "$mode" "$source" "$destination"
		done
		printf 'file\t%s\n' "$record"
	} >"$new"
	# What an earlier install made is still ours; what it put and we do not goes.
	if [ -n "$before" ]; then
		printf '%s\n' "$before" | while IFS=$tab read -r kind path; do
			grep -qxF "$kind$tab$path" "$new" && continue
			if [ "$kind" = folder ]; then
				printf '%s\t%s\n' "$kind" "$path" >>"$new"
			else
				rm -f "$DESTDIR$path"
			fi
		done
	fi
	install -m 644 "$new" "$DESTDIR$record"
	refresh
}

uninstall_all() {
	[ -e "$DESTDIR$record" ] || fail "nothing of memtrace is installed under $DESTDIR$PREFIX"
	list=$(cat "$DESTDIR$record")
	printf '%s\n' "$list" | while IFS=$tab read -r kind path; do
		[ "$kind" != file ] || rm -f "$DESTDIR$path"
	done
	# The deepest first; what holds something of others stays.
	printf '%s\n' "$list" | sed -n "s/^folder$tab//p" | LC_ALL=C sort -r | while read -r path; do
		rmdir "$DESTDIR$path" 2>/dev/null || true
	done
	refresh
}

# The loader's cache: LD_PRELOAD=libmemtrace.so by name needs it. Who stages for a package has it
# done by the package manager; who is not root has no say in it.
refresh() {
	[ -z "$DESTDIR" ] && [ "$(id -u)" = 0 ] || return 0
	case $LIBDIR in
	/usr/* | /lib*) ldconfig 2>/dev/null || true ;;
	esac
}

case ${1:-} in
install) install_all ;;
uninstall) uninstall_all ;;
*) fail 'usage: scripts/install.sh install|uninstall' ;;
esac
