#!/bin/sh
# A job of CI with memtrace: runs a command, compares each of its processes with its baseline, and reports in
# every form that a platform reads. Used by action.yml, gitlab.yml and the Jenkinsfile; runs anywhere.
#
#	MEMTRACE_RUN        the command, as a line of sh
#	MEMTRACE_BASELINE   the committed baseline; none: only the budget is held
#	MEMTRACE_BUDGET     a budget file, if there is one
#	MEMTRACE_FAIL_ON    gates, one a line; nothing stands for --gate
#	MEMTRACE_RENEW      1: baselines that are missing or broken are to be made anew, and fail nobody
#	MEMTRACE_PROCESSES  so many processes at least must leave a trace (else: as many as the job has ranks)
#	MEMTRACE_BIN        the tool (memtrace)
#	MEMTRACE_OUT        where files go (memtrace-out)
#
# In MEMTRACE_OUT lie summary.md, for each process head.json, diff.md, diff.junit.xml, diff.sarif and
# benchmark.json, of a budget check.md and so on, and of the process that decides page.html and picture.txt.
# Which process a file and a baseline are of stands in its name: base.json is of the first process of rank 0, or
# of a job without ranks; base-2.json of its second, in the order of their starts; base-rank1.json of the first of
# rank 1, base-rank1-2.json of that one's second.
#
# Every process is judged, and the worst decides. It ends with the status of the command when that fails, else
#
#	0  each process is within its limits
#	1  a gate or the budget is broken
#	2  wrong usage
#	3  something is not known: a trace or a baseline is missing, damaged or of another kind of run
set -u

: "${MEMTRACE_RUN:?the command to run}" "${MEMTRACE_BASELINE:=}" "${MEMTRACE_BUDGET:=}" "${MEMTRACE_FAIL_ON:=}"
: "${MEMTRACE_BIN:=memtrace}" "${MEMTRACE_OUT:=memtrace-out}" "${MEMTRACE_RENEW:=}" "${MEMTRACE_PROCESSES:=}"

out=$MEMTRACE_OUT
traces=$out/traces
rm -rf "$traces"
# What an earlier run left is no result of this one.
rm -f "$out"/*.json "$out"/*.md "$out"/*.xml "$out"/*.sarif "$out"/*.html "$out"/*.txt "$out/renew"
mkdir -p "$traces" || exit 2
details=$traces/details.md
rows=$traces/rows.md
renew=$traces/renew
: >"$details" && : >"$rows" && : >"$renew" || exit 2
worst=0 worst_name='' worst_trace=''

# dash's echo takes \n for a line's end, so what is not ours is printed by printf: a command may hold anything.
warning() { # SENTENCE: for people, and for GitHub's page of the run
	printf '%s\n' "$1" >&2
	[ -z "${GITHUB_ACTIONS:-}" ] || printf '::warning::%s\n' "$(printf '%s' "$1" | sed 's/%/%25/g')"
}

code() { # TEXT: as it is, in Markdown and in a cell of a table
	printf '<code>%s</code>' "$(printf '%s' "$1" | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/|/\&#124;/g' \
		-e 's/`/\&#96;/g' -e 's/@/\&#64;/g')"
}

# judged STATUS NAME SENTENCE [TRACE]: a row of the summary; the first of the worst is kept by name.
judged() {
	mark=❌
	[ "$1" != 0 ] || mark=✅
	printf '| %s | %s | %s |\n' "$mark" "$(code "$2")" "$3" >>"$rows"
	if [ "$1" -gt "$worst" ] || [ -z "$worst_name" ]; then
		worst=$1 worst_name=$2
		[ -z "${4:-}" ] || worst_trace=$4
	fi
}

# end STATUS: writes the summary, says who decides, and ends.
end() {
	verdict="passed: $worst_name"
	[ "$1" = 0 ] || verdict="status $1, decided by $worst_name"
	[ "$command_status" = 0 ] || verdict="the command ended with status $command_status"
	{
		if [ "$1" = 0 ]; then
			echo '### GPU memory: passed'
		elif [ "$command_status" != 0 ]; then
			printf '### GPU memory: the command ended with status %s\n' "$command_status"
		else
			printf '### GPU memory: failed, decided by %s\n' "$(code "$worst_name")"
		fi
		printf '\n|  | process |  |\n|---|---|---|\n'
		cat "$rows" "$details"
	} >"$out/summary.md"
	[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
	if [ -n "$worst_trace" ]; then
		"$MEMTRACE_BIN" timeline --width 100 "$worst_trace" -o "$out/picture.txt"
		"$MEMTRACE_BIN" html "$worst_trace" -o "$out/page.html" || warning 'there is no page, see above'
	fi
	if [ -n "${GITHUB_OUTPUT:-}" ]; then
		printf 'head=%s\nstatus=%s\ntrace=%s\n' "$out/head.json" "$1" "$worst_trace" >>"$GITHUB_OUTPUT"
	fi
	if [ "$1" = 0 ] && [ "$MEMTRACE_RENEW" = 1 ] && [ -n "$MEMTRACE_BASELINE" ]; then
		cp "$renew" "$out/renew"
	fi
	printf 'memtrace gate: %s\n' "$verdict" >&2
	exit "$1"
}

# Our own names are no settings of the library.
env -u MEMTRACE_RUN -u MEMTRACE_OUT -u MEMTRACE_BIN -u MEMTRACE_BASELINE -u MEMTRACE_BUDGET -u MEMTRACE_FAIL_ON \
	-u MEMTRACE_RENEW -u MEMTRACE_PROCESSES MEMTRACE_OUTPUT="$traces/trace.%p.json" \
	"$MEMTRACE_BIN" run -- sh -c "$MEMTRACE_RUN"
command_status=$?
if [ "$command_status" != 0 ]; then
	echo "the command ended with status $command_status" >&2
	judged "$command_status" 'the command' "ended with status $command_status"
fi
for spool in "$traces"/*.spool; do
	[ ! -e "$spool" ] || "$MEMTRACE_BIN" recover "$spool" >&2 ||
		judged 3 "${spool##*/}" 'was not finished, or its process still runs: what it took is not known'
done

# member FILE LINE NAME: a number or a text of an object of the trace that is one of its first lines
member() {
	head -n 8 "$1" | sed -n "s/^\"$2\":.*\"$3\":\"\{0,1\}\([^\",}]*\).*/\1/p"
}
# name_of TRACE: rank, pid and command, as a person would know the process
name_of() {
	words=$(head -n 8 "$1" | sed -n 's/^"process":.*"command":\[\(.*\)\],"cwd":.*/\1/p' | sed -e 's/^"//' -e 's/"$//' -e 's/","/ /g')
	rank_of=
	[ "$(member "$1" process world_size)" -le 1 ] || rank_of="rank $(member "$1" process rank), "
	printf '%spid %s, %.120s' "$rank_of" "$(member "$1" process pid)" "$words"
}

for file in "$traces"/*.json; do
	[ ! -e "$file" ] || echo "$(member "$file" process rank) $(member "$file" process start_time) $file"
done | LC_ALL=C sort -k 1,1n -k 2,2 >"$traces/processes"
if [ ! -s "$traces/processes" ]; then
	[ "$command_status" = 0 ] || end "$command_status"
	printf '%s left no trace: it did not allocate GPU memory, or not where libmemtrace.so was loaded\n' "$MEMTRACE_RUN" >&2
	judged 3 'the command' 'left no trace: it did not allocate GPU memory, or not where libmemtrace.so was loaded'
	end 3
fi

# in_formats NAME VERB ARGS...: in every format, to files of that name; ends as the first of them does
in_formats() {
	name=$1
	shift
	"$MEMTRACE_BIN" "$@"
	verdict=$?
	[ "$verdict" -lt 2 ] || return "$verdict"
	"$MEMTRACE_BIN" "$@" --format markdown -o "$out/$name.md"
	"$MEMTRACE_BIN" "$@" --format junit -o "$out/$name.junit.xml"
	"$MEMTRACE_BIN" "$@" --format sarif -o "$out/$name.sarif"
	# The figures of a budget and of a comparison are the same ones.
	if [ "$1" = diff ] || [ -z "$MEMTRACE_BASELINE" ]; then
		"$MEMTRACE_BIN" "$@" --format benchmark -o "$out/benchmark${name#"$1"}.json"
	fi
	[ -z "${GITHUB_ACTIONS:-}" ] || "$MEMTRACE_BIN" "$@" --format github
	return "$verdict"
}

# tell STATUS WHAT: a row from what the last in_formats() wrote, if it did, with its Markdown below
tell() {
	if [ "$1" -ge 2 ]; then
		judged "$1" "$process" "$2"
		return
	fi
	judged "$1" "$process" "$(sed -n 3p "$out/$name.md")" "$trace"
	{
		printf '\n<details><summary>%s</summary>\n\n' "$(code "$process")"
		sed 1,2d "$out/$name.md"
		printf '\n</details>\n'
	} >>"$details"
}

# compare: the process with its baseline
compare() {
	base=${MEMTRACE_BASELINE%.json}$suffix.json
	[ -n "$suffix" ] || base=$MEMTRACE_BASELINE
	printf '%s\t%s\n' "$base" "$out/head$suffix.json" >>"$renew"
	if [ ! -e "$base" ]; then
		printf '%s: %s is not there: commit %s in its place\n' "$process" "$base" "$out/head$suffix.json" >&2
		if [ "$MEMTRACE_RENEW" = 1 ]; then
			judged 0 "$process" 'gets its first baseline' "$trace"
		else
			judged 3 "$process" "has no baseline: $(code "$base") is not there (MEMTRACE_RENEW=1 makes it)" "$trace"
		fi
		return
	fi
	set -- diff "$base" "$trace"
	[ -n "$MEMTRACE_FAIL_ON" ] || set -- "$@" --gate
	while IFS= read -r gate; do
		[ -z "$gate" ] || set -- "$@" --fail-on "$gate"
	done <<END
$MEMTRACE_FAIL_ON
END
	in_formats "diff$suffix" "$@"
	verdict=$?
	case $MEMTRACE_RENEW:$verdict in
	1:1 | 1:3)
		printf '%s: accepted, its baseline is made anew\n' "$process" >&2
		judged 0 "$process" 'changed; its baseline is made anew' "$trace"
		;;
	*) tell "$verdict" 'cannot be compared: see the log' ;;
	esac
}

# detail: what of the process is not in its trace, said; ends with 3 if that may be memory
detail() {
	notes=$("$MEMTRACE_BIN" report --show notes "$trace") || return 3
	notes=$(printf '%s\n' "$notes" | sed -n '/^Notes$/,$p' | sed 1d)
	[ -n "$notes" ] || return 0
	warning "$process: what its trace says of itself:"
	printf '%s\n' "$notes" >&2
	# shellcheck disable=SC2016  # Markdown
	printf '\n%s: what its trace says of itself:\n\n```\n%s\n```\n' "$(code "$process")" "$notes" >>"$details"
	head -n 8 "$trace" | grep -q -e '^"capture":.*"recording stopped early' -e '^"capture":.*the spool were damaged' || return 0
	return 3
}

last='' seen=0 ranks=0 world=1
while read -r rank _ trace <&3; do
	order=$((order + 1))
	if [ "$rank" != "$last" ]; then
		order=1 ranks=$((ranks + 1))
	fi
	last=$rank seen=$((seen + 1))
	suffix=
	[ "$rank" = 0 ] || suffix=-rank$rank
	[ "$order" = 1 ] || suffix=$suffix-$order
	process=$(name_of "$trace")
	size=$(member "$trace" process world_size)
	[ "$size" -le "$world" ] || world=$size
	detail || judged 3 "$process" 'has an incomplete trace: its peak is not known' "$trace"
	"$MEMTRACE_BIN" baseline "$trace" -o "$out/head$suffix.json" || {
		judged 3 "$process" 'has a trace that cannot be read' "$trace"
		continue
	}
	if [ -n "$MEMTRACE_BUDGET" ]; then
		in_formats "check$suffix" check "$trace" --budget "$MEMTRACE_BUDGET"
		tell "$?" 'cannot be held to the budget: see the log'
	fi
	[ -z "$MEMTRACE_BASELINE" ] || compare
done 3<"$traces/processes"

# A baseline that no process came for: one that ended early, or that was not traced, must not pass unseen.
if [ -n "$MEMTRACE_BASELINE" ]; then
	for base in "${MEMTRACE_BASELINE%.json}"*.json; do
		rest=${base#"${MEMTRACE_BASELINE%.json}"}
		printf '%s\n' "${rest%.json}" | grep -qxE -e '(-rank[0-9]+)?(-[0-9]+)?' || continue
		if [ ! -e "$base" ] || cut -f 1 "$renew" | grep -qxF -e "$base"; then
			continue
		fi
		if [ "$MEMTRACE_RENEW" = 1 ]; then
			echo "$base: no process of this run, it goes" >&2
			printf '%s\t\n' "$base" >>"$renew"
			continue
		fi
		echo "$base: no process of this run left a trace for it" >&2
		judged 3 "$base" 'no process of this run left a trace for it'
	done
fi
if [ -n "$MEMTRACE_PROCESSES" ]; then
	[ "$seen" -ge "$MEMTRACE_PROCESSES" ] ||
		judged 3 'the command' "left $seen traces; MEMTRACE_PROCESSES asks for $MEMTRACE_PROCESSES"
elif [ "$ranks" -lt "$world" ]; then
	judged 3 'the command' "left traces of $ranks of its $world ranks (MEMTRACE_PROCESSES tells how many there must be)"
fi
if [ -z "$MEMTRACE_BASELINE$MEMTRACE_BUDGET" ]; then
	echo 'nothing was held: there is neither MEMTRACE_BASELINE nor MEMTRACE_BUDGET' >&2
	judged 2 'the gate' 'has nothing to hold: neither a baseline nor a budget'
fi
[ "$command_status" = 0 ] || end "$command_status"
end "$worst"
