"""Runs a program as the runtime of a container would, as far as that goes without one:

    contained.py ROOT [ro] [uid=N] [seccomp] [mount=SOURCE:TARGET[:ro]] [tmpfs=TARGET:BYTES] [NAME=VALUE...] -- PROGRAM WORD...

In namespaces of its own (mounts, processes, IPC) with /proc there, no capability that a container has not, no new
privileges, and as Docker's filter has it: what it forbids ends with EPERM, clone3 with ENOSYS. It ends with 125 and a
sentence where this machine does not allow that.
"""
import ctypes
import os
import platform
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x20000, 0x8000000, 0x20000000
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 22, 38, 24
# x86-64; of Docker's default profile, for a container without CAP_SYS_ADMIN, CAP_SYS_PTRACE and CAP_SYS_NICE.
FORBIDDEN = {"ptrace": 101, "syslog": 103, "personality": 135, "pivot_root": 155, "mount": 165, "umount2": 166, "mbind": 237,
             "set_mempolicy": 238, "get_mempolicy": 239, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
             "move_pages": 279, "perf_event_open": 298, "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308,
             "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "bpf": 321, "userfaultfd": 323}
CLONE, CLONE3, NEW_NAMESPACES = 56, 435, 0x7E020000
EPERM, ENOSYS = 1, 38


def must(result, what):
    if result == -1:
        print("contained: %s: %s" % (what, os.strerror(ctypes.get_errno())), file=sys.stderr)
        sys.exit(125)


def mount(source, target, kind, flags, data=None):
    must(LIBC.mount(source.encode(), target.encode(), kind, ctypes.c_ulong(flags), data), "mount on " + target)


def filter_calls():
    """Docker's filter as BPF."""
    load_number, load_argument, allow = (0x20, 0, 0, 0), (0x20, 0, 0, 16), (0x06, 0, 0, 0x7FFF0000)

    def refuse(error):
        return 0x06, 0, 0, 0x50000 | error

    code = [load_number]
    for number in FORBIDDEN.values():
        code += [(0x15, 0, 1, number), refuse(EPERM)]
    code += [(0x15, 0, 1, CLONE3), refuse(ENOSYS), (0x15, 0, 3, CLONE), load_argument, (0x45, 0, 1, NEW_NAMESPACES),
             refuse(EPERM), allow]
    packed = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(packed)))
    must(LIBC.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), program, 0, 0), "seccomp")


def enter(root, asked, environment, words):
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount(root, root, None, MS_BIND | MS_REC)
    for kind, value in asked:
        parts = value.split(":")
        if kind == "mount":
            target = root + parts[1]
            mount(parts[0], target, None, MS_BIND)
            if parts[2:] == ["ro"]:
                mount("none", target, None, MS_REMOUNT | MS_BIND | MS_RDONLY)
        elif kind == "tmpfs":
            mount("tmpfs", root + parts[0], b"tmpfs", MS_NOSUID, b"mode=1777,size=" + parts[1].encode())
    mount("proc", root + "/proc", b"proc", 0)
    flags = dict(asked)
    if "ro" in flags:
        mount("none", root, None, MS_REMOUNT | MS_BIND | MS_RDONLY)
    os.chroot(root)
    os.chdir("/")
    for capability in range(41):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if "uid" in flags:
        os.setgroups([])
        os.setgid(int(flags["uid"]))
        os.setuid(int(flags["uid"]))
    must(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if "seccomp" in flags and platform.machine() == "x86_64":
        filter_calls()
    os.execve(words[0], words, environment)


def main():
    options, words = sys.argv[2:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    asked, environment = [], {}
    for option in options:
        name, _, value = option.partition("=")
        if name in ("ro", "seccomp", "uid", "mount", "tmpfs"):
            asked.append((name, value))
        else:
            environment[name] = value
    must(LIBC.unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID), "unshare")
    child = os.fork()
    if not child:
        enter(os.path.realpath(sys.argv[1]), asked, environment, words)
    status = os.waitpid(child, 0)[1]
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


main()
