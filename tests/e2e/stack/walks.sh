#!/bin/sh
# A walk goes through the frames that glibc goes through, whatever kinds they are and whatever it was that
# the walk before remembered.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# The calls whose frames are others than the program says, and the calls in all.
differing() {
	"$PYTHON" - "$TRACE" "$1" <<'PY'
import json, os, sys
document = json.load(open(sys.argv[1]))
def place(index):
    frame = document["frames"][index]
    module = document["modules"][frame["module"]]
    return f'{os.path.basename(module["path"])}+{int(frame["offset"], 16) if isinstance(frame["offset"], str) else frame["offset"]:x}'
stacks = {event["size"]: [place(i) for i in document["stacks"][event["stack"]]["frames"]]
          for event in document["events"] if event["op"] == "alloc"}
told = [line.split() for line in open(sys.argv[2])]
wrong = [line for line in told if stacks.get(int(line[0]), [""])[1:] != line[1:257 - 1]]
for line in wrong[:1]:
    print(line[1:], stacks.get(int(line[0])), file=sys.stderr)
print(len(wrong), len(told), len(stacks))
PY
}

for unwinder in libunwind glibc; do
	LIBRARY_WAS=$LIBRARY
	if [ $unwinder = glibc ]; then
		# A file of that name which is no library stands before the real one, and nothing lies beside ours.
		mkdir hidden private
		echo 'not a library' >hidden/libunwind.so.8
		cp "$LIBRARY" private/
		LIBRARY=$PWD/private/libmemtrace.so
		LD_LIBRARY_PATH=$PWD/hidden${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	fi
	MEMTRACE_STACKS=native traced "$E2E/walks" 1500
	is "$unwinder: the program ends as it should" $? 0
	cp "$OUT" walks.$unwinder
	is "$unwinder: each stack is what glibc says" "$(differing walks.$unwinder)" '0 3000 3000'
	is "$unwinder: and that is what unwinds, where no rule does" \
		"$(json "$TRACE" 'd["capture"]["unwinder"]')" "$unwinder"
	LIBRARY=$LIBRARY_WAS
done
