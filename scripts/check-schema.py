#!/usr/bin/env python3
"""Does include/memtrace/trace.schema.json list the members that the rows of src/facts/trace.def do?

The rows are what reads and writes a trace; the schema says what each member means. Key by key: the
same members, the same types, null where a row may be null.
"""
import json
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r'^\t?(BEGIN|END|ROW|ALSO|WORD|OBJECT|LIST|MANY)\(([^)]*)\)', re.M)
TYPES = {"TEXT": {"string"}, "VALUE": {"number"}, "U64": {"integer"}, "OPTIONAL": {"integer"},
         "U32": {"integer"}, "POSITION": {"integer"}, "I64": {"integer"}, "INT": {"integer"},
         "BOOL": {"boolean"}, "HEX": {"string"}, "TEXTS": {"array"}, "U64S": {"array"},
         "U32S": {"array"}, "PAIRS": {"object"}, "COUNTS": {"object"}}

MAYBE = ("SOME", "WITH", "OTHERWISE") # left out where there is nothing to say


def read_rows():
    """By struct, by key: what stands there and when it is written."""
    structs, rows = {}, None
    for macro, inside in ROW.findall((TOP / "src/facts/trace.def").read_text()):
        words = [word.strip().strip('"') for word in inside.split(",")]
        if macro == "BEGIN":
            rows = structs[words[0]] = {}
        elif macro == "ALSO":
            rows[words[1]] = ({"string"}, None, words[3])
        elif macro in ("ROW", "MANY"):
            rows[words[1]] = (TYPES[words[0]], None, words[-1])
        elif macro == "WORD":
            rows[words[1]] = ({"string"}, None, words[2])
        elif macro != "END":
            rows[words[1]] = ({"array" if macro == "LIST" else "object"}, words[0], words[-1])
    return structs


def flat(schema, root):
    """Its properties, what it requires, its types and items, with all that it refers to."""
    types = schema.get("type", "string" if "enum" in schema or "const" in schema else [])
    whole = {"properties": dict(schema.get("properties", {})), "items": schema.get("items"),
             "required": set(schema.get("required", [])),
             "types": {types} if isinstance(types, str) else set(types)}
    parts = schema.get("allOf", []) + schema.get("oneOf", [])
    if "$ref" in schema:
        parts.append(root["definitions"][schema["$ref"].split("/")[-1]])
    for part in parts:
        part = flat(part, root)
        whole["properties"].update(part["properties"])
        whole["items"] = whole["items"] or part["items"]
        whole["required"] |= part["required"]
        whole["types"] |= part["types"]
    return whole


def compare(structs, told, struct, schema, root, where):
    """What differs, as sentences."""
    rows = structs[struct]
    whole = flat(schema, root)
    listed = whole["properties"]
    if not listed: # keys of its own, each with the same schema
        listed = {name: schema["additionalProperties"] for name in rows}
    told.setdefault(struct, set()).update(listed)
    for key in rows.keys() - listed.keys():
        if rows[key][2] not in MAYBE:
            yield f"{where}.{key} has a row and is not in the schema"
    for key in listed.keys() - rows.keys():
        yield f"{where}.{key} is in the schema and has no row"
    for key in rows.keys() & listed.keys():
        wanted, of, when = rows[key]
        member = flat(listed[key], root)
        if not wanted <= member["types"]:
            yield f"{where}.{key} is {sorted(member['types'])}, its row {sorted(wanted)}"
        if when == "OR_NULL" and "null" not in member["types"]:
            yield f"{where}.{key} may be null and the schema does not say so"
        if when in MAYBE and key in whole["required"]:
            yield f"{where}.{key} may be left out and the schema requires it"
        if of:
            inner = member["items"] if "array" in wanted else listed[key]
            yield from compare(structs, told, of, inner, root, f"{where}.{key}")


def main():
    structs = read_rows()
    root = json.loads((TOP / "include/memtrace/trace.schema.json").read_text())
    del root["properties"]["events"]
    told = {} # by struct: keys that the schema has at any of its places
    problems = sorted(compare(structs, told, "trace", root, root, "trace"))
    problems += [f"{struct}.{key} has a row and is nowhere in the schema"
                 for struct, rows in structs.items() for key in rows.keys() - told.get(struct, set())]
    for problem in problems:
        print(problem)
    return 1 if problems or len(structs) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
