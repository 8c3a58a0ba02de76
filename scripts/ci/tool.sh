#!/bin/sh
# The tool of the job: from a wheel if one is given, else the one that is on PATH. Says its version.
#
#	MEMTRACE_WHEEL   a wheel: a path or an address; `#sha256=...` behind it is held by pip
#	MEMTRACE_BIN     the tool where there is no wheel (memtrace)
#	MEMTRACE_PYTHON  the Python whose pip unpacks the wheel (python3)
#	RUNNER_TEMP      where to; GITHUB_PATH, GITHUB_ENV and GITHUB_OUTPUT tell the steps that follow
#
# The wheel goes into a folder of its own, in front of PATH and PYTHONPATH: nothing of the job's Python is changed, and
# one that is managed by a distribution does not refuse.
set -u

: "${MEMTRACE_WHEEL:=}" "${MEMTRACE_BIN:=memtrace}" "${MEMTRACE_PYTHON:=python3}" "${RUNNER_TEMP:=${TMPDIR:-/tmp}}"

fail() {
	echo "memtrace: $*" >&2
	exit 1
}

tell() { # FILE-OF-THE-PLATFORM LINE
	[ -z "$1" ] || echo "$2" >>"$1"
}

tool=$MEMTRACE_BIN
if [ -n "$MEMTRACE_WHEEL" ]; then
	folder=$RUNNER_TEMP/memtrace-wheel
	"$MEMTRACE_PYTHON" -m pip --version >/dev/null 2>&1 || fail "$MEMTRACE_PYTHON has no pip to unpack the wheel with"
	rm -rf "$folder"
	"$MEMTRACE_PYTHON" -m pip --disable-pip-version-check install --quiet --no-deps --no-index --target "$folder" \
		"$MEMTRACE_WHEEL" || fail "the wheel cannot be installed: $MEMTRACE_WHEEL"
	tool=$folder/bin/memtrace
	[ -x "$tool" ] || fail "there is no memtrace in the wheel $MEMTRACE_WHEEL"
	tell "${GITHUB_PATH:-}" "$folder/bin"
	tell "${GITHUB_ENV:-}" "PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}"
	PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}
	export PYTHONPATH
fi
command -v "$tool" >/dev/null || fail "there is no $tool on PATH: give a wheel, or install it (scripts/README.md)"
"$tool" --version || fail "$tool does not run here"
tell "${GITHUB_OUTPUT:-}" "memtrace=$tool"
