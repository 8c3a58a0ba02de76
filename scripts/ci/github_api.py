"""GitHub's API as the other steps of the action use it: a token, JSON, pages of lists, another try after an
error of the server. The standard library of Python 3.8 does.

    GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REF    set by the platform
    GITHUB_TOKEN            what may be done is up to it
    MEMTRACE_RETRY_SECONDS  the wait before another try (2)
"""
import json
import os
import sys
import time
import urllib.error
import urllib.request

TRIES = 4


class Refused(Exception):
    """The API's answer was no; `status` is HTTP's, 0 where there was no answer."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class _KeepRedirect(urllib.request.HTTPRedirectHandler):
    """A download is redirected to a store that must not see the token: the caller follows by itself."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


class Api:
    def __init__(self):
        self.url = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
        self.repository = os.environ["GITHUB_REPOSITORY"]
        self.token = os.environ.get("GITHUB_TOKEN", "")
        self.wait = float(os.environ.get("MEMTRACE_RETRY_SECONDS", "2"))
        self.opener = urllib.request.build_opener(_KeepRedirect)

    def _once(self, method, url, body, token):
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "memtrace"}
        if token and self.token:
            headers["Authorization"] = "Bearer " + self.token
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data, headers, method=method)
        with self.opener.open(request, timeout=60) as answer:
            return answer.read(), answer.headers

    def ask(self, method, path, body=None, token=True):
        """(bytes, headers). What the server cannot do now is tried again, but for a POST that may have been done."""
        url = path if "://" in path else "%s/repos/%s/%s" % (self.url, self.repository, path)
        for left in range(TRIES - 1, -1, -1):
            try:
                return self._once(method, url, body, token)
            except urllib.error.HTTPError as error:
                if error.code in (301, 302, 303, 307, 308):
                    return b"", error.headers
                text = error.read(2000).decode("utf-8", "replace")
                # 409: another job wrote to the same branch meanwhile
                again = error.code in (409, 429) or (error.code >= 500 and method != "POST")
                if not again or not left:
                    raise Refused(error.code, "%s %s: %d %s" % (method, url, error.code, text))
            except OSError as error:  # no answer
                if method == "POST" or not left:
                    raise Refused(0, "%s %s: %s" % (method, url, error))
            time.sleep(self.wait)

    def json(self, method, path, body=None):
        return json.loads(self.ask(method, path, body)[0] or b"null")

    def pages(self, path):
        """The rows of a list, over all its pages; an object that holds one list gives that one's rows."""
        path += ("&" if "?" in path else "?") + "per_page=100"
        while path:
            data, headers = self.ask("GET", path)
            rows = json.loads(data)
            if isinstance(rows, dict):
                rows = next(value for value in rows.values() if isinstance(value, list))
            for row in rows:
                yield row
            path = next_page(headers.get("Link") or "")

    def download(self, path):
        """The bytes that a path leads to, at another host, too."""
        data, headers = self.ask("GET", path)
        if headers.get("Location"):
            data, _ = self.ask("GET", headers["Location"], token=False)
        return data


def next_page(link):
    for part in link.split(","):
        address, _, relation = part.partition(";")
        if 'rel="next"' in relation:
            return address.strip().strip("<>")
    return None


def event():
    path = os.environ.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def output(**values):
    """Outputs of the step; one line each."""
    path = os.environ.get("GITHUB_OUTPUT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            for name, value in values.items():
                file.write("%s=%s\n" % (name, value))


def warn(text):
    """Told to who reads the log, and on GitHub's page of the run."""
    print("memtrace: " + text, file=sys.stderr)
    if os.environ.get("GITHUB_ACTIONS"):
        print("::warning::" + text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
