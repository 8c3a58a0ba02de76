#!/bin/sh
# Completion in bash and zsh: what a Tab gives, asked of the shells themselves.
# Single quotes: it is another shell that expands.
# shellcheck disable=SC2016
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

table() { # MACRO FILE: the names of its rows, one a line
	sed -n "s/^$1(\([a-z_-]*\),.*/\1/p" "$TOP/src/$2"
}

mkdir -p files/folder
cd files || exit 1
: >a.json
: >b.spool
: >c.txt

fails 2 '--completion is for bash or zsh, not fish' memtrace help --completion fish
fails 2 '--completion is for bash or zsh, not nothing' memtrace help --completion
fails 2 'help: there is no option --nonsense' memtrace help --nonsense

# --- bash -----------------------------------------------------------------------------------------------
ok 'a script for bash' memtrace help --completion bash
cp "$OUT" ../memtrace.bash
ok 'that bash accepts' bash -n ../memtrace.bash
ok 'and binds to the command' bash -c '. ../memtrace.bash; complete -p memtrace | grep -x "complete -F _memtrace memtrace"'

# The words as readline would split them, the last of them under the cursor: what is offered.
tab() { # WORD...
	bash -c '
		. ../memtrace.bash
		COMP_WORDS=(memtrace "$@")
		COMP_CWORD=$#
		_memtrace memtrace "${!#}" ""
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" 2>&1 | LC_ALL=C sort -u | tr '\n' ' ' | sed 's/ $//'
}

is 'every command' "$(tab '')" \
	"$({ table COMMAND cli/commands.def; printf '%s\n' help --help --version; } | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
is 'one command' "$(tab repo)" report
is 'its options' "$(tab report --li)" --limit
is 'every option of run' "$(tab run --)" \
	"$({ table OPTION base/settings/opt.def | tr _ - | sed 's/^/--/'; echo --help; } | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
is 'the formats of export' "$(tab export a.json --to '')" \
	"$(sed -n 's/^FORMAT([a-z_]*, *"\([a-z-]*\)".*/\1/p' "$TOP/src/render/export/formats.def" | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
is 'behind its letter' "$(tab export -t ev)" events
is 'words of a choice' "$(tab export --metric re)" reserved
is 'behind an equals sign' "$(tab export --metric =)" 'allocated reserved used'
is 'and further' "$(tab export --metric = u)" used
is 'traces and spools' "$(tab report '')" 'a.json b.spool folder'
is 'any file behind -o' "$(tab report -o '')" 'a.json b.spool c.txt folder'
is 'the formats of a comparison' "$(tab diff --format '')" \
	"$(table DIFF_FORMAT render/compare/diff_formats.def | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
is 'the formats of ranks' "$(tab merge --format '')" \
	"$(table MERGE_FORMAT render/ranks/ranks_formats.def | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
is 'traces of a side' "$(tab diff --base b)" b.spool
is 'nothing for a number' "$(tab report --limit '')" ''
is 'a program' "$(tab run -- truncat)" truncate
is 'its own files' "$(tab run -- cat c.)" c.txt
is 'not our options' "$(tab run -- cat --qui)" ''
is 'nothing for no command' "$(tab nonsense '')" ''

# --- zsh ------------------------------------------------------------------------------------------------
ok 'a script for zsh' memtrace help --completion zsh
mkdir ../fpath
cp "$OUT" ../fpath/_memtrace
if command -v zsh >/dev/null; then
	ok 'that zsh accepts' zsh -n ../fpath/_memtrace
	# A shell of its own on a terminal; what it lists is between two marks.
	cat >../zsh.py <<-'END'
		import os, pty, re, select, sys, time

		def until(fd, word, seconds=60):
		    got = b""
		    end = time.monotonic() + seconds
		    while word not in got and time.monotonic() < end:
		        if select.select([fd], [], [], 0.2)[0]:
		            try:
		                got += os.read(fd, 65536)
		            except OSError:
		                break
		    return got

		pid, fd = pty.fork()
		if pid == 0:
		    os.environ.update(TERM="dumb", PS1="", COLUMNS="200")
		    os.execvp("zsh", ["zsh", "-f", "-i"])
		setup = r'''
		fpath=(../fpath $fpath); autoload -U compinit; compinit -u -D
		LISTMAX=1000; unsetopt beep
		zle -N ask
		ask() { BUFFER=$line; CURSOR=$#BUFFER; zle expand-or-complete; print -r -- "<<<$BUFFER>>>"; BUFFER=; zle -R }
		bindkey "^T" ask
		PS1=; print -r REA''DY
		'''
		os.write(fd, "\n".join(l.strip() for l in setup.split("\n")).encode())
		until(fd, b"READY")
		for line in sys.argv[1:]:
		    os.write(fd, ("line='%s'; print -r SE''T\n" % line).encode())
		    until(fd, b"SET")
		    os.write(fd, b"\x14")
		    got = until(fd, b">>>")
		    found = re.findall(rb"<<<(.*?)>>>", got)
		    print(found[-1].decode().strip() if found else "nothing: %r" % got)
		os.close(fd)
	END
	ok 'a shell that completes' "$PYTHON" ../zsh.py 'memtrace repo' 'memtrace report --lim' \
		'memtrace export --to ev' 'memtrace export --metric=us' 'memtrace report b' \
		'memtrace run --max-ev' 'memtrace run -- truncat'
	is 'a command' "$(sed -n 1p "$OUT")" 'memtrace report'
	is 'an option' "$(sed -n 2p "$OUT")" 'memtrace report --limit='
	is 'a format' "$(sed -n 3p "$OUT")" 'memtrace export --to events'
	is 'a choice' "$(sed -n 4p "$OUT")" 'memtrace export --metric=used'
	is 'a spool' "$(sed -n 5p "$OUT")" 'memtrace report b.spool'
	is 'a setting' "$(sed -n 6p "$OUT")" 'memtrace run --max-events='
	is 'a program' "$(sed -n 7p "$OUT")" 'memtrace run -- truncate'
else
	skip 'completion in zsh' 'no zsh here'
fi
