#!/bin/sh
# The page of `memtrace html`, and what people do with it in a browser.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

recorded=$TOP/tests/data/recorded
GENERATOR=$BUILD/tests/generator

# --- the tool, which needs no browser -------------------------------------------------------------------

# As `make` links it where there is no npm.
cp "$TOP/src/render/page/page_bundle.S" empty.S
if [ -f "$BUILD/tests/tool.a" ] && [ -z "${SAN:-}" ]; then
	# shellcheck disable=SC2086  # words
	ok 'a tool without the page' ${CC:-cc} -o without empty.S "$BUILD/cli/cli/main.o" "$BUILD/tests/tool.a" \
		${TOOL_LIBS:?make tells}
	fails 2 'install npm (scripts/setup.sh does) and run make again' ./without html "$recorded/train.json" -o none.html
	ok 'leaves nothing' test ! -e none.html
fi
[ -s "$BUILD/page/page.html" ] || need npm
if [ ! -s "$BUILD/page/page.html" ]; then
	skip 'the page' 'npm reached no registry'
	exit 0
fi
ok 'a page' memtrace html "$recorded/train.json" -o train.html
is 'is one file without a reference to another' "$(grep -ciE '<link|src=|href=|@import|url\(' train.html)" 0
ok 'the same again' memtrace html "$recorded/train.json" -o again.html
ok 'is the same page' cmp train.html again.html
ok 'to standard output' memtrace html "$recorded/train.json"
cp "$OUT" stdout.html
ok 'the same page' cmp train.html stdout.html
fails 3 'is a baseline' memtrace html "$recorded/change-none.json" -o baseline.html
fails 3 'is a baseline' memtrace html "$recorded/change-none.json"
is 'nothing is drawn of it' "$(cat "$OUT")" ''
fails 3 'train.html' memtrace html train.html -o page.html
ok 'half a page does not stay' test ! -e baseline.html -a ! -e page.html
fails 2 'memtrace html --help' memtrace html
fails 3 'No such file' memtrace html "$recorded/train.json" missing.json -o page.html
fails 3 'None' memtrace html "$recorded/train.json" -o None/page.html

ok 'a page without names' memtrace html --anonymize "$recorded/train.json" -o nameless.html
for name in train.py Block.attend Model.forward /opt/memtrace 'step 0' /home/u '"vm"' 2026-11-26T16:45:49 libcublas.so.13 Linear.forward; do
	case $name in
	2026* | libcublas* | Linear*) has "what everybody knows stays: $name" nameless.html "$name" ;;
	*) hasnt "nothing of $name" nameless.html "$name" ;;
	esac
done
ok "XLA's names have notes behind them" memtrace html --anonymize "$recorded/jax.json" -o nameless.html
hasnt 'which are names, too' nameless.html 'hlo_op'

ok 'a pool that the program named' "$GENERATOR" --events 300 --pool secret-pool --json pool.json
ok 'on a page without names' memtrace html --anonymize pool.json -o pool.html
hasnt 'has none' pool.html secret-pool

# --- in a browser ---------------------------------------------------------------------------------------

# shellcheck source=../../page/browse.sh
. "$TOP/tests/page/browse.sh"
cp "$recorded/train.json" train.json
memtrace html train.json -o train.html
browse views "$PWD"

# --- two traces, hostile ones, gaps ---------------------------------------------------------------------

ok 'a base' "$GENERATOR" --events 4000 --json base.json
ok 'a head' "$GENERATOR" --events 4000 --growth 300000 --json head.json
ok 'a page of both' memtrace html base.json head.json -o diff.html
memtrace diff --format json --limit 0 base.json head.json >diff.json
memtrace report --json head.json >head.report.json
memtrace report --json base.json >base.report.json
ok 'a trace that lacks events' "$GENERATOR" --events 30000 --max-events 4000 --live 300 --json gap.json
ok 'its page' memtrace html gap.json -o gap.html
memtrace report --json gap.json >gap.report.json
cp "$recorded/jax.json" jax.json
ok 'and one that begins again with ranges' memtrace html jax.json -o jax.html
ok 'hostile names' "$PYTHON" "$TOP/tests/page/hostile.py" "$TOP/tests/data/example.json" script.json
ok 'their page' memtrace html script.json -o script.html
ok 'a page of ranks with such names' memtrace html --force script.json base.json head.json -o script-ranks.html
mkdir bad
"$PYTHON" "$TOP/tests/e2e/trace/hostile.py" write bad "$TOP/tests/data/example.json"
for name in evil long-evil-names percent-names empty-names event-size-huge unknown-op; do
	memtrace html "bad/$name" -o "$name.html"
done
ok "two without names" memtrace html --anonymize base.json head.json -o nameless2.html
hasnt "nothing of their files" nameless2.html cache.py
ok 'two of different programs' memtrace html --anonymize "$recorded/train.json" "$recorded/scopes.json" -o nameless5.html
hasnt 'that are not named' nameless5.html scopes.py
ok 'a page of one that ran out of memory' memtrace html "$recorded/oom-limit.json" -o oom.html
memtrace report --json "$recorded/oom-limit.json" >oom.report.json
ok 'the same without names' memtrace html --anonymize "$recorded/oom-limit.json" -o nameless4.html
hasnt 'nothing of its lines' nameless4.html oom.py
MEMTRACE_FILTER='size>=1GiB' traced "$SAMPLES/leak"
ok 'a page of a trace without events' memtrace html "$TRACE" -o filtered.html
memtrace report --json "$TRACE" >filtered.report.json
ok 'ranks' "$GENERATOR" --events 1500 --ranks 3 --seed 4 --json 'rank.%r.json'
ok 'their page' memtrace html rank.?.json -o ranks.html
memtrace merge --json rank.?.json >ranks.json
ok 'a page of ranks of which figures are kept' memtrace html "$recorded/ddp" -o figures.html
memtrace merge --json "$recorded/ddp" >figures.json
ok 'ranks without names' memtrace html --anonymize rank.?.json -o nameless3.html
for name in cache.py GPU-0000 node7 rank.1.json; do
	hasnt "nothing of $name" nameless3.html "$name"
done
browse others "$PWD" script-ranks nameless3 nameless nameless2 evil long-evil-names percent-names empty-names event-size-huge unknown-op
