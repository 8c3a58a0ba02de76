# shellcheck shell=sh
# What the tests of scripts/ci share: the world of a job on GitHub, whose API is github_server.py.
# shellcheck disable=SC2034  # others use what is set here
CI=$TOP/scripts/ci
MEMTRACE_QUIET=1 PYTHONDONTWRITEBYTECODE=1 GITHUB_ACTIONS=true GITHUB_REPOSITORY=o/r GITHUB_SERVER_URL=https://example.test
GITHUB_RUN_ID=77 GITHUB_SHA=0123456789abcdef GITHUB_TOKEN=good MEMTRACE_RETRY_SECONDS=0 MEMTRACE_OUT=out
GITHUB_EVENT_PATH=$PWD/event.json GITHUB_OUTPUT=$PWD/outputs
export MEMTRACE_QUIET PYTHONDONTWRITEBYTECODE GITHUB_ACTIONS GITHUB_REPOSITORY GITHUB_SERVER_URL GITHUB_RUN_ID GITHUB_SHA \
	GITHUB_TOKEN MEMTRACE_RETRY_SECONDS MEMTRACE_OUT GITHUB_EVENT_PATH GITHUB_OUTPUT
unset GITHUB_STEP_SUMMARY

server=
stop() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
start() { # STATE-AS-JSON: the server, in $MEMTRACE_TEST_TMP
	stop
	printf '%s' "$1" >"$MEMTRACE_TEST_TMP/state.json"
	rm -f "$MEMTRACE_TEST_TMP/port"
	(cd "$MEMTRACE_TEST_TMP" && exec "$PYTHON" "$ROOM/github_server.py" state.json port 2>server.log) &
	server=$!
	while [ ! -s "$MEMTRACE_TEST_TMP/port" ] && kill -0 "$server" 2>/dev/null; do
		sleep 0.05
	done
	home=http://127.0.0.1:$(cat "$MEMTRACE_TEST_TMP/port")
	GITHUB_API_URL=$home
	export GITHUB_API_URL
}
state() { # EXPRESSION over what the server holds
	json "$MEMTRACE_TEST_TMP/state.json" "$1"
}
pull_request() {
	echo '{"pull_request":{"number":7,"head":{"sha":"feedfacefeedface"}},"repository":{"default_branch":"trunk"}}' \
		>"$GITHUB_EVENT_PATH"
}
