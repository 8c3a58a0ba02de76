# shellcheck shell=sh
# Tests of pages in a browser, behind lib.sh: ends the script with a skipped test where there is none.
#
#	browse views "$PWD"                        tests/page/views.mjs; its lines become tests
PAGE_MODULES=$BUILD/page/work
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
export PAGE_MODULES CHROMIUM

if [ ! -s "$BUILD/page/page.html" ]; then
	need npm
	skip 'the page' 'npm reached no registry'
	exit 0
fi
need node
if [ -z "$CHROMIUM" ]; then
	skip 'the page in a browser' 'no chromium here (scripts/setup.sh check installs it)'
	exit 0
fi

# browse SCRIPT ARGS...: its lines become tests of this script.
browse() {
	script=$1
	shift
	timeout 250 node "$TOP/tests/page/$script.mjs" "$@" >lines 2>"$ERR" </dev/null
	browsed=$?
	tab=$(printf '\t')
	while IFS=$tab read -r verdict name why; do
		case $verdict in
		ok) tap '' "$name" ;;
		'not ok')
			tap 'not ' "$name"
			echo "#   $why"
			;;
		esac
	done <lines
	[ "$browsed" = 0 ] && return
	tap 'not ' "$script ends well"
	tap_comment "$ERR"
}
