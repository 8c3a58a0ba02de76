#!/usr/bin/env python3
"""Makes include/memtrace/trace.schema.json agree with the rows of src/facts/trace.def: schema.py [--check]

The rows are what reads and writes a trace. A member that has a row and is not in the schema is added, with
the type of its row and the row's comment as its description; a member without a row goes; members stand in
the order of the rows. Descriptions, words and limits that are there stay. With --check nothing is written:
each difference is a line, and the status is 1.
"""
import json
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
ROWS = TOP / "src/facts/trace.def"
SCHEMA = TOP / "include/memtrace/trace.schema.json"
WIDTH = 110

ROW = re.compile(r'^\t?(BEGIN|END|ROW|ALSO|WORD|OBJECT|LIST|MANY)\(([^)]*)\)(?:[ \t]*/\*(.*?)\*/)?', re.M)
WHOLE = {"type": "integer", "minimum": 0}
KINDS = {"TEXT": {"type": ["string", "null"]}, "VALUE": {"type": "number"}, "U64": WHOLE, "U32": WHOLE,
         "OPTIONAL": {"type": ["integer", "null"], "minimum": 0},
         "POSITION": {"type": ["integer", "null"], "minimum": 0}, "I64": {"type": "integer"},
         "INT": {"type": ["integer", "null"], "minimum": 0}, "BOOL": {"type": "boolean"},
         "HEX": {"type": "string", "pattern": "^0x[0-9a-f]+$"}, "WORD": {"type": "string"},
         "TEXTS": {"type": "array", "items": {"type": "string"}},
         "U64S": {"type": "array", "items": WHOLE}, "U32S": {"type": "array", "items": WHOLE},
         "PAIRS": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
         "COUNTS": {"type": "object", "additionalProperties": WHOLE},
         "OBJECT": {"type": "object"}, "LIST": {"type": "array"}}
MAYBE = ("SOME", "WITH", "OTHERWISE") # left out where there is nothing to say


def set_of(types):
    return {types} if isinstance(types, str) else set(types)


class Row:
    """A member: its kind, the struct in it if it is an object or a list of them, and when it is written."""

    def __init__(self, macro, words, comment):
        self.key = words[1]
        self.kind = macro if macro in ("WORD", "OBJECT", "LIST") else words[0]
        self.struct = words[0] if macro in ("OBJECT", "LIST") else None
        self.when = words[3] if macro == "ALSO" else words[-1]
        self.comment = " ".join((comment or "").split())

    def schema(self):
        """For a member that the schema does not have."""
        kind = dict(KINDS[self.kind])
        if self.when == "OR_NULL":
            kind["type"] = sorted(set_of(kind["type"]) | {"null"}, key="null".__eq__)
        if not self.comment:
            sys.exit(f"schema: {ROWS.relative_to(TOP)}: {self.key} needs a comment in its line: its description")
        description = self.comment[0].upper() + self.comment[1:] + ("" if self.comment[-1] == "." else ".")
        inner = {"type": "object", "properties": {}, "required": []} if self.struct else {}
        if self.kind == "LIST":
            inner = {"items": inner}
        return {**kind, "description": description, **inner}


def read_rows():
    structs, rows = {}, None
    for macro, inside, comment in ROW.findall(ROWS.read_text()):
        words = [word.strip().strip('"') for word in inside.split(",")]
        if macro == "BEGIN":
            rows = structs[words[0]] = {}
        elif macro != "END":
            row = Row(macro, words, comment)
            rows[row.key] = row
    # The document's events are written one by one, in two kinds.
    structs["event"] |= structs.pop("mark")
    structs["trace"]["events"] = Row("LIST", ("event", "events", "LINES", "ALWAYS"), "")
    return structs


class Schema:
    """The document, and what had to be changed in it."""

    def __init__(self, root, structs):
        self.root, self.structs, self.changes = root, structs, []
        self.seen = {} # by struct: the keys that one of its places has

    def parts(self, schema):
        """The schema with all that it refers to, the nearest first."""
        yield schema
        more = schema.get("allOf", []) + schema.get("oneOf", [])
        if "$ref" in schema:
            more.append(self.root["definitions"][schema["$ref"].split("/")[-1]])
        for part in more:
            yield from self.parts(part)

    def types(self, schema):
        return set().union(*(set_of(part.get("type", "string" if "enum" in part or "const" in part else []))
                             for part in self.parts(schema)))

    def first(self, schema, member):
        return next((part[member] for part in self.parts(schema) if part.get(member)), None)

    def walk(self, struct, schema, where):
        """One struct at one of its places: what has no row goes, what differs from its row is set right."""
        rows, listed = self.structs[struct], {}
        for part in self.parts(schema):
            mine = part.get("properties", {})
            for key in [key for key in mine if key not in rows]:
                self.changes.append(f"{where}.{key} is in the schema and has no row")
                del mine[key]
            order = {key: number for number, key in enumerate(rows)}
            if list(mine) != sorted(mine, key=order.__getitem__):
                self.changes.append(f"{where}: its members do not stand in the order of the rows")
                part["properties"] = {key: mine[key] for key in sorted(mine, key=order.__getitem__)}
            listed.update(mine)
            for key in part.get("required", [])[:]:
                if key not in rows or rows[key].when in MAYBE:
                    self.changes.append(f"{where}.{key} may be left out and the schema requires it")
                    part["required"].remove(key)
        if not listed and "additionalProperties" in schema: # keys of its own, each with the same schema
            listed = {key: schema["additionalProperties"] for key in rows}
        self.seen.setdefault(struct, (schema, where, set()))[2].update(listed)
        for key in rows.keys() & listed.keys():
            self.member(rows[key], listed[key], f"{where}.{key}")

    def member(self, row, schema, where):
        wanted, types = set_of(KINDS[row.kind]["type"]), self.types(schema)
        if row.when == "OR_NULL" and "null" not in types or not wanted - {"null"} <= types:
            self.changes.append(f"{where} is {sorted(types)}, its row {sorted(wanted)}, {row.when}")
            schema["type"] = row.schema()["type"]
        if row.struct:
            self.walk(row.struct, self.first(schema, "items") if row.kind == "LIST" else schema, where)

    def add_missing(self):
        """Members that no place of their struct has. True when there were any."""
        before = len(self.changes)
        for struct, (schema, where, listed) in list(self.seen.items()):
            for row in self.structs[struct].values():
                if row.key in listed:
                    continue
                self.changes.append(f"{where}.{row.key} has a row and is not in the schema")
                target = next(part for part in self.parts(schema) if "properties" in part)
                target["properties"][row.key] = row.schema()
                if row.when in ("ALWAYS", "OR_NULL"):
                    target.setdefault("required", []).append(row.key)
        return len(self.changes) > before

    def mend(self):
        self.walk("trace", self.root, "trace")
        while self.add_missing():
            self.seen = {}
            self.walk("trace", self.root, "trace")
        for struct in self.structs.keys() - self.seen.keys():
            self.changes.append(f"struct {struct} is in no member")


def text_of(value, indent=""):
    """JSON with a value in one line where it fits."""
    line = json.dumps(value, ensure_ascii=False)
    inner = indent + "  "
    if len(indent) + len(line) <= WIDTH or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + text_of(one, inner) for one in value) + f"\n{indent}]"
    return "{\n" + ",\n".join(f"{inner}{json.dumps(key)}: {text_of(one, inner)}"
                              for key, one in value.items()) + f"\n{indent}}}"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    before = SCHEMA.read_text()
    schema = Schema(json.loads(before), read_rows())
    schema.mend()
    after = text_of(schema.root) + "\n"
    if not schema.changes and after != before:
        schema.changes.append("its layout is not what this script writes")
    if not arguments and after != before:
        SCHEMA.write_text(after)
    for change in sorted(set(schema.changes)):
        print(f"{SCHEMA.relative_to(TOP)}: {change}", file=sys.stderr)
    return 1 if arguments and schema.changes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
