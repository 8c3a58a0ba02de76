"""Programs whose stderr takes nothing, or not now: voice.py LIBRARY PROGRAM

One line a case: what it is, and how the program ended under the library and by itself. The line that
the library would say must not end, stop or hold up anybody.
"""
import fcntl
import os
import pty
import resource
import signal
import socket
import sys
import termios
import time

library, program = sys.argv[1:3]
PATIENCE = 15.0


def at_its_limit():
    """A regular file that has as many bytes as the limit of the process allows."""
    with open("full", "wb") as file:
        file.write(bytes(1024))
    return os.open("full", os.O_WRONLY | os.O_APPEND), lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    return writing, None


def closed_socket():
    mine, other = socket.socketpair()
    other.close()
    return mine.detach(), None


def never_read(blocking=True):
    """The reading side stays open, and the pipe is full."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, bytes(4096))
    except BlockingIOError:
        pass
    os.set_blocking(writing, blocking)
    kept.append(reading)
    return writing, None


def nearly_full():
    """A part of the line would have room in it."""
    writing, _ = never_read()
    os.read(kept[-1], 4096)
    os.set_blocking(writing, True)
    os.write(writing, bytes(4090))
    return writing, None


def no_space():
    return os.open("/dev/full", os.O_WRONLY), None


def read_only():
    return os.open("/dev/null", os.O_RDONLY), None


def none_at_all():
    return os.open("/dev/null", os.O_WRONLY), lambda: os.close(2)


def terminal(and_then):
    """The program is a job in the background of a terminal that it leads; `stty tostop`."""
    master, slave = pty.openpty()
    kept.append(master)
    flags = termios.tcgetattr(slave)
    flags[3] |= termios.TOSTOP
    termios.tcsetattr(slave, termios.TCSANOW, flags)

    def lead():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            return  # to the program
        if and_then == "hang up":
            os.close(master)
        end(job)

    return slave, lead


def end(job):
    """As a shell does: waits, sees a job that has been stopped, and ends it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        done, status = os.waitpid(job, os.WNOHANG | os.WUNTRACED)
        if done:
            break
        time.sleep(0.01)
    else:
        status = 98 << 8
    if os.WIFSTOPPED(status) or not done:
        os.kill(job, signal.SIGKILL)
    os._exit(97 if os.WIFSTOPPED(status) else os.WEXITSTATUS(status) if os.WIFEXITED(status) else 96)


def blocked(make, *signals):
    """The same with signals blocked or ignored by the program: they still are, afterwards."""
    def made():
        fd, prepare = make()

        def both():
            signal.pthread_sigmask(signal.SIG_BLOCK, signals)
            if prepare:
                prepare()
        return fd, both
    return made


CASES = {
    "a file at its limit": at_its_limit,
    "a file at its limit, SIGXFSZ blocked": blocked(at_its_limit, signal.SIGXFSZ),
    "a pipe that is closed": closed_pipe,
    "a socket that is closed": closed_socket,
    "a pipe that nobody reads": never_read,
    "a pipe that nobody reads, without waiting": lambda: never_read(False),
    "a pipe with little room": nearly_full,
    "a device without space": no_space,
    "open for reading": read_only,
    "none at all": none_at_all,
    "a terminal, in the background": lambda: terminal("stay"),
    "a terminal that hangs up": lambda: terminal("hang up"),
}
OUTPUTS = {"": "voice.json", ", nowhere to write": "/nowhere/at/all/voice.json"}


def run(make, traced, output):
    kept.clear()
    fd, prepare = make()
    env = dict(os.environ, MEMTRACE_OUTPUT=output)
    if traced:
        env["LD_PRELOAD"] = library
    begin = time.monotonic()
    # Not Popen's preload: the library is for the program alone.
    child = os.fork()
    if child == 0:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(fd, 2)
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        if prepare:
            prepare()
        os.execve(program, [program], env)
    _, status = os.waitpid(child, 0) if not hangs(child) else (0, -9)
    os.close(fd)
    for one in kept:
        os.close(one)
    return os.waitstatus_to_exitcode(status) if status >= 0 else "hangs", time.monotonic() - begin


def hangs(child):
    until = time.monotonic() + PATIENCE + 5
    while time.monotonic() < until:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return False
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


kept = []
for name, make in CASES.items():
    for how, output in OUTPUTS.items():
        plain, plain_took = run(make, False, output)
        traced, took = run(make, True, output)
        late = took > 2 * plain_took + 5
        print("%sok - stderr is %s%s: by itself %s, traced %s%s" % (
            "" if plain == traced and not late else "not ", name, how, plain, traced,
            " after %.1f s" % took if late else ""), flush=True)
