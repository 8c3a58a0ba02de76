"""A server that stands in for GitHub's API and its store of artifacts: github_server.py STATE PORT-FILE.

STATE is JSON, read when the server starts and written after each request: comments of issues, files of branches,
artifacts, the requests so far (`log`), and what is to go wrong (`fail`: how often a method and path answers with a
status first, "PATCH /repos/..."; tokens: `good` may all, `reader` only reads). It knows what scripts/ci asks for, a
page of a list has two rows, and what it does not know is 404, so that a wrong path is no pass.
"""
import base64
import ctypes
import hashlib
import json
import os
import re
import signal
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

PAGE = 2
ME = "bot"
state_path, port_path = sys.argv[1:]
with open(state_path, encoding="utf-8") as file:
    state = json.load(file)
for kind, empty in (("comments", []), ("branches", {}), ("artifacts", []), ("log", []), ("fail", {}), ("objects", {})):
    state.setdefault(kind, empty)


def keep(kind, value):
    name = hashlib.sha1(json.dumps([kind, value, len(state["objects"])]).encode()).hexdigest()
    state["objects"][name] = value
    return name


class Answer(Exception):
    def __init__(self, status, body=None, **headers):
        self.status, self.body, self.headers = status, body, headers


def list_comments(ask, number):
    raise ask.page([row for row in state["comments"] if row["issue"] == int(number)])


def add_comment(ask, number):
    row = {"id": 100 + len(state["comments"]), "issue": int(number), "user": {"login": ME}, "body": ask.body["body"]}
    if len(row["body"]) > 65536:
        raise Answer(422, {"message": "body is too long"})
    state["comments"].append(row)
    raise Answer(201, row)


def change_comment(ask, number):
    row = next((row for row in state["comments"] if row["id"] == int(number)), None)
    if row is None:
        raise Answer(404, {})
    if row["user"]["login"] != ME:
        raise Answer(403, {"message": "not yours"})
    row["body"] = ask.body["body"]
    raise Answer(200, row)


def ref(ask, branch):
    if branch not in state["branches"]:
        raise Answer(404, {})
    raise Answer(200, {"object": {"sha": state["branches"][branch]["commit"]}})


def make_object(ask, kind):
    if kind == "trees":
        assert state["objects"][ask.body["tree"][0]["sha"]]["encoding"] == "base64"
    elif kind == "commits":
        assert ask.body["parents"] == [] and ask.body["tree"] in state["objects"]
    raise Answer(201, {"sha": keep(kind, ask.body)})


def make_ref(ask):
    tree = state["objects"][state["objects"][ask.body["sha"]]["tree"]]["tree"][0]
    state["branches"][ask.body["ref"][len("refs/heads/"):]] = {
        "commit": ask.body["sha"], "files": {tree["path"]: state["objects"][tree["sha"]]["content"]}}
    raise Answer(201, {})


def content(ask, path):
    files = state["branches"][ask.query["ref"]]["files"]
    if path not in files:
        raise Answer(404, {})
    raise Answer(200, {"sha": hashlib.sha1(files[path].encode()).hexdigest()})


def put_content(ask, path):
    branch = state["branches"][ask.body["branch"]]
    old = branch["files"].get(path)
    if (old is None) != ("sha" not in ask.body) or (old and hashlib.sha1(old.encode()).hexdigest() != ask.body["sha"]):
        raise Answer(422, {"message": "sha does not match"})
    assert base64.b64decode(ask.body["content"])[1:4] == b"PNG"
    branch["files"][path] = ask.body["content"]
    branch["commit"] = keep("commit", path)
    raise Answer(200, {"commit": {"sha": branch["commit"]}})


def artifacts(ask):
    raise ask.page([row for row in state["artifacts"] if row["name"] == ask.query.get("name", row["name"])], "artifacts")


def artifact(ask, number):
    raise Answer(302, None, Location="%s/store/%s" % (ask.home, number))


def stored(ask, number):
    if ask.token:
        raise Answer(400, {"message": "the store was sent a token"})
    row = next(row for row in state["artifacts"] if row["id"] == int(number))
    raise Answer(200, base64.b64decode(row["zip"]))


def any_file(ask, name):
    if not os.path.exists(name):
        raise Answer(404, {})
    with open(name, "rb") as file:
        raise Answer(200, file.read())


REPO = "/repos/o/r"
ROUTES = [("GET", REPO + "/issues/(\\d+)/comments", list_comments), ("POST", REPO + "/issues/(\\d+)/comments", add_comment),
          ("PATCH", REPO + "/issues/comments/(\\d+)", change_comment), ("GET", REPO + "/git/ref/heads/(.+)", ref),
          ("POST", REPO + "/git/(blobs|trees|commits)", make_object), ("POST", REPO + "/git/refs", make_ref),
          ("GET", REPO + "/contents/(.+)", content), ("PUT", REPO + "/contents/(.+)", put_content),
          ("GET", REPO + "/actions/artifacts", artifacts), ("GET", REPO + "/actions/artifacts/(\\d+)/zip", artifact),
          ("GET", "/store/(\\d+)", stored), ("GET", "/files/([A-Za-z0-9._-]+)", any_file)]


class Handler(BaseHTTPRequestHandler):
    def page(self, rows, name=None):
        at = int(self.query.get("page", 1))
        assert self.query["per_page"] == "100"
        shown, headers = rows[(at - 1) * PAGE:at * PAGE], {}
        if rows[at * PAGE:]:
            query = urllib.parse.urlencode(dict(self.query, page=at + 1))
            headers["Link"] = '<%s%s?%s>; rel="next", <%s>; rel="last"' % (self.home, self.where, query, self.home)
        return Answer(200, {"total_count": len(rows), name: shown} if name else shown, **headers)

    def find(self):
        what = "%s %s" % (self.command, self.where)
        state["log"].append(what)
        left = state["fail"].get(what)
        if left and left["times"]:
            left["times"] -= 1
            raise Answer(left["status"], {"message": "as asked"})
        if self.where.startswith("/repos/"):
            if self.token not in ("Bearer good", "Bearer reader"):
                raise Answer(401, {"message": "Bad credentials"})
            if self.token == "Bearer reader" and self.command != "GET":
                raise Answer(403, {"message": "Resource not accessible by integration"})
        for method, pattern, function in ROUTES:
            found = re.fullmatch(pattern, self.where)
            if found and method == self.command:
                function(self, *map(urllib.parse.unquote, found.groups()))
        raise Answer(404, {"message": "Not Found"})

    def answer(self):
        self.home = "http://" + self.headers["Host"]
        self.where, _, query = self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query))
        self.token = self.headers.get("Authorization")
        length = int(self.headers.get("Content-Length") or 0)
        self.body = json.loads(self.rfile.read(length)) if length else None
        try:
            self.find()
        except Answer as answer:
            found = answer
        except (AssertionError, KeyError) as error:
            found = Answer(422, {"message": repr(error)})
        data = found.body if isinstance(found.body, bytes) else json.dumps(found.body).encode()
        with open(state_path, "w", encoding="utf-8") as out:
            json.dump(state, out)
        self.send_response(found.status)
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_PUT = answer

    def log_message(self, *words):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: it ends with the test
with open(port_path, "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
server.serve_forever()
