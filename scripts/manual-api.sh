#!/bin/sh
# The manual's page on the C API, libmemtrace.3, from the public header: its comments and prototypes.
#
#	manual-api.sh HEADER VERSION >libmemtrace.3
set -eu

# shellcheck disable=SC2016  # the $ are awk's
awk -v version="$2" '
function roff(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	if (text ~ /^[.\047]/)
		text = "\\&" text
	return text
}

# What a comment says, a line at a time: a line that begins with a tab in it is code.
function say(line) {
	if (line ~ /^\t/) {
		if (!code)
			print ".PP\n.nf"
		code = 1
		sub(/^\t/, "    ", line)
	} else if (code && line != "") {
		print ".fi\n.PP"
		code = 0
	} else if (line == "" && !code) {
		line = ".PP"
		print line
		return
	}
	print roff(line)
}

function end_code() {
	if (code)
		print ".fi"
	code = 0
}

# A prototype as bold text; a remark behind it in its line belongs to it.
function prototype(line,    remark) {
	if (match(line, /\/\*.*\*\//)) {
		remark = substr(line, RSTART + 2, RLENGTH - 4)
		gsub(/^ +| +$/, "", remark)
		line = substr(line, 1, RSTART - 1)
	}
	sub(/ MEMTRACE_WEAK/, "", line)
	gsub(/[ \t]+$/, "", line)
	print ".TP\n\\fB" roff(line) "\\fR"
	if (remark != "")
		print roff(remark)
}

BEGIN {
	print ".TH LIBMEMTRACE 3 \"\" \"memtrace " version "\" \"memtrace\""
	print ".SH NAME\nlibmemtrace \\- what a program may tell memtrace"
	print ".SH SYNOPSIS\n\\fB#include <memtrace/memtrace.h>\\fR\n.SH DESCRIPTION"
}

/^#ifndef MEMTRACE_LIBRARY/ { exit } # from here on: the macros around the functions
/^\/\*.*\*\/$/ {
	end_code()
	line = $0
	gsub(/^\/\* *| *\*\/$/, "", line)
	print ".PP"
	print roff(line)
	next
}
/^\/\*/ { comment = 1; print first++ ? ".PP" : ""; next }
comment && /\*\// { comment = 0; end_code(); next }
comment {
	line = $0
	sub(/^ \* ?/, "", line)
	if (line ~ /^memtrace\.h: /)
		sub(/^memtrace\.h: /, "This is ", line)
	say(line)
	next
}
/^(typedef|void|int|memtrace_pool) .*;/ { prototype($0) }

END { print ".SH SEE ALSO\n.BR memtrace (1),\n.BR libmemtrace (7)" }
' "$1" | sed '/^$/d'
