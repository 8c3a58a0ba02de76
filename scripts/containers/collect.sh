#!/bin/sh
# Puts the library, the tool and what they need into a folder that any image with a glibc as new takes as it is:
# collect.sh BUILD FOLDER. `make container` calls it.
#
#	bin/memtrace         the tool
#	lib/libmemtrace.so   the library
#	lib/libunwind.so.8   its unwinder; where the image lacks what that needs (liblzma), glibc's does
#	lib/tool/            the tool's libraries, which no traced program gets to see: they may be older than its own
set -eu

build=$1 folder=$2

mkdir -p "$folder/bin" "$folder/lib/tool"
install -m 755 "$build/container/memtrace" "$folder/bin/memtrace"
install -m 644 "$build/container/libmemtrace.so" "$folder/lib/libmemtrace.so"
unwind=$(ldconfig -p 2>/dev/null | sed -n 's/.*libunwind\.so\.8 .*=> //p' | head -n 1)
if [ -n "$unwind" ]; then
	install -m 644 "$unwind" "$folder/lib/libunwind.so.8"
else
	echo 'container: there is no libunwind.so.8 here to take along: run scripts/setup.sh' >&2
fi
ldd "$build/container/memtrace" | sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p' | while IFS= read -r file; do
	case ${file##*/} in
	# glibc is the image's own: one of another version would not do.
	ld-linux* | libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so*) ;;
	*) install -m 644 "$file" "$folder/lib/tool/${file##*/}" ;;
	esac
done
