#!/bin/sh
# The library's manners: what its sources may not call, what it may take from libc, what it needs.
#
# The first check gives a line number, the second is the truth: a fact of the linked library that no
# macro hides. To allow one more function, put it in its row of `allowed`, and mind why others are
# not there: nothing that ends the host, speaks on its stdout, allocates with its malloc, takes its
# signals or starts threads of libc's (`clone` is for base/guest/own_stack_and_thread.c alone). The row `heap` is for
# the exit path alone: what the process's own __cxa_demangle gave is freed.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}"
library=$BUILD/libmemtrace.so
status=0

forbidden='exit|_exit|_Exit|quick_exit|abort|assert|raise|kill|
printf|vprintf|fprintf|vfprintf|dprintf|puts|fputs|putchar|perror|fopen|fdopen|popen|system|
execv|execve|execvp|posix_spawn|
strcpy|strcat|sprintf|vsprintf|strncpy|strncat|gets|
malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|
signal|sigaction|sigaltstack|pthread_create|pthread_exit|pthread_cancel|sleep|usleep|longjmp'

allowed='
memory     mmap munmap mremap madvise msync mprotect mincore getpagesize sysconf
files      fchmod open open64 openat close read write pread pread64 pwrite pwrite64 writev lseek lseek64
files      ftruncate ftruncate64 fallocate fallocate64 fstat fstat64 stat stat64 lstat lstat64 fsync
files      statfs statfs64 fstatfs fstatfs64 faccessat unlink unlinkat rename renameat2 link mkdir readlink realpath
files      getcwd fcntl fcntl64 flock opendir readdir closedir process_vm_readv isatty poll ioctl
bytes      memcpy memmove memset memcmp memchr memrchr memmem mempcpy
bytes      strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strchrnul strrchr strstr
bytes      strcspn strspn strpbrk stpcpy snprintf vsnprintf _sys_errlist
numbers    strtol strtoul strtoll strtoull bsearch __ctype_b_loc
numbers    __isoc23_strtol __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull
time       clock_gettime time gmtime_r nanosleep clock_nanosleep sched_yield
process    getpid getppid gettid getuid geteuid syscall uname gethostname getrlimit getauxval
process    getenv secure_getenv setenv unsetenv environ __environ program_invocation_name
process    program_invocation_short_name __progname prctl sched_getcpu
limits     getrlimit64
threads    pthread_setcancelstate pthread_self pthread_once pthread_atfork __register_atfork pthread_getattr_np
threads    pthread_attr_getstack pthread_attr_destroy pthread_attr_init
threads    pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock
threads    pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock
threads    pthread_key_create pthread_key_delete pthread_getspecific pthread_setspecific
signals    sigprocmask sigemptyset sigfillset sigaddset sigdelset sigismember sigisemptyset sigpending sigtimedwait sigaction
loader     dlopen dlclose dlvsym dlerror dladdr dladdr1 dlinfo dl_iterate_phdr _dl_find_object _r_debug
stacks     backtrace
heap       free
status     on_exit __cxa_at_quick_exit
thread     clone
compiler   __errno_location __stack_chk_fail __cxa_finalize __cxa_atexit __gmon_start__
compiler   _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
fortify    __memcpy_chk __memmove_chk __memset_chk __mempcpy_chk __strcpy_chk __stpcpy_chk
fortify    __snprintf_chk __vsnprintf_chk __read_chk __pread_chk __pread64_chk __readlink_chk
fortify    __realpath_chk __getcwd_chk __gethostname_chk __open_2 __open64_2 __poll_chk
'

# Comments and texts in quotes are blanked, a name behind . or -> is a member: what is left is a call.
sources=$(find src/capture src/base src/codec src/ledger src/spool/write* -name '*.[chS]' | sort)
for file in $sources; do
	words=$(echo "$forbidden" | tr -d '\n')
	# The signal that the user chose (MEMTRACE_SIGNAL) has its handler there, and nowhere else.
	[ "$file" != src/capture/life/control.c ] || words=$(echo "$words" | sed 's/|sigaction|/|/')
	awk -v forbidden="(^|[^A-Za-z0-9_.>])($words) *[(]" '
	{
		line = $0
		gsub(/\\./, "", line)
		gsub(/"[^"]*"/, "\"\"", line)
		if (inside && !sub(/^.*\*\//, "", line))
			next
		inside = 0
		gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
		sub(/\/\/.*/, "", line)
		if (sub(/\/\*.*/, "", line))
			inside = 1
		if (match(line, forbidden)) {
			name = substr(line, RSTART, RLENGTH)
			gsub(/[^A-Za-z0-9_]/, "", name)
			printf "%s:%d: a guest may not call %s\n", FILENAME, FNR, name
			bad = 1
		}
	}
	END { exit bad }' "$file" || status=1
done

names=$(echo "$allowed" | awk '{ for (i = 2; i <= NF; i++) print $i }')
for symbol in $(nm -D --undefined-only "$library" | awk '{ sub("@.*", "", $NF); print $NF }' | sort -u); do
	echo "$names" | grep -qxF "$symbol" || {
		echo "$library takes $symbol, which scripts/check-guest.sh does not allow"
		status=1
	}
done

for needed in $(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case $needed in
	libc.so.* | ld-linux* | libdl.so.* | libpthread.so.*) ;;
	*)
		echo "$library needs $needed: a guest brings libc only"
		status=1
		;;
	esac
done
exit $status
