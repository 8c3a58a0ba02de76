#compdef memtrace
# Completion of memtrace for zsh, printed by `memtrace help --completion zsh`.
_memtrace() {
	local -a verbs
	verbs=(
@@	)
	if ((CURRENT == 2)); then
		_describe -t commands command verbs
		return
	fi
	shift words
	((CURRENT--))
	case $words[1] in
@@	esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_memtrace "$@"
else
	compdef _memtrace memtrace
fi
