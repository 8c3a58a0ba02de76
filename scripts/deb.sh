#!/bin/sh
# BUILD/memtrace_VERSION_ARCH.deb from what `make install` installs, with dpkg-deb alone.
#
# The maintainer is DEBFULLNAME and DEBEMAIL; SOURCE_DATE_EPOCH makes the same bytes again.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}" "${VERSION:=}"
maintainer="${DEBFULLNAME:-memtrace authors} <${DEBEMAIL:-memtrace@example.org}>"

fail() {
	echo "deb: $*" >&2
	exit 1
}

for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture strip; do
	command -v "$tool" >/dev/null || fail "$tool is missing: run scripts/setup.sh"
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
arch=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
major=${VERSION%%.*}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
doc=$root/usr/share/doc/memtrace
umask 022

BUILD=$BUILD PREFIX=/usr LIBDIR=/usr/lib/$triplet DESTDIR=$root VERSION=$VERSION sh scripts/install.sh install
# dpkg keeps its own record, Debian its own place for completion and for the licence.
rm "$root/usr/share/memtrace/installed" "$doc/LICENSE"
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_memtrace" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
install -D -m 644 scripts/debian/lintian-overrides "$root/usr/share/lintian/overrides/memtrace"
strip --strip-unneeded --remove-section=.comment --remove-section=.note \
	"$root/usr/bin/memtrace" "$root/usr/lib/$triplet/libmemtrace.so.$VERSION"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
# The licence as the paragraph of a control file: indented, a dot for an empty line.
{
	sed '/@LICENSE@/d' scripts/debian/copyright
	sed -n '/^Permission/,$p' LICENSE | sed -e 's/^$/./' -e 's/^/ /'
} >"$doc/copyright"
{
	printf 'memtrace (%s) unstable; urgency=medium\n\n' "$VERSION"
	printf '  * Version %s; what changed is in the history of the sources.\n\n' "$VERSION"
	printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$doc/changelog.gz"

# dpkg-shlibdeps reads debian/control of the folder it runs in, and writes debian/substvars.
mkdir -p "$work/debian" "$root/DEBIAN"
printf 'Source: memtrace\n\nPackage: memtrace\nArchitecture: any\n' >"$work/debian/control"
(
	cd "$work"
	dpkg-shlibdeps -O -e"$root/usr/bin/memtrace" \
		-e"$root/usr/lib/$triplet/libmemtrace.so.$VERSION" 2>"$work/shlibdeps.log" >"$work/depends"
) || {
	cat "$work/shlibdeps.log" >&2
	fail 'dpkg-shlibdeps could not tell the dependencies'
}
size=$(du -sk --apparent-size "$root/usr" | cut -f 1)
sed -e "s/@VERSION@/$VERSION/" -e "s/@ARCH@/$arch/" -e "s/@MAINTAINER@/$maintainer/" \
	-e "s/@SIZE@/$size/" -e "s/@DEPENDS@/$(sed -n 's/^shlibs:Depends=//p' "$work/depends")/" \
	scripts/debian/control.in >"$root/DEBIAN/control"
echo "libmemtrace $major memtrace (>= $major)" >"$root/DEBIAN/shlibs"
echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"

package=$BUILD/memtrace_${VERSION}_$arch.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
