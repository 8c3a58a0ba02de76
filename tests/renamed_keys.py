"""renamed_keys.py FILE...: brings documents that an older memtrace wrote to the keys of today, in place.

tests/renamed_keys.txt lists the keys, old and new. A key is renamed wherever it stands; texts are left alone.
"""
import pathlib
import re
import sys

table = pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines()
names = dict(row.split()[:2] for row in table if row and not row.startswith("#"))
old = re.compile(rb'(?<!\\)"(%s)":' % b"|".join(name.encode() for name in names))
for file in map(pathlib.Path, sys.argv[1:]):
    file.write_bytes(old.sub(lambda key: b'"%s":' % names[key[1].decode()].encode(), file.read_bytes()))
