#!/bin/sh
# make deb: the package installs, works and goes without a trace, in a root of its own.
#
# REAL=1 (check-all) also installs it into this very system, if memtrace is not installed there.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture; do
	need "$tool"
done

version=$(sed -n 's/.*MEMTRACE_VERSION "\(.*\)"/\1/p' "$TOP/src/base/settings/version.h")
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
make_deb() {
	"${MAKE:-make}" -s --no-print-directory -C "$TOP" "BUILD=${BUILD_AS_GIVEN:-$BUILD}" deb
}

ok 'make deb' make_deb
package=$BUILD/memtrace_${version}_$(dpkg --print-architecture).deb
ok 'the package is there' test -s "$package"
cp "$package" first.deb
ok 'built again' make_deb
ok 'it is the same to the byte' cmp "$package" first.deb
is 'it depends on libc' "$(dpkg-deb -f first.deb Depends | grep -c 'libc6 (>= ')" 1
is 'and holds nothing outside /usr' "$(dpkg-deb -c first.deb | awk '$6 !~ /^\.\/(usr\/|$)/ { print $6 }' | grep -vx ./usr/)" ''
is 'all of it belongs to root' "$(dpkg-deb -c first.deb | awk '{ print $2 }' | sort -u)" root/root

if command -v lintian >/dev/null; then
	lintian --allow-root first.deb >tags 2>&1
	is 'lintian finds no error and nothing to warn of' "$(grep '^[EW]:' tags)" ''
else
	skip 'lintian' 'no lintian here'
fi

if [ "$(id -u)" != 0 ]; then
	skip 'dpkg -i' 'only root may'
	exit 0
fi

# --- a root of its own ----------------------------------------------------------------------------------
root=$PWD/root
mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates root/var/lib/dpkg/triggers root/etc root/tmp
cp /var/lib/dpkg/status root/var/lib/dpkg/ # so that dependencies are looked at
echo "$libdir" >root/etc/ld.so.conf
in_root() {
	dpkg --root="$root" --force-script-chrootless --log="$PWD/dpkg.log" "$@"
}
state() {
	dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Abbrev}' memtrace 2>/dev/null
}
find root | LC_ALL=C sort >before
ok 'dpkg -i' in_root -i first.deb
case $(state) in
ii* | it* | iW*) tap '' 'it is installed' ;;
*) is 'it is installed' "$(state)" 'ii ' ;;
esac
ok 'the files are whole' sh -c "cd '$root' && md5sum --quiet -c var/lib/dpkg/info/memtrace.md5sums"
ok 'ldconfig, which the package asks for' ldconfig -r "$root"
has 'the trigger' root/var/lib/dpkg/info/memtrace.triggers 'activate-noawait ldconfig'
ok 'the loader knows the library by name' sh -c "ldconfig -r '$root' -p | grep -F '	libmemtrace.so ('"

# What a program needs, put beside it; the loader is told of it, and of us, as on any system.
cp -L "$SAMPLES/leak" root/leak
ldd "$SAMPLES/leak" "$root/usr/bin/memtrace" |
	sed -n -e 's/.* => \(\/.*\) (.*/\1/p' -e 's/^[ \t]*\(\/[^ ]*ld-linux[^ ]*\) (.*/\1/p' | sort -u >needed
echo "$BUILD/fake/libcuda.so.1" >>needed
mkdir -p root/needed
while read -r file; do
	case $file in
	*/ld-linux*) install -D "$file" "root$file" ;;
	*) cp -L "$file" root/needed/ ;;
	esac
done <needed
echo /needed >>root/etc/ld.so.conf
ldconfig -r "$root"
# Without /proc, too, as it is in a new root.
inside() { # VARIABLE=VALUE... PROGRAM WORD...
	env -u LD_LIBRARY_PATH "$PYTHON" -c '
import os, sys
os.chroot(sys.argv[1])
os.chdir("/tmp")
words = sys.argv[2:]
while "=" in words[0]:
    os.environ.__setitem__(*words.pop(0).split("=", 1))
os.execv(words[0], words)' "$root" "$@"
}
if inside /leak >/dev/null 2>&1; then
	ok 'memtrace run' inside /usr/bin/memtrace run -q -o /tmp/run.json -- /leak
	ok 'leaves a trace' validate root/tmp/run.json
	ok 'LD_PRELOAD=libmemtrace.so, by name alone' inside LD_PRELOAD=libmemtrace.so MEMTRACE_OUTPUT=/tmp/name.json /leak
	ok 'leaves a trace as well' validate root/tmp/name.json
else
	skip 'LD_PRELOAD=libmemtrace.so' 'no program starts in a new root here'
fi
rm -rf root/leak root/needed root/tmp/* root/lib root/lib64 root/etc/ld.so.cache

ok 'dpkg -r' in_root -r memtrace
is 'leaves no file' "$(find root/usr ! -type d -name '*memtrace*' 2>/dev/null)" ''
ok 'again' in_root -i first.deb
ok 'dpkg -P' in_root -P memtrace
is 'it is not known any more' "$(state)" ''

# --- this system ----------------------------------------------------------------------------------------
if [ -z "${REAL:-}" ]; then
	skip 'installed into this system' 'only with REAL=1'
elif dpkg-query -W memtrace >/dev/null 2>&1; then
	skip 'installed into this system' 'memtrace is installed here already'
else
	ok 'dpkg -i into this system' dpkg -i first.deb
	ok 'memtrace run finds its library' env -u MEMTRACE_LIBRARY /usr/bin/memtrace run -o real.json -- "$SAMPLES/leak"
	ok 'a trace' validate real.json
	ok 'LD_PRELOAD=libmemtrace.so' env LD_PRELOAD=libmemtrace.so MEMTRACE_OUTPUT=name.json "$SAMPLES/leak"
	ok 'by name' validate name.json
	ok 'dpkg -P' dpkg -P memtrace
	is 'leaves nothing' "$(find /usr/bin /usr/lib /usr/share /usr/include -name '*memtrace*' 2>/dev/null)" ''
fi
