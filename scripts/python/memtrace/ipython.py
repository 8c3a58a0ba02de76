"""%%memtrace [NAME]: runs the cell as a phase, and shows what of GPU memory was live at its peak."""
import os
import subprocess
import tempfile

from . import dump, phase, recording, tool

counted = [0]


def report(name):
    """What `memtrace report` says of the phase."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cell.json")
        try:
            dump(path)
        except OSError:
            return "memtrace: no GPU memory was allocated in this process yet\n"
        done = subprocess.run([tool(), "report", path, "--at", f"phase:{name}", "--limit", "5"], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


def load(shell):
    def memtrace(line, cell):
        counted[0] += 1
        name = line.strip() or f"cell {counted[0]}"
        with phase(name):
            result = shell.run_cell(cell)
        if recording():
            print(report(name), end="")
        else:
            print("memtrace: not recorded; start the notebook as: memtrace run -- jupyter lab")
        result.raise_error()

    shell.register_magic_function(memtrace, "cell", "memtrace")
