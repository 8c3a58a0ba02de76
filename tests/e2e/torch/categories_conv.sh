#!/bin/sh
# The same of convolutions, and of weights without a module: two scripts, as each takes its time.
PROGRAMS='^conv\|^hand'
# shellcheck source=categories.sh
. "$(dirname "$0")/categories.sh"
