#!/usr/bin/env python3
"""Makes the wheel: wheel.py BUILT BUILD VERSION FOLDER, which prints the path of the file.

BUILT holds the tool and the library that go inside, BUILD the manual's pages. It needs nothing but Python,
sh, readelf and strip; who installs the file needs no compiler and no network. The platform in its name is
manylinux_2_N: the oldest glibc that both programs load under (scripts/glibc-floor.sh).

SOURCE_DATE_EPOCH makes the same bytes again.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(SCRIPTS)
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of the ELF header


def script(name, *arguments, **environment):
    done = subprocess.run(["sh", os.path.join(SCRIPTS, name), *arguments], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def read(*path, mode="r"):
    with open(os.path.join(*path), mode, encoding=None if "b" in mode else "utf-8") as file:
        return file.read()


def metadata(version):
    return "\n".join([
        "Metadata-Version: 2.1", "Name: memtrace", f"Version: {version}",
        "Summary: What every byte of GPU memory was: allocated and reserved, peaks, who asked, from which line",
        "License: MIT", "License-File: LICENSE", "Requires-Python: >=3.8",
        "Classifier: Operating System :: POSIX :: Linux", "Classifier: Environment :: GPU :: NVIDIA CUDA",
        "Description-Content-Type: text/markdown", "", read(TOP, "README.md")])


ENTRY_POINTS = """[console_scripts]
memtrace = memtrace.__main__:main

[pytest11]
pytest_memtrace = pytest_memtrace
"""


def files(work, built, build, version):
    """(path in the wheel, bytes, mode) of all but RECORD."""
    programs = []
    for name, mode in (("memtrace", 0o755), ("libmemtrace.so", 0o644)):
        path = os.path.join(work, name)
        shutil.copy(os.path.join(built, name), path)
        subprocess.run(["strip", "--strip-unneeded", path], check=True)
        programs.append(path)
        yield f"memtrace/bin/{name}", read(path, mode="rb"), mode
    machine = MACHINES[int.from_bytes(read(programs[0], mode="rb")[18:20], "little")]
    tag = f"py3-none-manylinux_2_{script('glibc-floor.sh', *programs)}_{machine}"

    package = os.path.join(SCRIPTS, "python", "memtrace")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py"):
            yield f"memtrace/{name}", read(package, name, mode="rb"), 0o644
    for name in ("memtrace_pools.py", "pytest_memtrace.py"):
        yield name, read(SCRIPTS, name, mode="rb"), 0o644

    # What `make install` puts beside the programs: the manual, completion, schemas, the header, CI's files.
    stage = os.path.join(work, "stage")
    script("install.sh", "install", BUILD=build, PREFIX="/usr", LIBDIR="/usr/lib", DESTDIR=stage, VERSION=version)
    for part in ("include", "share"):
        for folder, _, names in sorted(os.walk(os.path.join(stage, "usr", part))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), os.path.join(stage, "usr"))
                mode = 0o755 if os.access(os.path.join(folder, name), os.X_OK) else 0o644
                # Python's modules are in the wheel already.
                if path != "share/memtrace/installed" and not path.startswith("share/memtrace/python/"):
                    yield f"memtrace-{version}.data/data/{path}", read(folder, name, mode="rb"), mode

    about = {"METADATA": metadata(version), "entry_points.txt": ENTRY_POINTS, "LICENSE": read(TOP, "LICENSE"),
             "WHEEL": f"Wheel-Version: 1.0\nGenerator: memtrace {version}\nRoot-Is-Purelib: false\nTag: {tag}\n"}
    licences = os.path.join(built, "licences")
    for name in sorted(os.listdir(licences)) if os.path.isdir(licences) else ():
        about[f"licences/{name}"] = read(licences, name)
    for name, text in about.items():
        yield f"memtrace-{version}.dist-info/{name}", text.encode(), 0o644


def main(built, build, version, folder):
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    with tempfile.TemporaryDirectory() as work:
        rows = list(files(work, built, build, version))
    record = f"memtrace-{version}.dist-info/RECORD"
    lines = []
    for path, data, _ in rows:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    rows.append((record, "".join([*lines, f"{record},,\n"]).encode(), 0o644))
    tag = next(data for path, data, _ in rows if path.endswith("/WHEEL")).decode().split("Tag: ")[1].strip()
    wheel = os.path.join(folder, f"memtrace-{version}-{tag}.whl")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, mode in rows:
            entry = zipfile.ZipInfo(path, moment)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: wheel.py BUILT BUILD VERSION FOLDER")
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"wheel: failed: {' '.join(error.cmd)}")
