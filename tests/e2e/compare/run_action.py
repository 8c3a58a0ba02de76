"""Does the steps of scripts/ci/action.yml as GitHub would: run_action.py ACTION.YML NAME=VALUE...

NAME=VALUE are inputs. A line for each step: its id, what became of it, and for one that `uses` an action that and its
name and path. It ends with 1 if a step failed. Known of GitHub's language is what that file has: ${{ inputs.x }}, outputs
and outcomes of steps, always(), &&, || and comparisons; anything else is an error here.
"""
import os
import re
import subprocess
import sys
import tempfile

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    action = yaml.safe_load(file)
inputs = {name: str(row.get("default", "")) for name, row in action["inputs"].items()}
for word in sys.argv[2:]:
    name, _, value = word.partition("=")
    if name not in inputs:
        sys.exit("no such input: " + name)
    inputs[name] = value
outputs, outcomes, environment, failed = {}, {}, dict(os.environ), False


def value_of(found):
    words = found.group(0).split(".")
    if words[0] == "github":
        return os.environ["GITHUB_TOKEN"]
    if words[0] == "inputs":
        return inputs[words[1]]
    if words[2] == "outcome":
        return outcomes[words[1]]
    return outputs[words[1]].get(words[3], "") if outcomes[words[1]] != "skipped" else ""


TERM = re.compile(r"inputs\.[\w-]+|steps\.\w+\.outputs\.\w+|steps\.\w+\.outcome|github\.token")


def text(value):
    done = re.sub(r"\$\{\{ (.*?) \}\}", lambda found: TERM.sub(value_of, found.group(1)), str(value))
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: TERM.sub(value_of, found.group(1)), done)


def wanted(condition):
    if condition is None:
        return not failed
    words = TERM.sub(lambda found: repr(value_of(found)), condition)
    asks = "always()" in words
    words = words.replace("always()", "True").replace("&&", " and ").replace("||", " or ")
    if not re.fullmatch(r"(True|and|or|==|!=|'[^']*'|\s)+", words):
        sys.exit("not understood: " + condition)
    return bool(eval(words)) and (asks or not failed)  # the words are the ones above


def lines(path):
    with open(path, encoding="utf-8") as told:
        return [line.rstrip("\n").partition("=")[::2] for line in told]


for i, step in enumerate(action["runs"]["steps"]):
    name = step.get("id", "step%d" % i)
    outputs[name], outcomes[name] = {}, "skipped"
    if not wanted(step.get("if")):
        print(name, "skipped")
        continue
    outcomes[name] = "success"
    if "uses" in step:
        shown = {key: text(value) for key, value in step["with"].items()}
        print(name, step["uses"], shown["name"], " ".join(shown["path"].split()))
        continue
    if "${{" in step["run"]:
        sys.exit("text of a workflow is code in " + name)
    with tempfile.TemporaryDirectory() as folder:
        files = {key: os.path.join(folder, key) for key in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")}
        for path in files.values():
            with open(path, "w", encoding="utf-8"):
                pass
        given = dict(environment, **files, GITHUB_ACTION_PATH=os.path.dirname(os.path.abspath(sys.argv[1])))
        given.update((key, text(value)) for key, value in step.get("env", {}).items())
        ended = subprocess.run(["sh", "-e", "-c", step["run"]], env=given, stdout=sys.stderr, check=False).returncode
        outputs[name].update(lines(files["GITHUB_OUTPUT"]))
        environment.update(lines(files["GITHUB_ENV"]))
        for folder_of_tools, _ in lines(files["GITHUB_PATH"]):
            environment["PATH"] = folder_of_tools + ":" + environment["PATH"]
    if ended:
        outcomes[name], failed = "failure", True
    print(name, outcomes[name])
for name, row in action["outputs"].items():
    print("output", name, text(row["value"]))
sys.exit(failed)
