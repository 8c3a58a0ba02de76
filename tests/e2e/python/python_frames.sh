#!/bin/sh
# Compares the library's view of Python frames with Python's own, under every Python that is here.
#
#	python_frames.sh BUILD
#
# BUILD/tests/python_probe.so must have been built. TAP on stdout; ends 1 when anything differs.
# PYTHONS="python3.14 /opt/bin/python3 ..." asks those and no others.
set -u

build=${1:?usage: python_frames.sh BUILD}
here=$(cd "$(dirname "$0")" && pwd)
probe=$build/tests/python_probe.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0
failed=0
tested=

# What an aspect printed, numbered and with its Python's name; "Bail out" here is one failure more.
tell()
{
	while IFS= read -r line; do
		case $line in
		"ok - "* | "not ok - "*)
			number=$((number + 1))
			echo "${line%% - *} $number - python $1: ${line#* - }" ;;
		*)
			echo "# $line" ;;
		esac
		case $line in "not ok"*) failed=1 ;; esac
	done <"$work/out"
}

# aspect PYTHON VERSION ASPECT: a crash and a hang are failures too. MALLOC_PERTURB_ overwrites what is
# freed, so that a look at a dead thread's state is seen.
aspect()
{
	MALLOC_PERTURB_=165 timeout 120 "$1" -W ignore "$here/python_frames.py" "$probe" "$3" \
		>"$work/out" 2>"$work/err"
	status=$?
	if [ "$status" -gt 1 ] || { [ "$status" -eq 1 ] && ! grep -q '^not ok' "$work/out"; }; then
		sed 's/^/# /' "$work/err" >>"$work/out"
		echo "not ok - '$3' ended with status $status" >>"$work/out"
	fi
	tell "$2"
}

for python in ${PYTHONS:-python3 /usr/bin/python3 /usr/bin/python3-dbg "$HOME"/.pyenv/versions/*/bin/python3}; do
	# The program itself, not a shim before it, and each only once.
	program=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null) ||
		continue
	version=$("$program" -c 'import sys; sys.version_info >= (3, 8) and \
print("%d.%d.%d%s" % (sys.version_info[:3] + (getattr(sys, "abiflags", ""),)))' 2>/dev/null)
	case " $tested" in *" $program "*) continue ;; esac
	[ -n "$version" ] || continue
	tested="$tested$program "
	if [ ! -e "$probe" ]; then
		number=$((number + 1))
		failed=1
		echo "not ok $number - python $version: there is no $probe"
		continue
	fi
	for each in all end refusal-none refusal-future refusal-shifted refusal-old refusal-other \
		refusal-partial; do
		aspect "$program" "$version" "$each"
	done
	versions="${versions:-}${versions:+, }$version ($program)"
done

echo "1..$number$([ "$number" -gt 0 ] || echo ' # SKIP no Python from 3.8 on is here')"
echo "# tested: ${versions:-nothing}"
exit "$failed"
