/* Writes the trace (the JSON document) from the spool, under its final name. */
#include "capture/life/life.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/guest/debug_checks.h"
#include "base/guest/own_stack_and_thread.h"
#include "base/guest/raw_call.h"
#include "base/guest/table_rows.h"
#include "base/mem/arena.h"
#include "base/settings/opt.h"
#include "base/text/fd.h"
#include "base/text/log.h"
#include "base/text/pack.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "capture/loader/loader.h"
#include "capture/recorder/record_parts.h"
#include "ledger/pending.h"
#include "ledger/timeline.h"
#include "render/document/document.h"

enum { NAMES = 1000 };

/* The pid of the process in which a thread is writing a document (a forked child has another pid),
 * or 0. Only one document is written at a time, because the buffers for it exist once. */
static _Atomic int writing;

static bool begin_writing(void)
{
	int pid = record_pid();

	return atomic_exchange(&writing, pid) != pid;
}

/* --- compression --- */

static struct {
	struct pack *pack;
	const char *missing; /* name of the library that could not be loaded, or NULL */
} compression;

static const char missing_notes[PACK_KINDS][80] = {
#define PACK(id, word, suffix, library) \
	[PACK_##id] = WHOLE("the trace is not compressed: " library " could not be loaded"),
#include "base/text/pack.def"
};

/* If the trace is to be compressed, loads the library for that, with RTLD_LOCAL, so that no symbol
 * of the process is bound to it. The library is never closed. */
void finalize_load(void)
{
	enum pack_kind kind = pack_named(opt_text(OPT_ID_output));
	void *handle;

	if (!kind)
		return;
	handle = dlopen(pack_rows[kind].library, RTLD_NOW | RTLD_LOCAL);
	if (!handle || pack_start(&compression.pack, kind, -1, resolve_dlsym, handle))
		record_note(missing_notes[kind]);
}

static void name_without(void)
{
	struct process_paths *paths = &recorder.paths;
	enum pack_kind kind = pack_named(paths->output);

	if (!kind || compression.pack)
		return;
	compression.missing = pack_rows[kind].library;
	paths->output[strlen(paths->output) - strlen(pack_rows[kind].suffix)] = '\0';
}

/* The document that is being written, see begin_writing(). */
static struct {
	int fd;
	struct pack *pack; /* NULL for no compression */
	char partial[4096], final[4096];
} file;

/* The out_sink of the document: lets the program handle signals, then writes the bytes. */
static int write_piece(void *unused, const char *bytes, size_t length)
{
	(void)unused;
	own_thread_rest();
	return file.pack ? pack_write(file.pack, bytes, length)
			 : fd_write_all(file.fd, bytes, length);
}

static void wait_written(int status, void *unused)
{
	const struct timespec nap = { 0, 1000000 };

	(void)status, (void)unused;
	while (atomic_load(&writing) == record_pid())
		raw_call(SYS_nanosleep, raw_address(&nap), 0, 0);
}

void finalize_begin(void)
{
	on_exit(wait_written, NULL);
}

/* --- lines on stderr --- */

/* Explains a failed allocation with one write(), so that no other lines come in between. */
static void explain(const struct oom_text *oom, const char *trace)
{
	static char text[(OOM_TEXT_LINES + 1) * (OOM_TEXT_BYTES + 1) + 4096];
	static char path[4096];

	text_copy(text, sizeof(text), "memtrace: ");
	for (unsigned i = 0; i < oom->count; i++) {
		text_append(text, sizeof(text), oom->lines[i]);
		text_append(text, sizeof(text), "\n");
	}
	text_append(text, sizeof(text), "Full report: memtrace report --oom ");
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
			" failed for lack of memory: see memtrace report --oom)", NULL);
	else if (compression.missing)
		log_say("wrote ", trace, " (not compressed: ", compression.missing,
			" could not be loaded)", NULL);
	else
		log_say("wrote ", trace, NULL);
}

/* Creates a document's temporary file. Returns its descriptor, or -errno. */
static int open_partial(const char *output)
{
	int fd = -EEXIST;

	for (unsigned n = 0; fd == -EEXIST && n < NAMES; n++) {
		fd = path_numbered(file.partial, sizeof(file.partial), output, n);
		if (fd)
			break;
		text_append(file.partial, sizeof(file.partial), ".partial");
		fd = fd_create(file.partial);
	}
	return fd;
}

/* Renames the temporary file to the first free one of `numbers` names that begins with `output`. */
static int rename_new(const char *output, unsigned numbers)
{
	int error = -EEXIST;

	for (unsigned n = 0; error == -EEXIST && n < numbers; n++) {
		error = path_numbered(file.final, sizeof(file.final), output, n)
				?: fd_rename_new(file.partial, file.final);
	}
	return error;
}

/* Fills a temporary file, then renames it to `output`. If `output` exists, returns -EEXIST or, with
 * `numbered`, uses the first free number. */
static int write_file(const char *output, bool numbered, int (*fill)(const struct document_to *to))
{
	const struct document_to to = { .sink = write_piece };
	int closed;
	int error;

	file.pack = NULL;
	file.fd = open_partial(output);
	if (file.fd < 0)
		return file.fd;
	error = fill(&to);
	closed = fd_close(file.fd);
	error = error ?: closed ?: rename_new(output, numbered ? NAMES : 1);
	if (error)
		fd_unlink(file.partial);
	return error;
}

static struct {
	bool in_handler;
	struct document_told told;
} ending;

static int fill_ending(const struct document_to *to)
{
	int error;
	int ended;

	file.pack = compression.pack;
	if (file.pack)
		pack_to(file.pack, file.fd);
	error = document_write(record_spool(), to,
			       ending.in_handler ? SYMBOLS_MANGLED : SYMBOLS_DEMANGLED, TRACE_EXIT,
			       &ending.told);
	ended = file.pack ? pack_end(file.pack) : 0;
	compression.pack = NULL;
	return error ?: ended;
}

static int write_ending(void *unused)
{
	int error = write_file(recorder.paths.output, true, fill_ending);

	(void)unused;
	if (!error)
		spool_unlink(record_spool());
	return error;
}

void finalize_write(bool in_handler)
{
	static _Atomic int written; /* pid of the process whose trace was written, 0: none yet */
	const struct process_paths *paths = &recorder.paths;
	bool explained;
	int error;

	if (atomic_exchange(&written, record_pid()) == record_pid())
		return;
	error = begin_writing() ? 0 : -EBUSY;
	name_without();
	ending.in_handler = in_handler;
	ending.told.survived = true;
	if (!error) {
		error = own_thread_run(write_ending, NULL, true);
		atomic_store(&writing, 0);
	}
	explained = !ending.told.survived;
	if (explained)
		explain(&ending.told.oom, error ? paths->spool : file.final);
	if (error)
		log_say(paths->output, " could not be written: ", record_error_text(error),
			"; the recording is kept in ", paths->spool, " (see memtrace recover)",
			NULL);
	else
		say_written(file.final, &ending.told, explained);
}

/* --- dumps, while the process runs --- */

/* The dump that is being written; one at a time, see begin_writing(). */
static struct {
	const char *output; /* NULL for a file next to the spool, with the first free number */
	char beside[4096];
	struct spool copy;
} dump;

enum { COPY_TRIES = 50 };

/* Copies the spool; takes the recorder's lock only if other threads keep changing the spool. */
static int copy_recording(void)
{
	const struct timespec nap = { 0, 50000 };
	int error = 1;

	for (unsigned i = 0; error > 0 && i < COPY_TRIES; i++) {
		if (i)
			raw_call(SYS_nanosleep, raw_address(&nap), 0, 0);
		error = spool_snapshot(&dump.copy, record_spool());
	}
	if (error > 0) {
		record_lock();
		error = spool_snapshot(&dump.copy, record_spool());
		record_unlock();
	}
	return error;
}

static int fill_dump(const struct document_to *to)
{
	int error = copy_recording();

	if (!error) {
		pending_settle_left(&dump.copy);
		timeline_settle(&dump.copy);
		error = document_write(&dump.copy, to, SYMBOLS_DEMANGLED, TRACE_RUNNING, NULL);
	}
	pages_free(dump.copy.base, dump.copy.reserved);
	memset(&dump.copy, 0, sizeof(dump.copy));
	return error;
}

static int write_dump(void *unused)
{
	(void)unused;
	if (!dump.output)
		return write_file(dump.beside, true, fill_dump);
	return fd_exists(dump.output) ? -EEXIST : write_file(dump.output, false, fill_dump);
}

int finalize_dump(const char *output)
{
	const char *hook;
	int saved = errno;
	int error = -ENODATA;

	if (!begin_writing())
		return -EBUSY;
	hook = watch_path(NULL); /* no debug check that malloc is not called: demangling calls it */
	dump.output = output;
	record_lock(); /* only because record_lock() enters waiting blocks (pending.h) */
	record_unlock();
	if (record_is_open()) {
		text_copy_n(dump.beside, sizeof(dump.beside), record_spool()->path,
			    strlen(record_spool()->path) - strlen(".spool"));
		text_append(dump.beside, sizeof(dump.beside), ".dump.json");
		error = own_thread_run(write_dump, NULL, true);
	}
	atomic_store(&writing, 0);
	watch_path(hook);
	errno = saved;
	return error;
}
