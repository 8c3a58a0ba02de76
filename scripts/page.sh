#!/bin/sh
# Bundles the page of `memtrace html` from src/page: page.sh FOLDER leaves FOLDER/page.html.
#
# npm works in a copy, FOLDER/work, so that nothing is written among the sources. What it fetches is
# what src/page/package-lock.json names, and it is fetched again only when that file has changed.
# Exit status: 3 when it could not be fetched, 1 when the page itself is wrong.
set -eu
cd "$(dirname "$0")/.."

[ $# = 1 ] || {
	echo 'usage: scripts/page.sh FOLDER' >&2
	exit 2
}
work=$1/work
mkdir -p "$work"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { # WHAT COMMAND...: its output is worth reading only when it fails
	what=$1
	shift
	"$@" >"$log" 2>&1 && return
	echo "page: $what:" >&2
	tail -n 20 "$log" | sed 's/^/  /' >&2
	return 1
}

if ! cmp -s src/page/package-lock.json "$work/fetched.json"; then
	cp src/page/package.json src/page/package-lock.json "$work"
	(cd "$work" && quietly 'npm could not fetch what package-lock.json names' \
		npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000) || exit 3
	cp src/page/package-lock.json "$work/fetched.json"
fi
rm -rf "$work/model" "$work/view"
rm -f "$work"/*.ts "$work"/*.css "$work"/*.html "$work"/*.mjs
cp src/page/*.ts src/page/*.css src/page/*.html src/page/*.mjs src/page/tsconfig.json "$work"
cp -r src/page/model src/page/view "$work"
node src/page/rows.mjs src/facts/trace.def >"$work/model/rows.ts"
quietly 'the types do not fit' "$work/node_modules/.bin/tsc" --noEmit -p "$work/tsconfig.json"
quietly 'it cannot be bundled' node "$work/bundle.mjs" "$1/page.html"
