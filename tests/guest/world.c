/*
 * The world changes under a process that has begun: world CASE [CALL]. `world` alone lists the
 * cases, `world calls` the calls to refuse. What lies beside its trace it finds by MEMTRACE_OUTPUT.
 *
 * Each case ends with 7, or as it says, and prints how many allocations its process made. What
 * fails without a tracer as well (no rights, no such call) is no fault: who compares sees the same.
 */
#include <cuda_runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS = 30000, WELL = 7, CHILD = 3, THREADS = 400, STACK = 1 << 18 };

static char spool[512], document[512], partial[512];
static const char *call;
static atomic_long made;

static void must(int failed)
{
	if (failed)
		_exit(99);
}

static void pairs(int count)
{
	for (int i = 0; i < count; i++) {
		void *ptr;

		must(cudaMalloc(&ptr, 4096 + (size_t)(i % 16) * 512));
		must(cudaFree(ptr));
		made++;
	}
}

static void *pairs_of(void *count)
{
	pairs(*(int *)count);
	return count;
}

static int tell(void)
{
	printf("allocations=%ld\n", (long)made);
	fflush(stdout);
	return WELL;
}

static int go_on(void)
{
	pairs(PAIRS);
	return tell();
}

/* What a child ended with, as its own status or 100 and the signal. */
static int wait_for(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/* --- another root, another folder, other rights ---------------------------------------------- */

static int other_root(void)
{
	mkdir("jail", 0755);
	if (chroot("jail") || chdir("/"))
		puts("no chroot");
	return go_on();
}

static int other_mounts(void)
{
	char folder[512] = ".";

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    !getcwd(folder, sizeof(folder)) || mount("tmpfs", folder, "tmpfs", 0, NULL))
		puts("no mount namespace");
	return go_on();
}

/* All that one thread may leave, and back again between the pairs. */
static int other_namespaces(void)
{
	static const char *const names[] = { "uts", "ipc", "net", "mnt" };
	static const int flags[] = { CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS };

	for (int i = 0; i < 4; i++) {
		char name[32];
		int back;

		snprintf(name, sizeof(name), "/proc/self/ns/%s", names[i]);
		back = open(name, O_RDONLY | O_CLOEXEC);
		if (unshare(flags[i]))
			puts("no namespace");
		pairs(PAIRS / 8);
		if (setns(back, 0))
			puts("no way back");
		close(back);
		pairs(PAIRS / 8);
	}
	return go_on();
}

static int user_namespace(void)
{
	if (unshare(CLONE_NEWUSER))
		puts("no user namespace");
	return go_on();
}

/* The first of its children is the first of its namespace, and uses CUDA by itself. */
static int pid_namespace(void)
{
	pid_t child;

	if (unshare(CLONE_NEWPID))
		puts("no pid namespace");
	child = fork();
	if (child == 0) {
		pid_t grandchild;

		grandchild = fork();
		if (grandchild == 0) {
			pairs(1000);
			exit(CHILD);
		}
		must(wait_for(grandchild) != CHILD);
		pairs(1000);
		exit(CHILD);
	}
	must(wait_for(child) != CHILD);
	return go_on();
}

static int other_user(void)
{
	if (setgid(65534) || setuid(65534))
		puts("no setuid");
	return go_on();
}

static int strict_umask(void)
{
	umask(0777);
	return go_on();
}

static int folder_gone(void)
{
	if (mkdir("gone", 0755) || chdir("gone") || rmdir("../gone"))
		puts("no such folder");
	return go_on();
}

/* --- limits ---------------------------------------------------------------------------------- */

static int limited(int what, rlim_t most)
{
	struct rlimit limit = { most, most };

	if (setrlimit(what, &limit))
		puts("no limit");
	return go_on();
}

static int limit_as(void)
{
	return limited(RLIMIT_AS, 1 << 20);
}

static int limit_data(void)
{
	return limited(RLIMIT_DATA, 0);
}

static int limit_nofile(void)
{
	return limited(RLIMIT_NOFILE, 0);
}

static int limit_fsize(void)
{
	struct rlimit limit = { 1, 1 };

	/* Not a word: stdout is a file perhaps. */
	setrlimit(RLIMIT_FSIZE, &limit);
	pairs(PAIRS);
	return WELL;
}

static int limit_stack(void)
{
	return limited(RLIMIT_STACK, 1 << 16);
}

static int limit_nproc(void)
{
	return limited(RLIMIT_NPROC, 0);
}

static int limit_memlock(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		puts("not locked");
	return limited(RLIMIT_MEMLOCK, 4096);
}

static int all_locked(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		puts("not locked");
	return go_on();
}

/* --- descriptors and files ------------------------------------------------------------------- */

static int standard_closed(void)
{
	int kept = fcntl(1, F_DUPFD, 100);

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int fd = 0; fd < 3; fd++) {
		char name[16];

		snprintf(name, sizeof(name), "mine%d", fd);
		must(open(name, O_RDWR | O_CREAT, 0600) != fd);
	}
	pairs(PAIRS);
	dprintf(kept, "allocations=%ld\n", (long)made);
	return WELL;
}

static int all_one_file(void)
{
	int mine = open("mine", O_RDWR | O_CREAT, 0600);

	for (int fd = 3; fd < 200; fd++)
		dup2(mine, fd);
	return go_on();
}

static int spool_link(void)
{
	unlink(spool);
	must(symlink("elsewhere", spool));
	return go_on();
}

/* Somebody else's file has the spool's name: nothing of ours may be in it. */
static int spool_hard_link(void)
{
	int victim = open("victim", O_RDWR | O_CREAT | O_TRUNC, 0600);
	unsigned char bytes[4096];
	int intact = 1;

	must(ftruncate(victim, 1 << 22));
	unlink(spool);
	must(link("victim", spool));
	pairs(PAIRS);
	while (read(victim, bytes, sizeof(bytes)) > 0) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			intact &= !bytes[i];
	}
	printf("intact=%d\n", intact);
	return tell();
}

static int spool_fifo(void)
{
	unlink(spool);
	must(mkfifo(spool, 0600));
	return go_on();
}

static int spool_folder(void)
{
	unlink(spool);
	rmdir(spool);
	must(mkdir(spool, 0700));
	return go_on();
}

static int document_fifo(void)
{
	unlink(document);
	must(mkfifo(document, 0600));
	return go_on();
}

static int partial_link(void)
{
	unlink(partial);
	must(symlink("elsewhere", partial));
	return go_on();
}

/* --- births ---------------------------------------------------------------------------------- */

static int in_our_memory(void *unused)
{
	(void)unused;
	pairs(2000);
	return CHILD;
}

static int clone_vm(void)
{
	char *stack = malloc(STACK);

	for (int i = 0; i < 3; i++)
		must(wait_for(clone(in_our_memory, stack + STACK, CLONE_VM | SIGCHLD, NULL)) !=
		     CHILD);
	return go_on();
}

static int clone_three(void)
{
	struct clone_args arguments = { .exit_signal = SIGCHLD };
	pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (child == 0)
		_exit(CHILD);
	must(wait_for(child) != CHILD);
	return go_on();
}

static int raw_forks(void)
{
	for (int i = 0; i < 30; i++) {
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (child == 0)
			exit(CHILD);
		must(wait_for(child) != CHILD);
		pairs(100);
	}
	return tell();
}

static int spawns(void)
{
	char *words[] = { (char[]){ "/bin/true" }, NULL };

	for (int i = 0; i < 40; i++) {
		pid_t child;

		must(posix_spawn(&child, words[0], NULL, NULL, words, environ));
		must(wait_for(child));
		pairs(100);
	}
	return tell();
}

/* Before CUDA begins, for a child of one that has begun may not use it. */
static int double_fork(void)
{
	int gate[2];
	char byte;

	must(pipe(gate));
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			must(chdir("/"));
			for (int fd = 0; fd < 256; fd++) {
				if (fd != gate[1])
					close(fd);
			}
			open("/dev/null", O_RDWR);
			pairs(PAIRS);
			exit(0);
		}
		_exit(0);
	}
	wait(NULL);
	close(gate[1]);
	must(read(gate[0], &byte, 1)); /* nothing: the daemon has ended */
	puts("the daemon has ended");
	return WELL;
}

/* --- threads, signals ------------------------------------------------------------------------ */

static int many_threads(void)
{
	static pthread_t threads[THREADS];
	static int count = 60;
	pthread_attr_t attributes;
	int started = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	while (started < THREADS &&
	       !pthread_create(&threads[started], &attributes, pairs_of, &count))
		started++;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return tell();
}

/* Twenty times stopped as a whole, wherever its four threads are, and let go on. */
static int stopped(void)
{
	pid_t parent = getpid();
	static pthread_t threads[4];
	static int count = PAIRS;
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (child == 0) {
		for (int i = 0; i < 20; i++) {
			kill(parent, SIGSTOP);
			usleep(3000);
			kill(parent, SIGCONT);
			usleep(3000);
		}
		_exit(CHILD);
	}
	for (int i = 0; i < 4; i++)
		must(pthread_create(&threads[i], NULL, pairs_of, &count));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	must(wait_for(child) != CHILD);
	return tell();
}

static int signals_ignored(void)
{
	for (int number = 1; number < SIGRTMAX; number++) {
		if (number != SIGCHLD)
			signal(number, SIG_IGN);
	}
	return go_on();
}

static int signals_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	return go_on();
}

/* --- ends ------------------------------------------------------------------------------------ */

static void more(void)
{
	pairs(2000);
}

static void end_again(void)
{
	exit(5);
}

static int ends_quickly(void)
{
	go_on();
	quick_exit(WELL);
}

static int aborts_at_exit(void)
{
	atexit(abort);
	return go_on();
}

static int exits_at_exit(void)
{
	atexit(end_again);
	return go_on();
}

static int allocates_at_exit(void)
{
	made += 2000; /* those to come */
	atexit(more);
	return go_on();
}

/* The driver may have ended before the thread: it says so then. */
static void *run_on(void *unused)
{
	void *ptr;

	for (;;) {
		if (!cudaMalloc(&ptr, 4096))
			cudaFree(ptr);
	}
	return unused;
}

/* How many there were is chance. */
static int threads_at_exit(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		must(pthread_create(&thread, NULL, run_on, NULL));
	usleep(20000);
	return WELL;
}

static pthread_barrier_t both;

static void *end_beside(void *unused)
{
	pthread_barrier_wait(&both);
	exit(WELL);
	return unused;
}

static int two_exits(void)
{
	pthread_t thread;

	go_on();
	pthread_barrier_init(&both, NULL, 2);
	must(pthread_create(&thread, NULL, end_beside, NULL));
	pthread_barrier_wait(&both);
	exit(WELL);
}

static void *last_of_all(void *unused)
{
	usleep(10000);
	pairs(PAIRS);
	tell();
	return unused;
}

/* The process ends with its last thread, with 0. */
static int main_leaves(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, last_of_all, NULL));
	pthread_exit(NULL);
}

/* --- calls that the kernel refuses ----------------------------------------------------------- */

static const struct {
	const char *name;
	int number;
} calls[] = {
#define CALL(is)                                \
	{                                       \
		.name = #is, .number = SYS_##is \
	}
	CALL(openat),
	CALL(close),
	CALL(close_range),
	CALL(read),
	CALL(pread64),
	CALL(write),
	CALL(newfstatat),
	CALL(readlink),
	CALL(fstat),
	CALL(statfs),
	CALL(fallocate),
	CALL(ftruncate),
	CALL(fchmod),
	CALL(mmap),
	CALL(mremap),
	CALL(munmap),
	CALL(mprotect),
	CALL(madvise),
	CALL(link),
	CALL(unlink),
	CALL(rename),
	CALL(renameat2),
	CALL(readlink),
	CALL(getcwd),
	CALL(faccessat),
	CALL(faccessat2),
	CALL(getpid),
	CALL(gettid),
	CALL(tkill),
	CALL(tgkill),
	CALL(futex),
	CALL(poll),
	CALL(prctl),
	CALL(prlimit64),
	CALL(uname),
	CALL(process_vm_readv),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigpending),
	CALL(rt_sigtimedwait),
	CALL(sched_yield),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(clone),
	CALL(clone3),
	CALL(unshare),
};

static int number_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(calls) / sizeof(*calls); i++) {
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	}
	_exit(98);
}

static void refuse(const char *name)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number_of(name), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		puts("no seccomp");
}

static int refused(void)
{
	refuse(call);
	return go_on();
}

/* The driver has begun, and nothing is recorded yet. */
static int refused_first(void)
{
	must(cudaFree(NULL));
	return refused();
}

/* --- the table ------------------------------------------------------------------------------- */

enum { WARM, COLD };

static const struct {
	const char *name;
	int (*run)(void);
	int cold; /* before the first allocation */
} cases[] = {
	{ "another-root", other_root, WARM },
	{ "another-mount-namespace", other_mounts, WARM },
	{ "namespaces-and-back", other_namespaces, WARM },
	{ "user-namespace", user_namespace, WARM },
	{ "user-namespace-first", user_namespace, COLD },
	{ "pid-namespace-first", pid_namespace, COLD },
	{ "another-user", other_user, WARM },
	{ "umask-0777", strict_umask, WARM },
	{ "folder-gone", folder_gone, WARM },
	{ "limit-as", limit_as, WARM },
	{ "limit-data", limit_data, WARM },
	{ "limit-nofile", limit_nofile, WARM },
	{ "limit-fsize", limit_fsize, WARM },
	{ "limit-stack", limit_stack, WARM },
	{ "limit-nproc", limit_nproc, WARM },
	{ "limit-memlock", limit_memlock, WARM },
	{ "all-locked", all_locked, WARM },
	{ "standard-descriptors-closed", standard_closed, WARM },
	{ "all-descriptors-one-file", all_one_file, WARM },
	{ "spool-is-a-link", spool_link, WARM },
	{ "spool-is-a-hard-link", spool_hard_link, WARM },
	{ "spool-is-a-fifo", spool_fifo, WARM },
	{ "spool-is-a-folder", spool_folder, WARM },
	{ "document-is-a-fifo", document_fifo, WARM },
	{ "partial-is-a-link", partial_link, WARM },
	{ "clone-vm", clone_vm, WARM },
	{ "clone3", clone_three, WARM },
	{ "raw-forks", raw_forks, WARM },
	{ "spawns", spawns, WARM },
	{ "double-fork-first", double_fork, COLD },
	{ "many-threads", many_threads, WARM },
	{ "stopped", stopped, WARM },
	{ "signals-ignored", signals_ignored, WARM },
	{ "signals-blocked", signals_blocked, WARM },
	{ "quick-exit", ends_quickly, WARM },
	{ "abort-at-exit", aborts_at_exit, WARM },
	{ "exit-at-exit", exits_at_exit, WARM },
	{ "allocates-at-exit", allocates_at_exit, WARM },
	{ "threads-at-exit", threads_at_exit, WARM },
	{ "two-exits", two_exits, WARM },
	{ "main-leaves", main_leaves, WARM },
	{ "refused", refused, WARM },
	{ "refused-first", refused_first, COLD },
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

static int list(const char *what)
{
	for (size_t i = 0; what && i < sizeof(calls) / sizeof(*calls); i++)
		puts(calls[i].name);
	for (int i = 0; !what && i < CASES; i++) {
		if (cases[i].run != refused && cases[i].run != refused_first)
			puts(cases[i].name);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *file = getenv("MEMTRACE_OUTPUT");
	int length;

	if (!file)
		file = "none.json";
	length = (int)strlen(file) - (int)strlen(".json");
	if (argc < 2 || !strcmp(argv[1], "calls"))
		return list(argv[1]);
	call = argc > 2 ? argv[2] : NULL;
	snprintf(spool, sizeof(spool), "%.*s.spool", length, file);
	snprintf(document, sizeof(document), "%s", file);
	snprintf(partial, sizeof(partial), "%s.partial", file);
	for (int i = 0; i < CASES; i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		if (!cases[i].cold)
			pairs(10);
		return cases[i].run();
	}
	return 98;
}
