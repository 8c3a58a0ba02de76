#!/bin/sh
# Source lines and inlined functions of native frames, from debug information with the module's build-id.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

if ! ldd "$BUILD/memtrace" | grep -q libdw; then
	skip 'source lines of native frames' 'this memtrace was built without libdw'
	exit 0
fi
unset DEBUGINFOD_URLS

build() { # FLAG...
	"${CC:-cc}" -O2 "$@" -o program "$ROOM/native_lines.c" -L"$BUILD/fake" -lcudart
}

# frames TRACE: the program's frames of the larger cudaMalloc, innermost first, as in speedscope's file
frames() {
	memtrace export --to speedscope -o shown.json "$1" && "$PYTHON" - <<-'PYTHON' 2>/dev/null
		import json
		shown = json.load(open("shown.json"))
		names = shown["shared"]["frames"]
		stack = next(s for s in shown["profiles"][0]["samples"] if s)
		def text(frame):
		    return "%s %s:%s" % (frame["name"].split(" (")[0], frame.get("file", "?").split("/")[-1], frame.get("line"))
		ours = [text(names[i]) for i in reversed(stack)]
		print("\n".join(t for t in ours if t.split()[0] in ("innermost", "middle", "outermost", "main")))
	PYTHON
}

lines='innermost native_lines.c:12
middle native_lines.c:19
outermost native_lines.c:26
main native_lines.c:37'

build -g
traced ./program
is 'each inlined function is a frame with its line' "$(frames "$TRACE")" "$lines"
memtrace report --full "$TRACE" >report.txt
ok 'the report shows the line of an inlined call' grep -q 'middle (native_lines.c:19)' report.txt
memtrace report --by line "$TRACE" >report.txt
ok 'rows by line have lines of C' grep -q 'innermost (native_lines.c:12)' report.txt
memtrace html "$TRACE" -o page.html
ok 'so does the page' grep -q 'native_lines.c' page.html
memtrace html --anonymize "$TRACE" -o page.html
is 'a page for strangers has them not' "$(grep -c 'native_lines.c' page.html)" 0
mv "$TRACE" whole.json

# What addr2line says of the same addresses
"$PYTHON" - whole.json >addresses <<'PYTHON'
import json, sys
trace = json.load(open(sys.argv[1]))
stack = [e for e in trace["events"] if e["op"] == "alloc"][1]["stack"]
for number in trace["stacks"][stack]["frames"]:
    frame = trace["frames"][number]
    if frame["module"] is not None and trace["modules"][frame["module"]]["path"].endswith("/program"):
        print("%#x" % (int(frame["offset"], 16) - 1))
PYTHON
xargs addr2line -f -i -s -e program <addresses | paste -d' ' - - | grep -E '^(innermost|middle|outermost|main) ' |
	sed 's/ (discriminator.*//' >truth
is 'addr2line says the same' "$(cat truth)" "$lines"

if command -v objcopy >/dev/null; then
	objcopy --only-keep-debug program program.debug
	objcopy --strip-debug --add-gnu-debuglink=program.debug program
	is 'debug information in a file of its own' "$(frames whole.json)" "$lines"
	rm program.debug
	is 'without it, names alone' "$(frames whole.json | head -n 1)" 'outermost program:None'
fi

build -g -DOTHER -Wl,--build-id=0x0123456789abcdef
is 'a program that was built anew has no lines of the old one' "$(frames whole.json | head -n 1)" 'outermost program:None'
rm program
is 'nor has one that is gone' "$(frames whole.json | head -n 1)" 'outermost program:None'
mkfifo program
ok 'a pipe in its place does not block' timeout 20 memtrace report whole.json
rm program

# A server of debug information, where the user has one
if [ -e /usr/lib/"$(cc -dumpmachine)"/libdebuginfod.so.1 ]; then
	build -g
	id=$(json whole.json '[m["build_id"] for m in d["modules"] if m["path"].endswith("/program")][0]')
	mkdir -p "server/buildid/$id" && cp program "server/buildid/$id/executable" && mv program "server/buildid/$id/debuginfo"
	"$PYTHON" -u -m http.server --directory server --bind 127.0.0.1 0 >server.log 2>&1 &
	server=$!
	until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server.log) && [ -n "$port" ]; do sleep 0.1; done
	DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$PWD/cache
	export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
	is 'the server of DEBUGINFOD_URLS has the lines' "$(frames whole.json)" "$lines"
	kill "$server"
else
	skip 'the server of DEBUGINFOD_URLS has the lines' 'no libdebuginfod here'
fi

# --- a spool that moved to a machine without the program -------------------------------------------------
build -g
MEMTRACE_OUTPUT=$PWD/killed.json LD_PRELOAD=$LIBRARY ./program die >/dev/null 2>&1
memtrace report --full killed*.spool >report.txt
has 'a spool beside its program has names' report.txt 'outermost (native_lines.c:26)'
mv program elsewhere
memtrace report --full killed*.spool >report.txt
[ -z "${DEBUGINFOD_URLS:-}" ] || has 'without the program, those of the server' report.txt 'outermost (native_lines.c:26)'
unset DEBUGINFOD_URLS
memtrace report --full killed*.spool >report.txt
hasnt 'without the program it has none' report.txt 'outermost ('
has 'and says which file is gone' report.txt "native frames have no names, because files that contain their code"
has 'by its path' report.txt "$PWD/program"
memtrace recover --force killed*.spool -o late.json
is 'a trace that is made of it says so as well' "$(json late.json 'sum("have no names" in n for n in d["capture"]["notes"])')" 1
