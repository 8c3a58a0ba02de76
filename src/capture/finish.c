/* The end: the document from the spool, under its final name. */
#include "capture/finish.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/pack.h"
#include "base/path.h"
#include "base/rows.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/utf8.h"
#include "capture/loader.h"
#include "capture/record.h"
#include "capture/resolve.h"
#include "render/document.h"

enum { NAMES = 1000 };

/* A name of its own for the document while it is written: 0 and the descriptor, or -errno. */
static int open_partial(const char *output, char *partial, size_t size, int *fd)
{
	for (unsigned n = 0; n < NAMES; n++) {
		int error = path_numbered(partial, size, output, n);

		if (error)
			return error;
		text_append(partial, size, ".partial");
		*fd = fd_create(partial);
		if (*fd >= 0)
			return 0;
		if (*fd != -EEXIST)
			return *fd;
	}
	return -EEXIST;
}

/* Writing a document takes memory that there is once: the process (a fork's child is another) in
 * which a thread is at it. */
static _Atomic int writing;

static bool begin_writing(void)
{
	int pid = record_pid();

	return atomic_exchange(&writing, pid) != pid;
}

static void end_writing(void)
{
	atomic_store(&writing, 0);
}

/* --- compression --- */

static struct {
	struct pack *pack;
	const char *missing; /* a library that was asked for in vain */
} compression;

static const char missing_notes[PACK_KINDS][80] = {
#define PACK(id, word, suffix, library) \
	[PACK_##id] = WHOLE("the trace is not compressed: " library " could not be loaded"),
#include "base/pack.def"
#undef PACK
};

/* What else the process has of its symbols stays as it is bound: RTLD_LOCAL. Never given back. */
static bool load_pack(enum pack_kind kind)
{
	int saved = errno;
	void *handle;
	bool started;

	loader_enter();
	handle = dlopen(pack_rows[kind].library, RTLD_NOW | RTLD_LOCAL);
	started = handle && !pack_start(&compression.pack, kind, -1, resolve_dlsym, handle);
	loader_leave();
	errno = saved;
	return started;
}

void finish_prepare(struct paths *paths, bool ask)
{
	enum pack_kind kind = pack_named(paths->output);

	if (!kind || (ask && !atomic_load(&loader_silent) && load_pack(kind)))
		return;
	compression.missing = pack_rows[kind].library;
	paths->output[strlen(paths->output) - strlen(pack_rows[kind].suffix)] = '\0';
	if (ask)
		record_note(missing_notes[kind]);
}

/* Writes the document, compressed when it was named so: 0 or -errno. */
static int write_document(struct spool *spool, int fd, struct document_told *told)
{
	const struct document_to to = { fd, compression.pack };
	int error;
	int ended;

	if (to.pack)
		pack_to(to.pack, fd);
	error = document_write_told(spool, &to, DOCUMENT_EVENTS, "exit", told);
	ended = to.pack ? pack_end(to.pack) : 0;
	compression.pack = NULL;
	return error ? error : ended;
}

/* --- names --- */

/* Somebody else's file may have appeared meanwhile: then the next number. */
static int rename_new(const char *partial, const char *output, char *final, size_t size)
{
	int error = -EEXIST;

	for (unsigned n = 0; error == -EEXIST && n < NAMES; n++) {
		error = path_numbered(final, size, output, n);
		if (!error)
			error = fd_rename_new(partial, final);
	}
	return error;
}

/* --- what failed for want of memory --- */

/* The program's exit status; -1 while it is not known. */
static int exit_status = -1;

static void note_status(int status, void *unused)
{
	(void)unused;
	exit_status = status;
}

int finish_status(void)
{
	return exit_status;
}

void finish_watch(void)
{
	static atomic_bool watching;

	if (!atomic_exchange(&watching, true))
		on_exit(note_status, NULL);
}

/* In one write, so that nobody's lines come in between. */
static void explain(const struct oom_text *oom, const char *trace)
{
	static char text[(OOM_TEXT_LINES + 1) * (OOM_TEXT_BYTES + 1) + 4096];
	static char path[4096];

	text_copy(text, sizeof(text), "memtrace: ");
	for (unsigned i = 0; i < oom->count; i++) {
		text_append(text, sizeof(text), oom->lines[i]);
		text_append(text, sizeof(text), "\n");
	}
	text_append(text, sizeof(text), "All of it: memtrace report --oom ");
	text_copy(path, sizeof(path), trace);
	utf8_clean(path);
	text_append(text, sizeof(text), path);
	text_append(text, sizeof(text), "\n");
	log_lines(text);
}

static void say_written(const char *trace, const struct document_told *told, bool explained)
{
	char number[24];

	text_u64(number, told->ooms);
	if (!opt_flag(OPT_ID_announce))
		return;
	if (told->ooms && !explained)
		log_say("wrote ", trace, " (", number,
			told->ooms == 1 ? " allocation" : " allocations",
			" failed for want of memory: memtrace report --oom)", NULL);
	else if (compression.missing)
		log_say("wrote ", trace, " (not compressed: ", compression.missing,
			" could not be loaded)", NULL);
	else
		log_say("wrote ", trace, NULL);
}

void finish_write(struct spool *spool, const struct paths *paths)
{
	static struct document_told told;
	static char partial[4096]; /* once, maybe on a small stack */
	static char final[4096];
	struct signals_held held;
	bool alone = begin_writing();
	bool explained;
	int fd;
	int error = alone ? open_partial(paths->output, partial, sizeof(partial), &fd) : -EBUSY;

	memset(&told, 0, sizeof(told));
	told.survived = true;
	/* A file size limit must be an error of write(), not the end of the host. */
	signals_hold(&held, SIGXFSZ);
	if (!error) {
		error = write_document(spool, fd, &told);
		if (close(fd) && !error)
			error = -errno;
		if (!error)
			error = rename_new(partial, paths->output, final, sizeof(final));
		if (error)
			unlink(partial);
	}
	if (alone)
		end_writing();
	signals_release(&held);
	explained = !told.survived;
	if (explained)
		explain(&told.oom, error ? paths->spool : final);
	if (error) {
		log_say(paths->output, " could not be written: ", facts_error(error),
			"; what was recorded is kept in ", paths->spool, " (memtrace recover)",
			NULL);
		return;
	}
	spool_unlink(spool);
	say_written(final, &told, explained);
}

/* --- while the process runs --- */

/* A name that is given is taken or not; others are numbered. */
static int move_dump(const char *partial, const char *output, bool numbered)
{
	char final[4096];

	return numbered ? rename_new(partial, output, final, sizeof(final))
			: fd_rename_new(partial, output);
}

static int write_dump(const char *spool, const char *output, bool numbered)
{
	char partial[4096];
	char why[256];
	struct document_to to = { 0, NULL };
	int error = open_partial(output, partial, sizeof(partial), &to.fd);

	if (error)
		return error;
	error = document_from_spool(spool, &to, DOCUMENT_EVENTS, why, sizeof(why));
	if (close(to.fd) && !error)
		error = -errno;
	if (!error)
		error = move_dump(partial, output, numbered);
	if (error)
		unlink(partial);
	return error;
}

int finish_dump(const char *spool, const char *output)
{
	struct signals_held held;
	char beside[4096];
	int error;

	if (!output) {
		text_copy_n(beside, sizeof(beside), spool, strlen(spool) - strlen(".spool"));
		text_append(beside, sizeof(beside), ".dump.json");
	} else if (!faccessat(AT_FDCWD, output, F_OK, 0)) {
		return -EEXIST;
	}
	if (!begin_writing())
		return -EBUSY;
	signals_hold(&held, SIGXFSZ);
	error = write_dump(spool, output ? output : beside, !output);
	signals_release(&held);
	end_writing();
	return error;
}
