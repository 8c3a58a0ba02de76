"""On what was measured: the processor, the kernel, versions, how busy it was."""
import os
import platform
import subprocess


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def first_line(text):
    return text.split("\n", 1)[0]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def state(build):
    """Words by name, for the head of a table."""
    known = {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": f"{os.getloadavg()[0]:.1f}",
        "Linux": platform.release(),
        "compiler": first_line(said(os.environ.get("CC", "cc"), "--version")),
        "memtrace": first_line(said(os.path.join(build, "memtrace"), "--version")).removeprefix("memtrace "),
        "commit": said("git", "describe", "--always", "--dirty"),
        "GPU": first_line(said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")),
    }
    return {key: value for key, value in known.items() if value}
