"""Traces that somebody made to hurt, and what a command does with them.

hostile.py write FOLDER EXAMPLE      a file each, and FOLDER/list: what a reader must do with it
hostile.py try FOLDER COMMAND... {}  runs the command on each, {} being the file; prints what is wrong
hostile.py cut FOLDER EXAMPLE STEP   the example cut at every STEP-th byte, and FOLDER/list
hostile.py terminal COMMAND...       runs it on a terminal of its own and prints what arrived there
hostile.py check FILE...             prints what in the files would steer a terminal
hostile.py bomb KIND EXAMPLE         prints one: blanks (packed), frames (plain)
hostile.py bounded COMMAND...        runs it; prints what is wrong: no refusal, or what it took
hostile.py mutate SECONDS SEED OTHER EXAMPLE...
                                     changes the examples at random, runs a few commands on each; prints
                                     what is wrong, and keeps what shows it in found/
hostile.py shrink FILE COMMAND...    runs it, and cuts the file in half while it is read

A line of the list is "STATUS NAME": 3, every command refuses the file in one sentence; 0, every command
reads it, whatever it holds; E, something is wrong with an event or behind the events: 0 or 3, for not
every command looks there (EVENTS=1 says that this one does). M, something is missing that some commands
cannot do without: 0 or 3.
"""
import gzip
import json
import os
import pty
import random
import re
import subprocess
import sys
import time
import unicodedata
import zlib

EVIL = ("\x1b]0;title\x07\x1b[31mred\x1b[2J\x9b5m\r\n\t\x00\x08\x7f"  # escapes, controls of C0 and C1
        "\u202e\u2066\u200b\u200f\u2028\ufeff\U000e0041end")  # what reorders, hides, breaks lines


def texts(value, evil):
    """The document with every text that a name may be made evil."""
    fixed = {"schema", "op", "space", "metric", "exit", "language", "ptr", "stream", "offset", "base", "start_time"}
    if isinstance(value, dict):
        return {k: v if k in fixed else texts(v, evil) for k, v in value.items()}
    if isinstance(value, list):
        return [texts(v, evil) for v in value]
    if isinstance(value, str):
        return evil + value
    return value


def lines(document):
    """As memtrace writes it: one event a line."""
    events = document.get("events")
    head = {k: v for k, v in document.items() if k != "events"}
    text = json.dumps(head)[:-1] + ', "events":[\n'
    return text + ",\n".join(json.dumps(e) for e in events) + "\n]}\n"


def changed(document, path, value):
    """A deep copy with the member at the path set."""
    copy = json.loads(json.dumps(document))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return lines(copy)


def numbers(d, text):
    """Numbers where a number is wanted: which of them are one is the format's word."""
    def with_number(raw):
        return text.replace('"pid":4242', '"pid":' + raw, 1)

    for name, raw, status in (
            ("above-2-53", "9007199254740993", 0), ("largest", "18446744073709551615", 0),
            ("above-2-64", "18446744073709551616", 3), ("ten-thousand-digits", "9" * 10000, 3),
            ("negative", "-1", 3), ("least", "-9223372036854775808", 3), ("fraction", "1.5", 3),
            ("exponent", "1e3", 3), ("infinite", "1e999", 3), ("nan", "NaN", 3), ("infinity", "Infinity", 3),
            ("hexadecimal", "0x10", 3), ("leading-zero", "007", 3), ("plus", "+1", 3), ("dot", ".5", 3),
            ("minus", "-", 3), ("text", '"4242"', 3), ("true", "true", 3), ("array", "[4242]", 3)):
        yield "number-" + name, with_number(raw), status
    for key in ("size", "seq", "t", "allocated", "reserved", "stack", "thread"):
        for name, value in (("negative", -1), ("fraction", 0.5), ("text", "1"), ("object", {})):
            yield "event-%s-%s" % (key, name), changed(d, ["events", 0, key], value), "E"
    yield "event-size-huge", changed(d, ["events", 0, "size"], 2**64 - 1), 0
    for name, path in (("stack-of-event", ["events", 0, "stack"]), ("frame", ["stacks", 0, "frames", 0]),
                       ("module", ["frames", 1, "module"]), ("stack-of-site", ["sites", 0, "stacks", 0]),
                       ("stack-of-peak", ["peaks", 0, "stacks", 0, "stack"])):
        for value in (2, 2**31, 2**32 - 1, 2**32, 2**63):
            yield "id-%s-%d" % (name, value), changed(d, path, value), "E" if path[0] == "events" else 3
    yield "peak-larger-than-all", changed(d, ["peaks", 0, "bytes"], 2**64 - 1), 0
    device = {k: v for k, v in d["summary"]["devices"][0].items() if k not in ("allocated", "reserved")}
    yield "device-without-sums", changed(d, ["summary", "devices", 0], device), "M"
    yield "device-huge", changed(d, ["summary", "devices", 0, "device"], 2**31), 3
    for key in ("t", "allocated", "reserved"):
        yield "column-short-" + key, changed(d, ["timeline", 0, key], [1]), 3
    for value in ("0x", "0x10000000000000000", "0xg", "xyz", "-0x1", "0x-1", "0x 1"):
        yield "address-" + value.replace(" ", "-"), changed(d, ["events", 0, "ptr"], value), "E"


def shapes(d, text):
    """Sections that are missing, twice there, of another kind; what follows the end."""
    head, tail = text.split('"events":[', 1)
    for key in [k for k in d if k not in ("schema", "events")]:
        rest = {k: v for k, v in d.items() if k != key}
        # The ids of events lead nowhere without stacks and frames.
        without = 3 if key in ("frames", "stacks", "modules") else "M" if key == "summary" else 0
        yield "missing-" + key, lines(rest), without
        yield "kind-" + key, lines(dict(d, **{key: "text"})), 3
        yield "null-" + key, lines(dict(d, **{key: None})), without
    yield "missing-schema", lines({k: v for k, v in d.items() if k != "schema"}), 3
    yield "schema-late", lines(dict([(k, v) for k, v in d.items() if k != "schema"] + [("schema", "memtrace/1")])), 3
    yield "schema-newer", text.replace("memtrace/1", "memtrace/2", 1), 3
    yield "schema-other", text.replace("memtrace/1", "memray/1", 1), 3
    yield "schema-evil", lines(dict(d, schema="memtrace/2" + EVIL)), 3
    yield "schema-number", text.replace('"memtrace/1"', "1", 1), 3
    yield "missing-events", head.rstrip().rstrip(",") + "}", 3
    yield "events-object", lines(dict(d, events=[])).replace("[\n\n]", "{}"), 3
    yield "event-number", text.replace('"events":[', '"events":[1,', 1), "E"
    yield "event-nested", text.replace('"events":[', '"events":[[{}],', 1), "E"
    yield "events-twice", text.rstrip()[:-1] + ',"events":[]}', 0
    yield "key-twice", text.replace('"ppid"', '"pid"', 1), 0
    yield "unknown-key", text.replace('"ppid"', '"unknown":{"a":[1,{"b":null}]},"ppid"', 1), 0
    yield "unknown-event-key", text.replace('{"seq":0', '{"new":[{}],"seq":0', 1), 0
    yield "unknown-op", text.replace('"op":"reserve"', '"op":"teleport"', 1), 0
    yield "behind-the-end", text + "x", 3
    yield "second-document", text + text, "E"
    yield "trailing-comma", text.rstrip()[:-1] + ",}", 3
    yield "no-comma", text.replace(",\n", "\n", 1), 3
    yield "single-quotes", text.replace('"', "'"), 3
    yield "comment", "/* a trace */" + text, 3
    yield "array", "[" + text + "]", 3
    for name, word in (("null", "null"), ("number", "1"), ("text", '"memtrace/1"'), ("object", "{}"), ("blanks", " \n" * 9)):
        yield "only-" + name, word, 3


def depths(text):
    for depth in (65, 10000, 1000000):
        yield "deep-arrays-%d" % depth, "[" * depth, 3
        yield "deep-objects-%d" % depth, '{"a":' * depth, 3
        deep = "[" * depth + "]" * depth
        yield "deep-inside-%d" % depth, text.replace('"ppid"', '"unknown":%s,"ppid"' % deep, 1), 3
        yield "deep-event-%d" % depth, text.replace('{"seq":0', '{"new":%s,"seq":0' % deep, 1), "E"


def names(d, text):
    """Texts: long, evil, of no encoding."""
    yield "evil", lines(texts(d, EVIL)), 0
    yield "long-names", lines(texts(d, "n" * 10240)), 0
    yield "long-evil-names", lines(texts(d, EVIL * 400)), 0
    yield "name-too-long", changed(d, ["process", "host"], "n" * (1 << 21)), 3
    yield "key-too-long", text.replace('"ppid"', '"%s":1,"ppid"' % ("k" * (1 << 21)), 1), 3
    yield "percent-names", lines(texts(d, "%s%n%1000000d{}$(reboot)`reboot`;|&'\"\\")), 0
    yield "empty-names", lines(json.loads(re.sub(r'"(function|site|name|pool|owner)": "[^"]*"', r'"\1": ""', json.dumps(d)))), 0
    for name, raw in (("lone-high", r"\ud800"), ("lone-low", r"\udc00"), ("swapped", r"\udc00\ud800"), ("nul", r"\u0000"),
                      ("half", r"\ud83d\u0041")):
        yield "surrogate-" + name, text.replace('"node7"', '"%s"' % raw, 1), 0
    for name, raw in (("cut", r"\u12"), ("letter", r"\x41"), ("hex", r"\uzzzz"), ("end", "\\")):
        yield "escape-" + name, text.replace('"node7"', '"%s"' % raw, 1), 3
    for name, raw in (("tab", b"\t"), ("nul", b"\0"), ("escape", b"\x1b"), ("line", b"\n")):
        yield "raw-" + name, text.encode().replace(b'"node7"', b'"' + raw + b'"', 1), 3
    for name, raw in (("continuation", b"\x80\xbf"), ("overlong", b"\xc0\xaf\xe0\x80\xaf"), ("surrogate", b"\xed\xa0\x80"),
                      ("beyond", b"\xf4\x90\x80\x80"), ("cut", b"\xe2\x82"), ("latin", b"\xff\xfe"), ("c1", b"\xc2\x9b31m")):
        yield "utf8-" + name, text.encode().replace(b"node7", raw, 1).replace(b"Net.forward", raw), 0
    yield "nul-behind", text.encode() + b"\0", 3
    yield "nul-between", text.encode().replace(b",\n", b",\0\n", 1), 3


def files(text):
    raw = text.encode()
    yield "bom", b"\xef\xbb\xbf" + raw, 3
    yield "utf16", text.encode("utf-16"), 3
    yield "utf32", text.encode("utf-32"), 3
    packed = gzip.compress(raw)
    yield "gzip-cut", packed[:-1], 3
    yield "gzip-half", packed[:len(packed) // 2], 3
    yield "gzip-header", packed[:12], 3
    yield "gzip-damaged", packed[:700] + bytes([packed[700] ^ 0x55]) + packed[701:], 3
    yield "gzip-checksum", packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:], 3
    yield "gzip-and-more", packed + b"more", 3
    yield "gzip-in-gzip", gzip.compress(packed), 3
    yield "zstd", b"\x28\xb5\x2f\xfd" + raw, 3
    yield "empty", b"", 3
    yield "one-byte", b"{", 3
    yield "elf", b"\x7fELF\x02\x01\x01" + bytes(100), 3
    yield "spool-magic", b"MEMTRACE", 3
    yield "spool-zeros", b"MEMTRACE" + bytes(1 << 20), 3
    yield "spool-ones", b"MEMTRACE" + b"\xff" * (1 << 20), 3
    yield "zeros", bytes(1 << 16), 3


def write(folder, example):
    with open(example) as f:
        text = f.read()
    d = json.loads(text)
    with open(os.path.join(folder, "list"), "w") as list_of:
        for part in (numbers(d, text), shapes(d, text), depths(text), names(d, text), files(text)):
            for name, content, status in part:
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(content if isinstance(content, bytes) else content.encode())
                print(status, name, file=list_of)


def cut(folder, example, step):
    with open(example, "rb") as f:
        raw = f.read().rstrip()
    with open(os.path.join(folder, "list"), "w") as list_of:
        for at in range(0, len(raw), step):
            with open(os.path.join(folder, "cut-%d" % at), "wb") as f:
                f.write(raw[:at])
            print("3 cut-%d" % at, file=list_of)


def steering(text, allowed):
    """The first character that would steer a terminal or mislead its reader, with what is around it."""
    for at, c in enumerate(text):
        if c not in allowed and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return "%r in %r" % (c, text[max(0, at - 30):at + 30])
    return None


def wrong(status, ran, events, huge):
    """What is wrong with how a command ended, in words. `huge`: the file has numbers of 19 digits."""
    wanted = {"3": (3,), "0": (0,), "E": (3,) if events else (0, 3), "M": (0, 3)}[status]
    if ran.returncode not in wanted:
        return "status %d, wanted %s: %r" % (ran.returncode, wanted, ran.stderr[:200])
    if ran.returncode == 3 and not re.fullmatch(rb"memtrace: [^\n]{10,1100}\n", ran.stderr):
        return "not one sentence: %r" % ran.stderr[:300]
    if ran.returncode == 0 and ran.stderr:
        return "speaks: %r" % ran.stderr[:200]
    below = None if huge else re.search(rb"16\.00 EiB|18446744073709", ran.stdout)
    if below:
        return "counts below 0: %r" % ran.stdout[max(0, below.start() - 80):below.end() + 20]
    for raw in (ran.stdout, ran.stderr):
        try:
            bad = steering(raw.decode().replace("\r\n", "\n"), "\n")  # RFC 4180
        except UnicodeDecodeError as error:
            bad = str(error)
        if bad:
            return "prints " + bad
    return None


def try_all(folder, command):
    events = os.environ.get("EVENTS") == "1"
    count = wrongs = 0
    with open(os.path.join(folder, "list")) as f:
        for line in f:
            status, name = line.split()
            words = [w.replace("{}", os.path.join(folder, name)) for w in command]
            with open(os.path.join(folder, name), "rb") as content:
                huge = re.search(rb"\d{19}", content.read())
            try:
                ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
                what = wrong(status, ran, events, huge)
            except subprocess.TimeoutExpired:
                what = "does not end"
            if what:
                wrongs += 1
                if wrongs <= 10:
                    print("%s: %s" % (name, what))
            count += 1
    if wrongs > 10:
        print("and %d more" % (wrongs - 10))
    if not count:
        print("no file was tried")


def terminal(command):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        sys.stdout.buffer.write(part)
    os.waitpid(pid, 0)


def check(paths):
    """The tool's own colours steer, too, and are meant to."""
    for path in paths:
        with open(path, "rb") as f:
            raw = re.sub(rb"\x1b\[[0-9;]*m", b"", f.read())
        try:
            bad = steering(raw.decode(), "\r\n")
        except UnicodeDecodeError as error:
            bad = str(error)
        if bad:
            print("%s: %s" % (path, bad))


def shrink(path, command):
    """The pipe is not read until the file is cut: by then a part of it is in the reader's buffers."""
    ran = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    first = ran.stdout.read(1)
    os.truncate(path, os.path.getsize(path) // 2)
    out, said = ran.communicate(timeout=120)
    print(ran.returncode, len(first + out) > 1, said.decode().strip())


def bomb(kind, example):
    out = sys.stdout.buffer
    if kind == "blanks":
        with open(example, "rb") as f:
            head, tail = f.read().split(b'"events":[', 1)
        pack = zlib.compressobj(9, zlib.DEFLATED, 31)
        out.write(pack.compress(head))
        for _ in range(200):
            out.write(pack.compress(b" " * (1 << 20)))
        out.write(pack.compress(b'"events":[' + tail) + pack.flush())
        return
    frame = b'{"language":"python","function":"f","file":"a.py","line":1}'
    out.write(b'{"schema":"memtrace/1","frames":[')
    for _ in range(800):
        out.write((frame + b",") * 10000)
    out.write(frame + b'],"stacks":[],"events":[\n]}\n')


def bounded(command):
    """A reader stays below 10 s and 1 GiB, whatever it is given."""
    ran = subprocess.Popen(command, stdin=sys.stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = ran.stderr.read().decode()
    _, status, used = os.wait4(ran.pid, 0)
    ran.returncode = os.waitstatus_to_exitcode(status)
    if ran.returncode != 3 or said.count("\n") != 1 or "--no-limits" not in said:
        print("status %d: %r" % (ran.returncode, said[:300]))
    if used.ru_utime + used.ru_stime > 10 or used.ru_maxrss > 1 << 20:
        print("%.1f s, %d KiB" % (used.ru_utime + used.ru_stime, used.ru_maxrss))


# --- random changes -------------------------------------------------------------------------------------

NUMBERS = (0, 1, -1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1, 2**64,
           -2**63, 10**25, 0.5, -0.0, 1e308)
TEXTS = ("", "\0", "</script><script>1</script>", "a" * 70000, "%s%n", "\u2028\u202e", "../../etc/passwd", "=cmd|'/c calc'!A1",
         "'", '"', "\\", "\n", "[backward]", "step", "step 1", "torch", "device", "managed", "array", "graph", "async:0x1",
         "alloc", "free", "reserve", "release", "python", "native", "exit", "0x0", "0xffffffffffffffff", "-1", EVIL)
OTHERS = (None, True, False, [], {}, "x", 7, [None], [[]], [{}])

# F the changed file, S the one that is as it was, O an output.
MUTATED = """report --full --limit 0 F
report --json --full --by line F
report --by phase --stacks python --full F
report --by category --full F
report --at peak --json F
report --at seq:1 F
report --oom --full F
report --from 0.01s --to 0.1s --full F
report --show tree,inverted,histogram,short_lived,leaks,live,lines,calls,used,growth,actions,cupti_check,moment,gaps F
report --filter *a* F
diff --force --full F F
diff --force --full S F --format json
diff --force --full S F --format sarif
diff --force --full F S --format markdown
diff --force S F --format benchmark --fail-on allocated.peak>0%
diff --force S F --format bencher
merge --force --full F S
merge --force --json F F
html F -o O
html F S --force -o O
html --anonymize F -o O
html --max-events 3 F -o O
export --to events F
export --to torch-snapshot --at exit F -o O
export --to folded --by phase --metric reserved F
export --to speedscope --metric used F
export --to pprof --by thread --at exit F -o O
export --to chrome F
export --to csv F
export --to sqlite F -o O
check F --max allocated.added[phase=step]<=1 --format json
check F --max count[site=*]<=1 --max ooms<=0 --max used.peak<=1 --format sarif
timeline --from 0.01s --width 200 F
baseline F -o O""".splitlines()
MUTATED_SPOOL = """recover -f F -o O
report --json --full F
top --once --json F
top --once F""".splitlines()


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for at in sorted(random.sample(range(len(value)), min(8, len(value)))):
            yield from places(value[at], path + (at,))


def other_value(value):
    """Another one for a value of a document: of its kind, most of the time."""
    if random.random() < 0.1:
        return random.choice(OTHERS)
    if isinstance(value, bool) or value is None:
        return random.choice(OTHERS)
    if isinstance(value, (int, float)):
        return random.choice(NUMBERS) if random.random() < 0.6 else int(value) + random.choice((-1, 1, -1000, 1000, 2**40, 2**63))
    if isinstance(value, str):
        return random.choice(TEXTS) if random.random() < 0.8 else value * 50
    if isinstance(value, list):
        return random.choice(([], value * 3, value[1:], value[::-1], value + value[:1]))
    keys = list(value)
    if not keys:
        return None
    if random.random() < 0.5:
        return {key: value[key] for key in keys if key != random.choice(keys)}
    swapped = dict(value)
    one, two = random.choice(keys), random.choice(keys)
    swapped[one], swapped[two] = value[two], value[one]
    return swapped


def mutated(document):
    for _ in range(random.choice((1, 1, 1, 2, 3, 5, 8))):
        key = random.choice(list(document))  # each section as often as the events
        path = (key,) + random.choice(list(places(document[key])))
        at = document
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = other_value(at[path[-1]])
    text = lines(document) if isinstance(document.get("events"), list) else json.dumps(document)
    return noise(text.encode("utf-8", "surrogatepass"), 0.08)


def noise(raw, chance):
    raw = bytearray(raw)
    if random.random() < chance:
        for _ in range(random.choice((1, 2, 8))):
            raw[random.randrange(len(raw))] = random.randrange(256)
    return bytes(raw)


def judge(words):
    """What is wrong with a command on a hostile file, "" for nothing."""
    try:
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "does not end"
    said = ran.stderr.decode("utf-8", "replace")
    if ran.returncode not in (0, 1, 3) or "runtime error" in said or "Sanitizer" in said:
        return "status %d: %s" % (ran.returncode, said[-2000:])
    if ran.returncode == 3 and said.count("\n") != 1:
        return "not one sentence: %r" % said[:300]
    if ran.returncode == 0 and ("--json" in words or words[-1] in ("json", "sarif")):
        try:
            json.loads(ran.stdout)
        except ValueError as error:
            return "prints what is no JSON: %s" % error
    return ""


def mutate(seconds, seed, other, examples):
    random.seed(seed)
    runs = inputs = 0
    contents = [open(name, "rb").read() for name in examples]
    os.makedirs("found", exist_ok=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        content = random.choice(contents)
        spool = content.startswith(b"MEMTRACE")
        content = noise(content, 1) if spool else mutated(json.loads(content))
        name = "mutated.spool" if spool else "mutated.json"
        with open(name, "wb") as f:
            f.write(content)
        inputs += 1
        for command in random.sample(MUTATED_SPOOL if spool else MUTATED, 4):
            what = {"F": name, "S": other, "O": "mutated.out"}
            wrong_with = judge(["memtrace"] + [what.get(word, word) for word in command.split()])
            runs += 1
            if wrong_with:
                kept = "found/%08x-%s" % (zlib.crc32(content), name)
                os.replace(name, kept)
                print("memtrace %s, F being %s: %s" % (command, kept, wrong_with))
                break
    print("# %d inputs, %d runs, seed %s" % (inputs, runs, seed), file=sys.stderr)


verb, arguments = sys.argv[1], sys.argv[2:]
if verb == "write":
    write(*arguments)
elif verb == "cut":
    cut(arguments[0], arguments[1], int(arguments[2]))
elif verb == "try":
    try_all(arguments[0], arguments[1:])
elif verb == "terminal":
    terminal(arguments)
elif verb == "check":
    check(arguments)
elif verb == "mutate":
    mutate(float(arguments[0]), arguments[1], arguments[2], arguments[3:])
elif verb == "bomb":
    bomb(*arguments)
elif verb == "bounded":
    bounded(arguments)
elif verb == "shrink":
    shrink(arguments[0], arguments[1:])
else:
    sys.exit("hostile.py: there is no %s" % verb)
