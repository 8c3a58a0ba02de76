#!/usr/bin/env python3
"""What gate.sh found, as one comment on the pull request: the first run writes it, later runs change it.

The comment is known by a hidden mark in its first line. It has the summary and the Markdown of each comparison, and
the map of the process that decided: a PNG (picture.py), kept in a branch of the repository, for a comment shows
pictures by address only. Where that branch cannot be written or the trace has no events, the curve of `memtrace
timeline` stands in its place as text.

    MEMTRACE_OUT       where gate.sh left its files (memtrace-out)
    MEMTRACE_TRACE     the trace of the map; gate.sh tells it as its output `trace`
    MEMTRACE_NAME      a name for the mark, where a repository has several gates (memtrace)
    MEMTRACE_PICTURES  the branch of the pictures; empty: text
    MEMTRACE_BIN       the tool (memtrace); github_api.py names what the platform sets

It ends with 0 also where there is no pull request, and where the token may not write comments (a pull request from
a fork), which it says: the verdict is the gate's. It ends with 1 if the API fails otherwise.
"""
import base64
import os
import re
import sys
import urllib.parse

import github_api
import picture

MOST = 65000  # characters: GitHub takes 65,536
FORBIDDEN = (401, 403, 404)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None


def make_branch(api, branch, path, content):
    """The branch, of one commit without parents that holds the one file; the commit."""
    blob = api.json("POST", "git/blobs", {"content": content, "encoding": "base64"})["sha"]
    tree = api.json("POST", "git/trees", {"tree": [{"path": path, "mode": "100644", "type": "blob", "sha": blob}]})["sha"]
    commit = api.json("POST", "git/commits", {"message": "Pictures of GPU memory", "tree": tree, "parents": []})["sha"]
    api.json("POST", "git/refs", {"ref": "refs/heads/" + branch, "sha": commit})
    return commit


def keep_picture(api, branch, path, png):
    """The address of the picture, in the commit that keeps it: a later one does not change what is shown here."""
    content = base64.b64encode(png).decode()
    where = "contents/%s" % urllib.parse.quote(path)
    try:
        api.json("GET", "git/ref/heads/" + urllib.parse.quote(branch))
    except github_api.Refused as refused:
        if refused.status != 404:
            raise
        commit = make_branch(api, branch, path, content)
    else:
        body = {"message": "A picture of GPU memory", "branch": branch, "content": content}
        try:
            body["sha"] = api.json("GET", where + "?ref=" + urllib.parse.quote(branch, safe=""))["sha"]
        except github_api.Refused as refused:
            if refused.status != 404:
                raise
        commit = api.json("PUT", where, body)["commit"]["sha"]
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    return "%s/%s/raw/%s/%s" % (server, api.repository, commit, path)


def map_of(api, number, name, out):
    """The map as Markdown: a picture, else text, else nothing."""
    trace, branch = os.environ.get("MEMTRACE_TRACE"), os.environ.get("MEMTRACE_PICTURES")
    made = None
    if trace:
        try:
            made = picture.make(os.environ.get("MEMTRACE_BIN") or "memtrace", trace)
        except OSError as error:
            github_api.warn("no map: %s" % error)
    if made:
        with open(os.path.join(out, "map.png"), "wb") as file:
            file.write(made[0])
    if made and branch:
        try:
            address = keep_picture(api, branch, "pull-%d/%s.png" % (number, re.sub(r"[^A-Za-z0-9._-]", "_", name)), made[0])
            return "![Allocated memory by call site](%s)\n\n%s" % (address, made[1])
        except github_api.Refused as refused:
            github_api.warn("the picture is shown as text, for the branch %s cannot be written: %s" % (branch, refused))
    text = read(os.path.join(out, "picture.txt"))
    return "```\n%s```\n" % text.replace("```", "'''") if text else ""


def fit(text, most):
    """The text, cut at the end of a line and told so if it is too long; what is open by then is closed."""
    if len(text) <= most:
        return text
    note = "\n\nThe rest is too long for a comment: see the artifact."
    cut = text[:most - len(note) - 1000]
    cut = cut[:cut.rfind("\n") + 1]
    if cut.count("```") % 2:
        cut += "```\n"
    cut += "\n</details>" * (cut.count("<details>") - cut.count("</details>"))
    return cut + note


def body_of(api, number, name, mark, out):
    summary = read(os.path.join(out, "summary.md"))
    if summary is None:
        summary = "### GPU memory: unknown\n\nThe gate ended before it had a result: see the log.\n"
    commit = os.environ.get("MEMTRACE_HEAD_SHA") or os.environ.get("GITHUB_SHA", "")
    run = os.environ.get("GITHUB_RUN_ID")
    end = "\nCommit %s" % commit[:12]
    if run:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        end += ", [the run with its pages](%s/%s/actions/runs/%s)" % (server, api.repository, run)
    shown = map_of(api, number, name, out)
    head, first, details = summary.partition("\n<details>")
    return mark + "\n" + fit(head + "\n" + shown + first + details, MOST - len(mark) - len(end)) + "\n" + end + "\n"


def write(api, number, mark, body):
    for comment in api.pages("issues/%d/comments" % number):
        # A person who quotes the mark does not begin with it.
        if not (comment.get("body") or "").startswith(mark):
            continue
        try:
            api.json("PATCH", "issues/comments/%d" % comment["id"], {"body": body})
            return "changed"
        except github_api.Refused as refused:
            if refused.status not in FORBIDDEN:
                raise
            # somebody else's: another account ran this before
    api.json("POST", "issues/%d/comments" % number, {"body": body})
    return "written"


def main():
    event = github_api.event()
    request = event.get("pull_request")
    if not request:
        print("no pull request, so no comment")
        return 0
    name = os.environ.get("MEMTRACE_NAME") or "memtrace"
    mark = "<!-- memtrace gate: %s -->" % re.sub(r"[^A-Za-z0-9 ._/-]", "_", name).replace("--", "__")
    os.environ.setdefault("MEMTRACE_HEAD_SHA", (request.get("head") or {}).get("sha") or "")
    api = github_api.Api()
    try:
        body = body_of(api, request["number"], name, mark, os.environ.get("MEMTRACE_OUT") or "memtrace-out")
        print("the comment is " + write(api, request["number"], mark, body))
    except github_api.Refused as refused:
        if refused.status in FORBIDDEN:
            github_api.warn("no comment: this token may not write one (permissions: pull-requests: write; "
                            "a pull request from a fork never may): %s" % refused)
            return 0
        github_api.warn("no comment: %s" % refused)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
