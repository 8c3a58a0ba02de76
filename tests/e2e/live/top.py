"""What a shell cannot do for top.sh: a terminal, HTTP clients of all manners, a reader of metrics.

    top.py screen PID [KEYS|signal NAME]   runs `memtrace top PID` on a terminal of its own
    top.py http ADDRESS                    asks the server all that a client may ask
    top.py full ADDRESS PID                more clients than the server has descriptors: it does not spin
    top.py metrics FILE                    reads the text format: prints its samples as JSON
    top.py valid SCHEMA FILE               the document fits the schema
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 60  # seconds until a test that hangs fails


def need(held, what):
    if not held:
        sys.exit("top.py: %s" % what)


# --- the terminal ---------------------------------------------------------------------------------


class Terminal:
    """`memtrace top` on the far side of a pseudo terminal, and what it wrote so far."""

    def __init__(self, arguments, rows=40, columns=120):
        self.near, self.far = pty.openpty()
        self.before = termios.tcgetattr(self.far)
        self.size(rows, columns)
        self.text = b""
        environment = dict(os.environ, TERM="xterm")
        self.process = subprocess.Popen(
            ["memtrace", "top"] + arguments, stdin=self.far, stdout=self.far, stderr=subprocess.PIPE,
            env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def size(self, rows, columns):
        fcntl.ioctl(self.near, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, test, what):
        """Reads until the test holds of all that was written."""
        end = time.monotonic() + PATIENCE
        while not test(self.text):
            left = end - time.monotonic()
            need(left > 0, "%s never came; the terminal has %r" % (what, self.text[-3000:]))
            if select.select([self.near], [], [], min(left, 0.2))[0]:
                self.text += os.read(self.near, 65536)
            elif self.process.poll() is not None and not test(self.text):
                need(False, "it ended before %s: %r" % (what, self.process.stderr.read()))

    def ended(self):
        while self.process.poll() is None:
            if select.select([self.near], [], [], 0.1)[0]:
                self.text += os.read(self.near, 65536)
        while select.select([self.near], [], [], 0.1)[0]:
            self.text += os.read(self.near, 65536)
        return self.process.returncode

    def pages(self):
        return [page.decode() for page in self.text.split(b"\033[H")[1:]]

    def expect_restored(self):
        need(self.text.count(b"\033[?1049h") == self.text.count(b"\033[?1049l") >= 1,
             "the alternate screen was not left: %r" % self.text)
        need(self.text.rindex(b"\033[?1049l") > self.text.rindex(b"\033[?1049h"), "left before entered")
        need(self.text.rindex(b"\033[?25h") > self.text.rindex(b"\033[?25l"), "the cursor stays hidden")
        need(termios.tcgetattr(self.far) == self.before, "the terminal's modes are not as they were")


def rows_of(page):
    return re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", page.split("\033[J")[0]).split("\r\n")


def screen(pid, how):
    terminal = Terminal([pid, "--interval", "50ms"])
    terminal.wait_for(lambda text: text.count(b"\033[J") >= 3, "a third page")
    need(termios.tcgetattr(terminal.far)[3] & termios.ECHO == 0, "what is typed is shown")
    page = terminal.pages()[-1]
    for word in (pid, "GPU 0", "allocated", "residual", "take_here"):
        need(word in page, "%s is not on the page: %r" % (word, page))
    status = 0
    if how == "keys":
        for key, order in ((b"n", "blocks"), (b"r", "rate"), (b"b", "bytes"), (b"-", ""), (b"+", "")):
            count = terminal.text.count(b"\033[J")
            os.write(terminal.near, key)
            terminal.wait_for(lambda text: text.count(b"\033[J") >= count + 2, "a page after " + str(key) + order)
        terminal.size(12, 70)
        terminal.wait_for(lambda text: small(terminal.pages()), "a page of 11 rows and 70 columns")
        os.write(terminal.near, b"q")
    elif how == "stop":
        os.kill(terminal.process.pid, signal.SIGTSTP)
        terminal.wait_for(lambda text: b"\033[?1049l" in text, "the plain screen")
        os.waitpid(terminal.process.pid, os.WUNTRACED)
        terminal.expect_restored()
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.wait_for(lambda text: text.count(b"\033[?1049h") == 2, "the page again")
        os.write(terminal.near, b"q")
    elif how == "control-c":
        os.write(terminal.near, b"\x03")
        status = -signal.SIGINT
    else:
        os.kill(terminal.process.pid, getattr(signal, how))
        status = -getattr(signal, how)
    got = terminal.ended()
    need(got == status, "status %d, wanted %d: %r" % (got, status, terminal.process.stderr.read()))
    terminal.expect_restored()


def small(pages):
    rows = rows_of(pages[-1])
    return len(rows) <= 12 and all(len(row) <= 70 for row in rows)


def dies(pid):
    """The process is killed while it is watched: top says so and ends well."""
    terminal = Terminal([pid, "--interval", "50ms"])
    terminal.wait_for(lambda text: b"GPU 0" in text, "a page")
    os.kill(int(pid), signal.SIGKILL)
    got = terminal.ended()
    words = terminal.process.stderr.read().decode()
    need(got == 0, "status %d: %s" % (got, words))
    need("process %s has ended" % pid in words, "it says %r" % words)
    terminal.expect_restored()


# --- HTTP -----------------------------------------------------------------------------------------


def ask(address, request, slowly=False):
    """The whole answer to some bytes; None when it was hung up on without one."""
    with socket.create_connection(address, timeout=PATIENCE) as client:
        try:
            for part in ([request[i:i + 1] for i in range(len(request))] if slowly else [request]):
                client.sendall(part)
            client.shutdown(socket.SHUT_WR)
            answer = b""
            while True:
                part = client.recv(65536)
                if not part:
                    break
                answer += part
        except OSError:
            return None
    return answer or None


def status_of(answer):
    match = re.match(rb"HTTP/1\.1 (\d+) [^\r\n]*\r\n", answer or b"")
    return int(match.group(1)) if match else None


def body_of(answer):
    head, body = answer.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"\r\nContent-Length: (\d+)", head).group(1))
    need(len(body) == length, "Content-Length is %d of %d bytes" % (length, len(body)))
    return body


HOSTILE = [
    b"\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics\r\n\r\n", b"GET /metrics HTTP/2.0\r\n\r\n",
    b"GET metrics HTTP/1.1\r\n\r\n", b"GET  /metrics HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/1.1 x\r\n\r\n",
    b"GET /met\0rics HTTP/1.1\r\n\r\n", b"\0\0\0\0\r\n\r\n", b"GET /metrics\x1b[2J HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n",
    b"A" * 100000, b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 20000, b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n",
]


def http(address):
    host, port = address.rsplit(":", 1)
    address = (host.strip("[]"), int(port))
    good = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Prometheus\r\n\r\n"
    for request, wanted in ((good, 200), (b"GET /metrics?a=b HTTP/1.0\n\n", 200), (b"GET / HTTP/1.1\r\n\r\n", 404),
                            (b"GET /metrics/../../etc/passwd HTTP/1.1\r\n\r\n", 404),
                            (b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 405),
                            (b"DELETE /metrics HTTP/1.1\r\n\r\n", 405)):
        got = status_of(ask(address, request))
        need(got == wanted, "%r gives %s, wanted %d" % (request, got, wanted))
    need(samples(body_of(ask(address, good)).decode()), "the page has no samples")
    # A name of the web that leads here is not to be read under: DNS rebinding.
    for name, wanted in ((b"127.0.0.1:9400", 200), (b"[::1]:9400", 200), (b"LOCALHOST.:1", 200), (b"trainer:80", 200),
                         (socket.gethostname().encode(), 200), (b"evil.example", 421), (b"evil.example:9400", 421),
                         (b"127.0.0.1.evil.example", 421), (b"localhost.evil.example", 421), (b"[evil]", 421),
                         (b"", 421), (b"localhost\r\nHost: evil.example", 400)):
        got = status_of(ask(address, good.replace(b"localhost", name)))
        need(got == wanted, "Host %r gives %s, wanted %d" % (name, got, wanted))
    said = body_of(ask(address, good.replace(b"localhost", b"evil.example")))
    need(said.count(b"\n") == 1 and b"--host NAME" in said, "it says %r" % said)
    head = ask(address, good.replace(b"GET", b"HEAD"))
    need(status_of(head) == 200 and head.endswith(b"\r\n\r\n"), "HEAD has a body")
    need(status_of(ask(address, good, slowly=True)) == 200, "a byte at a time")
    for request in HOSTILE:
        got = status_of(ask(address, request))
        # Bytes behind the bound may make the kernel reset what was answered.
        need(got == 400 or (got is None and len(request) > 8192), "%r gives %s" % (request[:80], got))
    idle = [socket.create_connection(address, timeout=PATIENCE) for _ in range(20)]
    for client in idle[:10]:
        client.sendall(b"GET /metr")
    got = status_of(ask(address, good))
    need(got == 200, "with twenty idle clients it gives %s" % got)
    for client in idle:
        client.close()
    need(status_of(ask(address, good)) == 200, "after all of it")


def full(address, pid):
    """More clients than it has descriptors for."""
    host, port = address.rsplit(":", 1)
    idle = [socket.create_connection((host, int(port)), timeout=PATIENCE) for _ in range(30)]
    before = seconds_of(pid)
    time.sleep(1)
    used = seconds_of(pid) - before
    need(used < 0.3, "it took %.2f s of a processor in one second" % used)
    for client in idle:
        client.close()
    good = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    need(status_of(ask((host, int(port)), good)) in (200, None), "after all of it")


def seconds_of(pid):
    with open("/proc/%s/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- metrics --------------------------------------------------------------------------------------

SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\} (-?\d+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


def samples(text):
    """The text format 0.0.4: help and type before the samples, all of a metric side by side."""
    found = []
    seen = set()
    metric = None
    kinds = {}
    need(text.endswith("\n"), "the last line has no end")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            metric = line.split()[2]
            need(metric not in kinds, "%s comes twice" % metric)
            need(len(line.split(" ", 3)[3]) > 5, "%s has no help" % metric)
            continue
        if line.startswith("# TYPE "):
            need(line.split()[2] == metric, "type of another: %s" % line)
            kinds[metric] = line.split()[3]
            need(kinds[metric] in ("counter", "gauge"), line)
            need((kinds[metric] == "counter") == metric.endswith("_total"), "%s: a name of another type" % line)
            continue
        match = SAMPLE.match(line)
        need(match, "no sample: %r" % line)
        name, labels, value = match.groups()
        need(name == metric, "%s in the midst of %s" % (name, metric))
        key = (name, labels)
        need(key not in seen, "twice: %s" % line)
        seen.add(key)
        found.append([name, dict(LABEL.findall(labels)), int(value)])
    return found


def main(words):
    if words[0] == "screen":
        screen(words[1], words[2])
    elif words[0] == "dies":
        dies(words[1])
    elif words[0] == "http":
        http(words[1])
    elif words[0] == "full":
        full(words[1], words[2])
    elif words[0] == "metrics":
        with open(words[1], encoding="utf-8") as file:
            print(json.dumps(samples(file.read())))
    elif words[0] == "valid":
        import jsonschema
        with open(words[1], encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(schema)
        with open(words[2], encoding="utf-8") as file:
            jsonschema.validate(json.load(file), schema)
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
