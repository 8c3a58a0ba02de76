#!/bin/sh
# Makes the pictures of the page that README shows, tests/data/page-*.png: wants `make test-programs`,
# Chromium and its fonts. The same sources give the same pictures.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
PAGE_MODULES=$PWD/$BUILD/page/work
export PAGE_MODULES

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$BUILD/memtrace" html tests/data/recorded/train.json -o "$folder/train.html"
"$BUILD/tests/generator" --events 6000 --live 120 --stacks 24 --leak --growth 4000000 --json "$folder/run.json" >/dev/null
"$BUILD/memtrace" html "$folder/run.json" -o "$folder/run.html"
spans=
if [ -e tests/data/recorded/cupti.json ]; then # recorded with MEMTRACE_CUPTI=1
	"$BUILD/memtrace" html tests/data/recorded/cupti.json -o "$folder/cupti.html"
	spans=cupti
fi
# shellcheck disable=SC2086  # nothing, or a word
node tests/page/screenshots.mjs "$folder" $spans
for picture in "$folder"/page-*.png; do
	[ "$(wc -c <"$picture")" -le 150000 ] || {
		echo "screenshots: ${picture##*/} is larger than 150 kB" >&2
		exit 1
	}
	cp "$picture" tests/data/
	ls -l "tests/data/${picture##*/}"
done
