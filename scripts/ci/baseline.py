#!/usr/bin/env python3
"""The baseline's way between runs: fetched before gate.sh, renewed after it on the default branch.

    baseline.py get    before the gate: tells whether this run renews (output `renew`), and in the way `artifact`
                       puts the newest baseline of the default branch where MEMTRACE_BASELINE says
    baseline.py put    after a gate that passed and may renew: brings what it measured to the default branch

    MEMTRACE_RENEW_BY  commit: the files are committed to the default branch, if they changed
                       artifact: they go to MEMTRACE_OUT/baseline, which action.yml uploads (output `upload`)
                       no: nobody renews
    MEMTRACE_BASELINE  the baseline, as for gate.sh
    MEMTRACE_ARTIFACT  the name of the artifact (memtrace-baseline)
    MEMTRACE_OUT       where gate.sh left head.json and `renew`, its list of what is to go where

Only a push, a schedule or a run by hand on the default branch renews, never a pull request: what a pull request measures
is no baseline before it is merged. An artifact counts only if a run of this very repository's default branch made it: a
fork may name its branch as it likes.
"""
import io
import os
import shutil
import subprocess
import sys
import zipfile

import github_api


def default_branch(event):
    return ((event.get("repository") or {}).get("default_branch")) or "main"


def renews(event):
    """Whether this run is one of the default branch."""
    if os.environ.get("MEMTRACE_RENEW_BY", "no") == "no":
        return False
    return (os.environ.get("GITHUB_EVENT_NAME") in ("push", "schedule", "workflow_dispatch") and
            os.environ.get("GITHUB_REF") == "refs/heads/" + default_branch(event))


def newest_artifact(api, name, event):
    """Of the default branch's runs; pages come with the newest first."""
    for artifact in api.pages("actions/artifacts?name=" + name):
        run = artifact.get("workflow_run") or {}
        if (artifact.get("name") == name and not artifact.get("expired") and run.get("head_branch") == default_branch(event) and
                run.get("head_repository_id") is not None and run["head_repository_id"] == run.get("repository_id")):
            return artifact
    return None


def get(event):
    github_api.output(renew="1" if renews(event) else "")
    base = os.environ.get("MEMTRACE_BASELINE")
    if os.environ.get("MEMTRACE_RENEW_BY") != "artifact" or not base:
        return 0
    api = github_api.Api()
    artifact = newest_artifact(api, os.environ.get("MEMTRACE_ARTIFACT") or "memtrace-baseline", event)
    if artifact is None:
        github_api.warn("the branch %s has no baseline so far" % default_branch(event))
        return 0
    folder = os.path.dirname(base) or "."
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(api.download("actions/artifacts/%d/zip" % artifact["id"]))) as packed:
        for name in packed.namelist():
            # Plain names: what is in an archive does not say where it goes.
            if name == os.path.basename(name) and name.endswith(".json"):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(packed.read(name))
                print("%s of artifact %d" % (name, artifact["id"]))
    return 0


def renewals(out):
    """(baseline, what was measured or '' if it goes) of each line of the gate's list."""
    with open(os.path.join(out, "renew"), encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file]


def git(*words, check=True):
    return subprocess.run(("git",) + words, stdout=subprocess.PIPE, universal_newlines=True, check=check)


def commit(rows, branch):
    for base, head in rows:
        if head:
            os.makedirs(os.path.dirname(base) or ".", exist_ok=True)
            shutil.copyfile(head, base)
        elif os.path.exists(base):
            os.remove(base)
    paths = [base for base, _ in rows if os.path.exists(base) or git("ls-files", "--", base).stdout]
    git("add", "-A", "--", *paths)
    if git("diff", "--cached", "--quiet", "--", *paths, check=False).returncode == 0:
        print("the baseline is what it was")
        return 0
    start = git("rev-parse", "HEAD").stdout.strip()
    name, address = "memtrace", "memtrace@users.noreply.github.com"
    # [skip ci]: a token of another kind than the job's own would start the next run with this.
    git("-c", "user.name=" + name, "-c", "user.email=" + address, "commit", "-q", "-m",
        "Renew the GPU memory baseline [skip ci]", "--", *paths)
    if git("push", "-q", "origin", "HEAD:refs/heads/" + branch, check=False).returncode == 0:
        print("the baseline is renewed on " + branch)
        return 0
    now = git("ls-remote", "origin", "refs/heads/" + branch, check=False).stdout.split()[:1]
    if now and now[0] != start:
        github_api.warn("the baseline is left to the run of the newer commit of %s" % branch)
        return 0
    github_api.warn("the baseline cannot be pushed to %s: it wants `permissions: contents: write`, and a branch that takes "
                    "pushes; else renew by artifact" % branch)
    return 1


def put(event):
    out = os.environ.get("MEMTRACE_OUT") or "memtrace-out"
    if not renews(event):
        print("this run renews nothing")
        return 0
    if not os.path.exists(os.path.join(out, "renew")):
        github_api.warn("the gate found no run that could be a baseline, so none is renewed")
        return 1
    rows = renewals(out)
    if os.environ["MEMTRACE_RENEW_BY"] == "commit":
        return commit(rows, default_branch(event))
    folder = os.path.join(out, "baseline")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for base, head in rows:
        if head:
            shutil.copyfile(head, os.path.join(folder, os.path.basename(base)))
    github_api.output(upload=folder)
    return 0


def main():
    ways = ("commit", "artifact", "no")
    if os.environ.get("MEMTRACE_RENEW_BY", "no") not in ways:
        print("baseline: MEMTRACE_RENEW_BY is one of %s" % ", ".join(ways), file=sys.stderr)
        return 2
    if sys.argv[1:] not in (["get"], ["put"]):
        print("usage: baseline.py get|put", file=sys.stderr)
        return 2
    try:
        return {"get": get, "put": put}[sys.argv[1]](github_api.event())
    except github_api.Refused as refused:
        github_api.warn("the baseline: %s" % refused)
        return 1


if __name__ == "__main__":
    sys.exit(main())
