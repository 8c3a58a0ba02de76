"""`memtrace`, and `python -m memtrace`: becomes the tool. A program that ends in .py runs under this Python."""
import os
import sys

from . import tool

# The options of `memtrace run` whose value is a word of its own.
VALUED = {"-o", "--output", "--spool-dir", "--signal", "--filter", "--sample", "--stacks", "--stack-depth",
          "--max-events", "--keep"}


def words(arguments):
    """The tool's words: `run [options] [--] train.py` gets this Python before the program."""
    if arguments[:1] != ["run"]:
        return arguments
    at = 1
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "--":
        at += 2 if arguments[at] in VALUED else 1
    program = arguments[at + 1:] if arguments[at:at + 1] == ["--"] else arguments[at:]
    if program and program[0].endswith(".py") and not os.access(program[0], os.X_OK):
        return [*arguments[:at], "--", sys.executable, *program]
    return arguments


def main():
    path = tool()
    try:
        (os.execv if os.sep in path else os.execvp)(path, [path, *words(sys.argv[1:])])
    except OSError as error:
        sys.exit(f"memtrace: {path}: {error.strerror}")


if __name__ == "__main__":
    main()
