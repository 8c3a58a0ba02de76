#!/bin/sh
# The wheel under glibc 2.31, 2.36 and 2.41: installed in small systems of Debian 11, 12 and 13, it records
# the same of the same programs. They, and the simulated CUDA, are built once, in Debian 11. A library that is
# built in Debian 13 needs nothing newer than one of Debian 11. TORCH=no: without the systems' PyTorch.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}" "${MAKE:=make}"
export BUILD
suites='bullseye bookworm trixie'
results=$BUILD/glibc

wheel=$("$MAKE" --no-print-directory SETUP=no wheel | tail -n 1)
echo "$wheel"
sh scripts/chroot.sh bullseye make SETUP=no "BUILD=$BUILD/wheel" STATIC=1 PAGE= fake samples
sh scripts/chroot.sh trixie make SETUP=no "BUILD=$BUILD/trixie" PAGE= "$BUILD/trixie/libmemtrace.so"
for library in "$BUILD/wheel/libmemtrace.so" "$BUILD/trixie/libmemtrace.so"; do
	floor=$(sh scripts/glibc-floor.sh "$library")
	echo "$library: glibc 2.$floor"
	[ "$floor" -le 17 ]
done
rm -rf "$results"
for suite in $suites; do
	echo "$suite"
	[ "${TORCH:-}" = no ] || sh scripts/chroot.sh "$suite" sh -c 'python3 -c "import torch" 2>/dev/null ||
		{ apt-get -qq update && apt-get -qq -y --no-install-recommends install python3-torch; } >/dev/null 2>&1'
	sh scripts/chroot.sh "$suite" sh tests/glibc/run.sh "$wheel" "$BUILD/wheel" "$results/$suite"
	echo "  glibc $(cat "$results/$suite/glibc"): $(find "$results/$suite" -name '*.json' | wc -l) traces"
done
# shellcheck disable=SC2086  # words
python3 tests/validate.py "$results"/*/*.json
# shellcheck disable=SC2086
(cd "$results" && python3 "$OLDPWD/tests/glibc/agree.py" $suites)
