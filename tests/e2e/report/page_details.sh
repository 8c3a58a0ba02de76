#!/bin/sh
# The page of `memtrace html` in a browser: what is behind a click, a key and a finger.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../page/browse.sh
. "$TOP/tests/page/browse.sh"

for name in train cupti nccl oom; do
	recorded=$TOP/tests/data/recorded/$name.json
	[ $name != oom ] || recorded=$TOP/tests/data/recorded/oom-limit.json
	cp "$recorded" $name.json
	memtrace html $name.json -o $name.html
	memtrace report --json $name.json >$name.report.json
done
ok 'a trace of several devices' "$BUILD/tests/generator" --events 6000 --devices 3 --json devices.json
memtrace html devices.json -o devices.html
memtrace report --json devices.json >devices.report.json
ok 'a base with steps' "$BUILD/tests/generator" --events 20000 --json base.json
ok 'a head' "$BUILD/tests/generator" --events 24000 --growth 3000000 --json head.json
memtrace html base.json head.json -o two.html
memtrace diff --format json --limit 0 base.json head.json >two.json
browse details "$PWD"
