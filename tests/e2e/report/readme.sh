#!/bin/sh
# README.md shows what the commands print.
. "$(dirname "$0")/../lib.sh"

is 'README shows what the commands print' "$("$PYTHON" "$TOP/scripts/readme.py" --check)" ''
