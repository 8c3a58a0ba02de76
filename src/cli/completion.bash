# Completion of memtrace for bash, printed by `memtrace help --completion bash`.
_memtrace() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local verb=${COMP_WORDS[1]} options= kind=trace words= i
	COMPREPLY=()
	# Bash splits --option=value into three words.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W '@@ help --help --version' -- "$cur"))
		return
	fi
	case $verb in
@@	*) return ;;
	esac
	if [[ $kind == program ]]; then
		# The words after -- are the command line of the program.
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [[ ${COMP_WORDS[i]} == -- ]]; then
				if ((i + 1 == COMP_CWORD)); then
					COMPREPLY=($(compgen -A command -A file -- "$cur"))
				elif declare -F _command_offset >/dev/null; then
					_command_offset $((i + 1))
				else
					compopt -o filenames 2>/dev/null
					COMPREPLY=($(compgen -f -- "$cur"))
				fi
				return
			fi
		done
	fi
	if [[ $kind != value && $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		return
	fi
	local IFS=$'\n'
	case $kind in
	words) COMPREPLY=($(IFS=' ' compgen -W "$words" -- "$cur")) ;;
	file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
	program) COMPREPLY=($(compgen -A command -- "$cur")) ;;
	trace)
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -d -- "$cur"
			compgen -f -X '!*.json' -- "$cur"
			compgen -f -X '!*.json.gz' -- "$cur"
			compgen -f -X '!*.json.zst' -- "$cur"
			compgen -f -X '!*.spool' -- "$cur"))
		;;
	esac
}
complete -F _memtrace memtrace
