/*
 * After `memtrace run`: turns the spools of dead processes into traces, and finds all traces.
 *
 * The program may start others (torchrun, a shell script), each with its own trace. So every file
 * with a name that fits MEMTRACE_OUTPUT counts, unless it is unchanged since run_before() saw it.
 * No clock decides this, because libfaketime can give the program or memtrace a false time.
 */
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/mem/hash.h"
#include "base/settings/opt.h"
#include "base/text/pack.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "cli/run/child_process.h"

#define ANYTHING "\001" /* placeholder for any text; escape() makes it "*" */

enum { MOST = 4096 }; /* maximum number of traces found for a run; further ones are ignored */

struct file_finder {
	struct child_run *run;
	struct run_left left;
	char output[4096]; /* path of the traces, with ANYTHING where they differ */
};

/* --- existing and new files --- */

/* Makes a pattern for glob(3): ANYTHING becomes "*", all other characters are literal. */
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

/* Sets *file to a hash of the file and its last change. False if it is not a regular file. */
static bool look_at_file(const char *path, uint64_t *file)
{
	struct stat status;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	*file = hash_mix(
		hash_mix(status.st_dev, status.st_ino),
		hash_mix((uint64_t)status.st_ctim.tv_sec, (uint64_t)status.st_ctim.tv_nsec));
	return true;
}

static bool is_new(const struct child_run *run, const char *path)
{
	uint64_t file;

	return look_at_file(path, &file) && !map_get(&run->seen, file);
}

typedef void each_fn(struct file_finder *finder, const char *path);

struct pattern {
	char text[16384];
};

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

/* Calls `each` for files that match `name`, also with ".NUMBER" before the extension. */
static void find_files(struct file_finder *finder, const char *name, const char *extension,
		       each_fn *each)
{
	struct pattern plain;

	make_pattern(&plain, name, extension, false);
	for (int numbered = 0; numbered < 2; numbered++) {
		struct pattern pattern;
		glob_t files;

		make_pattern(&pattern, name, extension, numbered);
		if (glob(pattern.text, GLOB_NOSORT, NULL, &files))
			continue;
		foreach (path, files.gl_pathv, files.gl_pathc) {
			/* Files that match `plain` had their call already, for * can match dots. */
			if (numbered && !fnmatch(plain.text, *path, FNM_PATHNAME | FNM_PERIOD))
				continue;
			each(finder, *path);
		}
		globfree(&files);
	}
}

/* --- spools --- */

/* False if another job wrote the spool: one directory may hold the spools of several jobs. */
static bool is_ours(const struct file_finder *finder, const struct owner *owner)
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

static void finish_spool(struct file_finder *finder, const char *path)
{
	struct owner owner;
	struct recovery recovery = { .spool = path,
				     .output = owner.output,
				     .numbered = true,
				     .ending = { UINT64_MAX, UINT64_MAX } };

	if (!is_new(finder->run, path))
		return;
	if (recovery_owner(path, &owner)) {
		run_say("%s", err_text());
		return;
	}
	if (!is_ours(finder, &owner))
		return;
	if (owner.elsewhere) {
		finder->left.elsewhere++;
		return;
	}
	if (owner.alive) {
		finder->left.running++;
		return;
	}
	if (!owner.output[0])
		recovery_name(owner.output, sizeof(owner.output), path, ".json");
	if (owner.pid == (uint64_t)finder->run->pid)
		recovery.ending = finder->run->ending;
	if (recovery_run(&recovery))
		run_say("%s; the recording remains in %s", err_text(), path);
	else
		unlink(path);
}

static void find_spools(struct file_finder *finder, each_fn *each)
{
	const char *given = opt_text(OPT_ID_spool_dir);
	const char *const directories[] = { given, "/dev/shm", getenv("TMPDIR"), "/tmp" };

	/* The library's process_paths_create() uses the first of these that can reserve space. */
	for (size_t i = 0; i < COUNT_OF(directories); i++) {
		char spool[4096];

		if (!directories[i] || (i && given && !strcmp(directories[i], given)))
			continue;
		if (!path_spool(spool, sizeof(spool), finder->output, directories[i]))
			find_files(finder, spool, ".spool", each);
	}
}

/* --- traces --- */

/* True if the process began before this run: another run wrote its trace into the same directory.
 * Compares the kernel's start ticks on the same host, else the wall clock of the trace. */
static bool began_before(const struct child_run *run, const struct trace *trace)
{
	const struct trace_process *process = &trace->process;
	uint64_t start = trace_start_ns(trace);
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	if (process->start_ticks && run->start_ticks && process->host &&
	    !strcmp(process->host, host))
		return process->start_ticks < run->start_ticks;
	return start != TRACE_NONE && (time_t)(start / 1000000000) < run->start - 1;
}

static void add_trace(struct file_finder *finder, const char *path)
{
	struct run_trace *found;
	struct trace trace;
	char *copy;

	if (finder->left.traces_n == MOST || !is_new(finder->run, path) || trace_open(&trace, path))
		return; /* a new .json file need not be a trace */
	copy = strdup(path);
	if (copy && !began_before(finder->run, &trace)) {
		found = &finder->left.traces[finder->left.traces_n++];
		*found = (struct run_trace){ .path = copy,
					     .own = trace.process.pid == (uint64_t)finder->run->pid,
					     .rank = trace.process.rank,
					     .world_size = trace.process.world_size };
		foreach (device, trace.summary.devices) {
			uint64_t peak = device->allocated.peak_bytes;

			if (peak != TRACE_NONE && peak > found->peak)
				found->peak = peak;
		}
		copy = NULL;
		if (found->own && trace.process.status == TRACE_NONE &&
		    trace.process.signal == TRACE_NONE) {
			trace_close(&trace);
			if (recovery_add_ending(path, &finder->run->ending))
				run_say("%s", err_text());
			return;
		}
	}
	free(copy);
	trace_close(&trace);
}

/* Calls `each` for all traces, also those without .gz or .zst because zlib or zstd was missing. */
static void find_traces(struct file_finder *finder, each_fn *each)
{
	char plain[sizeof(finder->output)];
	enum pack_kind kind = pack_named(finder->output);

	find_files(finder, finder->output, path_extension(finder->output), each);
	if (!kind)
		return;
	text_copy_n(plain, sizeof(plain), finder->output,
		    strlen(finder->output) - strlen(pack_rows[kind].suffix));
	find_files(finder, plain, path_extension(plain), each);
}

static void name_all(struct file_finder *finder)
{
	text_copy(finder->left.names, sizeof(finder->left.names), finder->output);
	for (char *p = finder->left.names; *p; p++) {
		if (*p == ANYTHING[0])
			*p = '*';
	}
}

static int name_output(struct file_finder *finder)
{
	static const struct path_words any = { ANYTHING, NULL, ANYTHING, ANYTHING };

	return path_expand(finder->output, sizeof(finder->output), opt_text(OPT_ID_output), &any);
}

static void remember(struct file_finder *finder, const char *path)
{
	uint64_t file;

	NEED(!look_at_file(path, &file) || map_put(&finder->run->seen, file, 1));
}

void run_before(struct child_run *run)
{
	struct file_finder finder = { .run = run };

	if (name_output(&finder))
		return; /* run_finish() reports that the name is too long */
	find_spools(&finder, remember);
	find_traces(&finder, remember);
}

void run_finish(struct child_run *run)
{
	struct file_finder finder = { .run = run };

	finder.left.traces = calloc(MOST, sizeof(*finder.left.traces));
	if (!finder.left.traces)
		return;
	if (name_output(&finder)) {
		run_say("the path of the output (MEMTRACE_OUTPUT) is too long");
	} else {
		find_spools(&finder, finish_spool);
		find_traces(&finder, add_trace);
		name_all(&finder);
		if (!opt_flag(OPT_ID_quiet))
			run_summary(run, &finder.left);
	}
	foreach (trace, finder.left.traces)
		free(trace->path);
	free(finder.left.traces);
	map_clear(&run->seen);
}
