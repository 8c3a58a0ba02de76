#!/bin/sh
# Programs with rights of their own (setuid, capabilities): the loader leaves the library out, or it is
# linked and stands still. Nothing is written, nothing that the environment says is done.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip 'programs with rights of their own' 'only root can make some'
	exit 0
fi
need setpriv

chmod 755 . "$MEMTRACE_TEST_TMP"
mkdir -m 777 out
mkdir bin lib
cp "$LIBRARY" "$BUILD"/fake/lib*.so* lib/ && chmod -R a+rX lib
cat >owner.c <<'C'
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(void)
{
	void *ptr = NULL;
	int error = cudaMalloc(&ptr, 4096) + cudaFree(ptr);

	printf("uid=%d secure=%lu error=%d injection=%s\n", (int)geteuid(), getauxval(AT_SECURE), error,
	       getenv("CUDA_INJECTION64_PATH") ? "set" : "unset");
	return error;
}
C
# An absolute path of the program's own is searched even with another's rights.
"${CC:-cc}" -O1 -I"$TOP/tests/fake/include" -o bin/plain owner.c -Llib -lcudart \
	-Wl,-rpath,"$PWD/lib,--disable-new-dtags" || exit 1
"${CC:-cc}" -O1 -I"$TOP/tests/fake/include" -o bin/linked owner.c -Llib -Wl,--no-as-needed -lmemtrace -lcudart \
	-Wl,-rpath,"$PWD/lib,--disable-new-dtags" || exit 1
ln -sf libmemtrace.so "lib/libmemtrace.so.$(readelf -d "$LIBRARY" | sed -n 's/.*soname: \[libmemtrace\.so\.\(.*\)\]/\1/p')"

# as_nobody PROGRAM: with all that could tempt the library
as_nobody() {
	(cd out && setpriv --reuid=65534 --regid=65534 --clear-groups env -u LD_LIBRARY_PATH \
		MEMTRACE_OUTPUT="$MEMTRACE_TEST_TMP/out/%e.json" MEMTRACE_SPOOL_DIR="$MEMTRACE_TEST_TMP/out" \
		LD_PRELOAD="$MEMTRACE_TEST_TMP/lib/libmemtrace.so" "$MEMTRACE_TEST_TMP/bin/$1") \
		>"$OUT" 2>"$ERR" </dev/null
}

left() {
	find out -mindepth 1 | sort
}

# Without rights of its own: what is watched for below does happen.
as_nobody plain
is 'nobody, without special rights: it is traced' "$?:$(cat "$OUT"):$(left)" \
	'0:uid=65534 secure=0 error=0 injection=set:out/plain.json'
rm -f out/*
as_nobody linked
is 'nobody, linked with the library: traced, too' "$?:$(left)" 0:out/linked.json
rm -f out/*

chmod u+s bin/plain bin/linked
as_nobody plain
if ! grep -q secure=1 "$OUT"; then
	skip 'setuid' 'this file system gives no rights'
	exit 0
fi
is 'setuid: the loader leaves the library out' "$?:$(cat "$OUT"):$(cat "$ERR"):$(left)" \
	'0:uid=0 secure=1 error=0 injection=unset::'
as_nobody linked
is 'setuid, linked with the library: it stands still' "$?:$(cat "$OUT"):$(cat "$ERR"):$(left)" \
	'0:uid=0 secure=1 error=0 injection=unset::'
chmod u-s bin/plain bin/linked
if command -v setcap >/dev/null && setcap cap_net_raw+ep bin/linked 2>/dev/null; then
	as_nobody linked
	is 'capabilities, linked with the library: it stands still' "$?:$(cat "$OUT"):$(cat "$ERR"):$(left)" \
		'0:uid=65534 secure=1 error=0 injection=unset::'
else
	skip 'capabilities' 'none can be given here'
fi
