"""hostile.py EXAMPLE OUTPUT: the example with a script in the place of every name."""
import json
import sys

SCRIPT = "</script><script>window.pwned = 1</script><img src=x onerror=window.pwned=1><!--<script>\"'`&lt;"


def changed(value, key=None):
    if isinstance(value, dict):
        return {k: changed(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [changed(v, key) for v in value]
    names = ("function", "file", "site", "name", "pool", "owner", "domain", "host", "command", "cwd", "path", "symbol",
             "api", "error", "notes")
    return value + SCRIPT if isinstance(value, str) and key in names else value


document = changed(json.load(open(sys.argv[1])))
events = document.pop("events")
with open(sys.argv[2], "w") as out:
    out.write(json.dumps(document)[:-1] + ', "events":[\n' + ",\n".join(map(json.dumps, events)) + "\n]}\n")
