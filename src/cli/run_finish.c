/*
 * What a run left: spools of dead processes become traces, and the traces are told in ten lines.
 *
 * A program may run others (torchrun, a shell script), so every file that the output's pattern can
 * name and that is newer than the start of the run counts, not only the child's own.
 */
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/pack.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/library.h"
#include "cli/run.h"
#include "render/report.h"
#include "render/show.h"

#define PREFIX "memtrace: "
#define ANYTHING "\001" /* stands for * until what is literal has been escaped */

enum {
	MOST = 4096,     /* traces of one run */
	OTHERS_TOLD = 2, /* in the summary, by name */
	RANKS_TOLD = 8,  /* where they are ranks of a job */
};

struct found {
	char *path;
	uint64_t pid, peak; /* peak: of allocated, of the fullest device */
	uint64_t rank, world_size;
};

struct finder {
	const struct run *run;
	struct found *list;
	size_t count, running, elsewhere;
	char output[4096]; /* the pattern, with ANYTHING for what differs */
};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char text[5000];
	char safe[5000];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	show_safe(safe, sizeof(safe), text, sizeof(safe));
	fprintf(stderr, PREFIX "%s\n", safe);
}

/* --- files --- */

/* A pattern for glob(3): all but ANYTHING stands for itself. */
static void escape(char *to, size_t size, const char *from)
{
	for (; *from; from++) {
		char part[3] = { *from, '\0', '\0' };

		if (*from == ANYTHING[0]) {
			part[0] = '*';
		} else if (strchr("*?[]\\", *from)) {
			part[0] = '\\';
			part[1] = *from;
		}
		text_append(to, size, part);
	}
}

static bool is_new(const struct run *run, const char *path)
{
	struct stat status;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	if (status.st_ctim.tv_sec != run->start.tv_sec)
		return status.st_ctim.tv_sec > run->start.tv_sec;
	return status.st_ctim.tv_nsec >= run->start.tv_nsec;
}

struct pattern {
	char text[16384];
};

/* Of the name, or of its numbered forms. */
static void make_pattern(struct pattern *pattern, const char *name, const char *extension,
			 bool numbered)
{
	char any[8192] = "";

	text_copy_n(any, sizeof(any), name, strlen(name) - strlen(extension));
	text_append(any, sizeof(any), numbered ? "." ANYTHING : "");
	text_append(any, sizeof(any), extension);
	pattern->text[0] = '\0';
	escape(pattern->text, sizeof(pattern->text), any);
}

/* Calls `each` with every new file of the name, and of its numbered forms. */
static void find(struct finder *finder, const char *name, const char *extension,
		 void (*each)(struct finder *, const char *path))
{
	for (int numbered = 0; numbered < 2; numbered++) {
		struct pattern pattern;
		glob_t files;

		make_pattern(&pattern, name, extension, numbered);
		if (glob(pattern.text, GLOB_NOSORT, NULL, &files))
			continue;
		for (size_t i = 0; i < files.gl_pathc; i++) {
			if (is_new(finder->run, files.gl_pathv[i]))
				each(finder, files.gl_pathv[i]);
		}
		globfree(&files);
	}
}

/* --- spools --- */

/* The output's name for a spool that lies elsewhere: beside the other outputs. */
static void output_of(const struct finder *finder, const char *spool, char *to, size_t size)
{
	const char *slash = strrchr(finder->output, '/');
	size_t directory = slash ? (size_t)(slash - finder->output) : 0;
	const char *base = text_base(spool);
	size_t stem = strlen(base) - strlen(".spool");

	if (!slash || memchr(finder->output, ANYTHING[0], directory)) {
		base = spool;
		stem = strlen(spool) - strlen(".spool");
		to[0] = '\0';
	} else {
		text_copy_n(to, size, finder->output, directory + 1);
	}
	directory = strlen(to);
	text_copy_n(to + directory, size - directory, base, stem);
	text_append(to, size, path_extension(finder->output));
}

/* Where spools of all jobs lie together, one that dies there may be another's. */
static bool is_ours(const struct finder *finder, const struct owner *owner)
{
	const char *extension = path_extension(finder->output);

	for (int numbered = 0; numbered < 2; numbered++) {
		struct pattern pattern;

		make_pattern(&pattern, finder->output, extension, numbered);
		if (!fnmatch(pattern.text, owner->output, FNM_PATHNAME))
			return true;
	}
	return !owner->output[0];
}

static void finish_spool(struct finder *finder, const char *path)
{
	struct recovery recovery = { .spool = path,
				     .numbered = true,
				     .ending = { UINT64_MAX, UINT64_MAX } };
	char output[4096];
	struct owner owner;

	if (recovery_owner(path, &owner)) {
		say("%s", err_text());
		return;
	}
	if (!is_ours(finder, &owner))
		return;
	/* Two machines, or containers, on one disk: not ours to end. */
	if (owner.elsewhere) {
		finder->elsewhere++;
		return;
	}
	if (owner.alive) {
		finder->running++;
		return;
	}
	output_of(finder, path, output, sizeof(output));
	recovery.output = output;
	if (owner.pid == (uint64_t)finder->run->pid)
		recovery.ending = finder->run->ending;
	if (recovery_run(&recovery))
		say("%s; all is kept in %s", err_text(), path);
	else
		unlink(path);
}

static void finish_spools(struct finder *finder)
{
	const char *given = opt_text(OPT_ID_spool_dir);
	const char *const directories[] = { given, "/dev/shm", getenv("TMPDIR"), "/tmp" };

	/* The library goes elsewhere when a directory cannot promise space: capture/facts.c. */
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		char spool[4096];

		if (!directories[i] || (i && given && !strcmp(directories[i], given)))
			continue;
		if (!path_spool(spool, sizeof(spool), finder->output, directories[i]))
			find(finder, spool, ".spool", finish_spool);
	}
}

/* --- traces --- */

/* A run beside ours in the same directory writes there too: its processes began before ours. */
static bool began_before(const struct run *run, const char *start)
{
	struct tm time = { 0 };

	if (!start || !strptime(start, "%Y-%m-%dT%H:%M:%S", &time))
		return false;
	return timegm(&time) < run->start.tv_sec - 1;
}

static void add_trace(struct finder *finder, const char *path)
{
	struct found *found;
	struct trace trace;
	char *copy;

	if (finder->count == MOST || trace_open_facts(&trace, path))
		return; /* not every .json that is new is a trace */
	copy = strdup(path);
	if (copy && !began_before(finder->run, trace.process.start_time)) {
		found = &finder->list[finder->count++];
		*found = (struct found){ .path = copy,
					 .pid = trace.process.pid,
					 .rank = trace.process.rank,
					 .world_size = trace.process.world_size };
		for (size_t i = 0; i < trace.summary.devices_n; i++) {
			uint64_t peak = trace.summary.devices[i].allocated.peak_bytes;

			if (peak != TRACE_NONE && peak > found->peak)
				found->peak = peak;
		}
		copy = NULL;
		if (found->pid == (uint64_t)finder->run->pid &&
		    trace.process.status == TRACE_NONE && trace.process.signal == TRACE_NONE) {
			trace_close(&trace);
			if (recovery_add_ending(path, &finder->run->ending))
				say("%s", err_text());
			return;
		}
	}
	free(copy);
	trace_close(&trace);
}

/* One that was to be compressed is not where that could not be had. */
static void find_traces(struct finder *finder)
{
	char plain[sizeof(finder->output)];
	enum pack_kind kind = pack_named(finder->output);

	find(finder, finder->output, path_extension(finder->output), add_trace);
	if (!kind)
		return;
	text_copy_n(plain, sizeof(plain), finder->output,
		    strlen(finder->output) - strlen(pack_rows[kind].suffix));
	find(finder, plain, path_extension(plain), add_trace);
}

/* The child's own first, then by peak. */
static pid_t first_pid;

static int by_weight(const void *a, const void *b)
{
	const struct found *x = a;
	const struct found *y = b;
	bool own_x = x->pid == (uint64_t)first_pid;
	bool own_y = y->pid == (uint64_t)first_pid;

	if (own_x != own_y)
		return own_x ? -1 : 1;
	if (x->peak != y->peak)
		return x->peak > y->peak ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Relative where that is shorter: it is what people copy. */
static const char *short_path(const char *path)
{
	char cwd[4096];
	size_t length;

	if (!getcwd(cwd, sizeof(cwd)))
		return path;
	length = strlen(cwd);
	return !strncmp(path, cwd, length) && path[length] == '/' ? path + length + 1 : path;
}

/* --- the summary --- */

static bool is_rank(const struct found *found)
{
	return found->world_size != TRACE_NONE && found->world_size > 1;
}

static void say_first(const struct run *run, const struct found *found)
{
	static char buffer[1 << 14];
	struct trace trace;
	struct out out;
	int error;

	out_init(&out, STDERR_FILENO, buffer, sizeof(buffer));
	error = trace_open_facts(&trace, found->path);
	if (!error) {
		if (run->ending.signal != UINT64_MAX || run->ending.status)
			report_last_words(&trace, &out, PREFIX);
		error = report_brief(&trace, &out, PREFIX);
		trace_close(&trace);
		out_flush(&out);
	}
	if (error)
		say("%s", err_text());
	if (is_rank(found))
		say("the trace of rank %llu of %llu is %s", (unsigned long long)found->rank,
		    (unsigned long long)found->world_size, short_path(found->path));
	else
		say("the trace is %s", short_path(found->path));
}

static void say_other(const struct found *found)
{
	char bytes[SHOW_NUMBER];

	show_bytes(bytes, found->peak);
	if (is_rank(found))
		say("rank %llu is %s (peak %s allocated)", (unsigned long long)found->rank,
		    short_path(found->path), bytes);
	else
		say("another is %s (peak %s allocated)", short_path(found->path), bytes);
}

/* One command for all of them: what they are called, with * for what differs. */
static void say_merge(const struct finder *finder)
{
	char name[sizeof(finder->output)];

	text_copy(name, sizeof(name), short_path(finder->output));
	for (char *p = name; *p; p++) {
		if (*p == ANYTHING[0])
			*p = '*';
	}
	say("memtrace merge %s tells the %zu as one", name, finder->count);
}

static void say_others(const struct finder *finder)
{
	size_t ranks = 0;
	size_t told;

	for (size_t i = 0; i < finder->count; i++)
		ranks += is_rank(&finder->list[i]);
	told = ranks > 1 ? RANKS_TOLD : OTHERS_TOLD;
	for (size_t i = 1; i < finder->count && i <= told; i++)
		say_other(&finder->list[i]);
	if (finder->count > told + 1)
		say("and %zu more beside them", finder->count - told - 1);
	if (ranks > 1)
		say_merge(finder);
}

static void say_nothing_found(const struct run *run)
{
	char path[4096];
	char why[8192];

	if (!program_find(run->command[0], path, sizeof(path)) &&
	    program_refuses(path, why, sizeof(why)))
		say("nothing was seen: %s", why);
	else if (!opt_flag(OPT_ID_enable))
		say("nothing was recorded: --enable=0");
	else
		say("no GPU memory was used by %s, so there is no trace",
		    text_base(run->command[0]));
}

static void say_all(struct finder *finder)
{
	const struct run *run = finder->run;

	if (run->ending.signal != UINT64_MAX)
		say("%s was killed by signal %d (%s)", text_base(run->command[0]),
		    (int)run->ending.signal, strsignal((int)run->ending.signal));
	if (finder->count) {
		first_pid = run->pid;
		qsort(finder->list, finder->count, sizeof(*finder->list), by_weight);
		say_first(run, &finder->list[0]);
		say_others(finder);
	} else if (!finder->running) {
		say_nothing_found(run);
	}
	if (finder->running)
		say("%zu %s still running and will write %s at the end", finder->running,
		    finder->running == 1 ? "process is" : "processes are",
		    finder->running == 1 ? "its trace" : "their traces");
	if (finder->elsewhere)
		say("%zu spool%s here of another machine or container; once its process has ended, "
		    "memtrace recover gives its trace",
		    finder->elsewhere, finder->elsewhere == 1 ? " is" : "s are");
}

void run_finish(const struct run *run)
{
	const struct path_words any = { ANYTHING, NULL, ANYTHING, ANYTHING };
	struct finder finder = { .run = run, .list = calloc(MOST, sizeof(struct found)) };

	if (!finder.list)
		return;
	if (path_expand(finder.output, sizeof(finder.output), opt_text(OPT_ID_output), &any)) {
		say("the name of the output is too long");
	} else {
		finish_spools(&finder);
		find_traces(&finder);
		if (!opt_flag(OPT_ID_quiet))
			say_all(&finder);
	}
	for (size_t i = 0; i < finder.count; i++)
		free(finder.list[i].path);
	free(finder.list);
}
