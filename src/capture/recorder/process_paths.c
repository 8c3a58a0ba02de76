/* Makes the paths of the files that this process writes, and creates its spool. */
#include "base/mem/each.h"
#include "capture/recorder/record_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guest/raw_call.h"
#include "base/guest/start.h"
#include "base/settings/opt.h"
#include "base/text/fd.h"
#include "base/text/path.h"
#include "base/text/text.h"

enum { NAMES = 1000 };

/* The working directory when the process started, if a setting has a relative path: in `near`
 * (on a page that the constructor writes anyway) if it is short, otherwise in `far`. */
static START_DATA char near[200];
static char far[4096];

/* The program's name, for %e in paths. A copy: a program that sets its title overwrites argv[]. */
static char program[256];

static __attribute__((noinline)) void ask_far(void)
{
	int saved = errno;

	near[0] = '\0';
	if (!getcwd(far, sizeof(far)))
		far[0] = '\0';
	errno = saved;
}

START_CODE static bool names_program(const char *output)
{
	for (; *output; output++) {
		if (output[0] == '%' && output[1] == 'e')
			return true;
	}
	return false;
}

START_CODE void process_paths_init(const char *started_as)
{
	const char *output = opt_text(OPT_ID_output);
	const char *spools = opt_text(OPT_ID_spool_dir);

	if ((output[0] != '/' || (*spools && spools[0] != '/')) &&
	    (raw_call(SYS_getcwd, raw_address(near), sizeof(near), 0) <= 0 || near[0] != '/'))
		ask_far();
	if (names_program(output))
		text_copy(program, sizeof(program), text_base(started_as));
}

/* The directory that is put before an option's relative path; "" for an absolute path. */
static const char *start_of(const char *path)
{
	if (path[0] == '/')
		return "";
	return near[0] ? near : far;
}

/* Makes the output's pattern absolute. A % in the directory is doubled, as patterns require. */
static void make_pattern(char *to, size_t size, const char *output)
{
	const char *start = start_of(output);
	size_t used = 0;

	for (const char *at = start; *at; at++) {
		to[used++] = *at;
		if (*at == '%')
			to[used++] = '%';
	}
	to[used] = '\0';
	if (start[0] && start[1])
		text_append(to, size, "/");
	text_append(to, size, output);
}

/* Makes the absolute path of the spools' directory, or "" if that is the output's directory. */
static void make_directory(char *to, size_t size, const char *spools)
{
	const char *start = *spools ? start_of(spools) : "";

	text_join(to, size, start, *start ? "/" : "");
	text_append(to, size, spools);
}

/* Creates the spool, unless a file for the spool or output exists. Then checks the output again: a
 * process with the same names may have written its output meanwhile, and removed its spool. */
static int create_unless_there(void)
{
	const struct process_paths *paths = &recorder.paths;
	int error =
		fd_exists(paths->output) ? -EEXIST : spool_create(&recorder.spool, paths->spool);

	if (!error && fd_exists(paths->output)) {
		spool_unlink(&recorder.spool);
		spool_close(&recorder.spool);
		error = -EEXIST;
	}
	return error;
}

static int create_in(const char *first, const char *in)
{
	struct process_paths *paths = &recorder.paths;
	int error = -EEXIST;

	paths->spool[0] = '\0';
	for (unsigned n = 0; error == -EEXIST && n < NAMES; n++) {
		error = path_numbered(paths->output, sizeof(paths->output), first, n)
				?: path_spool(paths->spool, sizeof(paths->spool), paths->output, in)
				?: create_unless_there();
	}
	if (!paths->spool[0]) /* no name was made: the error message shows the directory */
		text_copy(paths->spool, sizeof(paths->spool), in);
	return error;
}

int process_paths_create(void)
{
	/* static: the stack may be small, and only one thread at a time runs this */
	static char pattern[3 * 4096]; /* room for a directory of only %, each doubled */
	static char first[4096];
	static char directory[4096];
	const char *const others[] = { "/dev/shm", getenv("TMPDIR"), "/tmp" };
	struct path_words words = { .program = program };
	char pid[24];
	int error;

	text_u64(pid, (uint64_t)record_pid());
	words.pid = pid;
	make_pattern(pattern, sizeof(pattern), opt_text(OPT_ID_output));
	make_directory(directory, sizeof(directory), opt_text(OPT_ID_spool_dir));
	/* A name that fills its buffer may have been cut, so no file is created under it. */
	error = strlen(pattern) < sizeof(pattern) - 1
			? path_expand(first, sizeof(first), pattern, &words)
			: -ENAMETOOLONG;
	if (error) {
		text_copy(recorder.paths.spool, sizeof(recorder.paths.spool), pattern);
		return error;
	}
	error = create_in(first, directory);
	for (unsigned i = 0; error == -EOPNOTSUPP && i < COUNT_OF(others); i++) {
		if (others[i])
			error = create_in(first, others[i]);
	}
	return error;
}
