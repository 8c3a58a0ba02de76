/* Writes traces from spools, for `memtrace recover`, `memtrace run` and `memtrace ctl dump`. */
#include "cli/run/recovery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/input/decompress.h"
#include "analyse/input/error.h"
#include "analyse/input/json.h"
#include "analyse/spool/read.h"
#include "base/text/fd.h"
#include "base/text/out.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/cli.h"
#include "cli/packed.h"
#include "facts/spool_model.h"
#include "render/document/document.h"
#include "spool/spool.h"

enum {
	NAMES = 1000,
	BLOCK = 1 << 16,
};

int recovery_owner(const char *path, struct owner *owner)
{
	struct spool spool;
	const char *output;

	if (spool_open(&spool, path))
		return -EINVAL;
	output = fact_told(&spool, "output");
	text_copy(owner->output, sizeof(owner->output), output ? output : "");
	owner->pid = spool.header->pid;
	owner->alive = spool_writer_lives(&spool);
	owner->elsewhere = spool_writer_elsewhere(&spool);
	spool_close(&spool);
	return 0;
}

void recovery_name(char *to, size_t size, const char *spool, const char *end)
{
	size_t length = strlen(spool);

	if (text_ends(spool, ".spool"))
		length -= strlen(".spool");
	text_copy_n(to, size, spool, length);
	text_append(to, size, end);
}

/* A temporary file in the folder of `output`, renamed when complete. */
struct partial {
	const char *output;
	char path[4096];
	struct pack *pack; /* compressor, chosen by the ending of `output`; NULL for none */
	int fd;
};

/* Closes the file, and removes it if writing failed with `error`, or if closing fails. */
static int end_partial(struct partial *partial, int error)
{
	int ended = partial->pack ? pack_end(partial->pack) : 0;

	if (close(partial->fd) && !ended)
		ended = -errno;
	if (!error && ended)
		error = err("%s: cannot be written: %s", partial->output, strerror(-ended));
	if (error)
		unlink(partial->path);
	return error;
}

static int open_partial(struct partial *partial, const char *output)
{
	*partial = (struct partial){ .output = output };
	if (text_join(partial->path, sizeof(partial->path), output, ".XXXXXX") + 1 >=
	    sizeof(partial->path))
		return err("%s: the name is too long", output);
	partial->fd = mkostemp(partial->path, O_CLOEXEC);
	if (partial->fd < 0)
		return err("%s: cannot be written: %s", output, strerror(errno));
	return packed_start(&partial->pack, pack_named(output), output, partial->fd)
		       ? end_partial(partial, -EINVAL)
		       : 0;
}

/* --- how the process ended, added to its trace --- */

/* Finds the offset of the brace that closes the member "process" of the JSON trace. */
static int find_process_end(int fd, const char *name, uint64_t *at)
{
	struct json json;
	enum json_token token;
	bool found = false;

	if (json_open(&json, fd, name))
		return err("no memory left");
	token = json_next(&json);
	while (token == JSON_OBJECT || token == JSON_KEY) {
		bool process;

		token = json_next(&json);
		process = token == JSON_KEY && !strcmp(json.text, "process");
		if (token != JSON_KEY || json_skip(&json, json_next(&json)))
			break;
		if (process) {
			found = true;
			*at = json_offset(&json);
			break;
		}
	}
	json_close(&json);
	return found ? 0 : err("%s: the trace has no member \"process\"", name);
}

static int copy_bytes(struct decompress *from, struct out *to, const char *name, uint64_t length)
{
	static char block[BLOCK];

	while (length) {
		size_t part = length < sizeof(block) ? (size_t)length : sizeof(block);
		ssize_t n = decompress_read(from, block, part);

		if (n < 0)
			return err("%s: %s", name, decompress_why(from, (int)n));
		if (!n)
			break;
		out_bytes(to, block, (size_t)n);
		length -= (uint64_t)n;
	}
	return 0;
}

/* Copies the JSON trace, with the exit status or signal added to its member "process". */
static int copy_with_ending(int from, struct out *to, const char *name, const struct ending *ending)
{
	bool killed = ending->signal != UINT64_MAX;
	struct decompress source;
	uint64_t at = 0;
	int error = find_process_end(from, name, &at);

	if (!error && lseek(from, 0, SEEK_SET))
		error = err("%s: %s", name, strerror(errno));
	decompress_open(&source, from);
	if (!error)
		error = copy_bytes(&source, to, name, at);
	out_text(to, killed ? ",\"signal\":" : ",\"status\":");
	out_u64(to, killed ? ending->signal : ending->status);
	if (!error)
		error = copy_bytes(&source, to, name, UINT64_MAX);
	decompress_close(&source);
	return error;
}

static int write_with_ending(int from, struct partial *to, const struct ending *ending)
{
	static char buffer[BLOCK];
	struct out out;
	int error, written;

	out_init(&out, to->fd, buffer, sizeof(buffer));
	out.sink = to->pack ? pack_write : NULL;
	out.sink_to = to->pack;
	error = copy_with_ending(from, &out, to->output, ending);
	written = out_flush(&out);
	return error || !written
		       ? error
		       : err("%s: could not be written: %s", to->output, strerror(-written));
}

int recovery_add_ending(const char *path, const struct ending *ending)
{
	struct partial partial;
	int from, error;

	/* Only a signal, or a status other than 0, is added. */
	if (ending->signal == UINT64_MAX && (ending->status == UINT64_MAX || !ending->status))
		return 0;
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return err("%s: %s", path, strerror(errno));
	error = open_partial(&partial, path);
	if (!error)
		error = end_partial(&partial, write_with_ending(from, &partial, ending));
	if (!error && rename(partial.path, path)) {
		error = err("%s: %s", path, strerror(errno));
		unlink(partial.path);
	}
	close(from);
	return error;
}

/* --- the trace --- */

static int write_document(const char *path, const struct partial *partial)
{
	struct document_to to = { .fd = partial->fd,
				  .sink = partial->pack ? pack_write : NULL,
				  .sink_to = partial->pack };
	struct spool spool;
	int error = spool_read(&spool, path);

	if (error)
		return error;
	error = document_write(&spool, &to, SYMBOLS_LOAD, spool_exit(&spool), NULL);
	if (error)
		error = err("%s: the trace could not be written: %s", path, strerror(-error));
	spool_close(&spool);
	return error;
}

static int take_name(struct recovery *recovery, const char *partial)
{
	int error = -EEXIST;

	if (recovery->force) {
		text_copy(recovery->written, sizeof(recovery->written), recovery->output);
		error = rename(partial, recovery->written) ? -errno : 0;
	}
	for (unsigned n = 0; error == -EEXIST && n < (recovery->numbered ? NAMES : 1); n++) {
		error = path_numbered(recovery->written, sizeof(recovery->written),
				      recovery->output, n);
		if (!error)
			error = fd_rename_new(partial, recovery->written);
	}
	if (error == -EEXIST)
		return err("%s: exists already (--force replaces it)", recovery->output);
	return error ? err("%s: cannot be written: %s", recovery->output, strerror(-error)) : 0;
}

int recovery_run(struct recovery *recovery)
{
	struct partial partial;
	struct owner owner = { 0 };
	int error = recovery_owner(recovery->spool, &owner);

	if (error)
		return error;
	if (owner.alive && !recovery->live && !recovery->force)
		return err("%s: process %llu is still running and writes the trace when it ends; "
			   "--force writes what is recorded so far",
			   recovery->spool, (unsigned long long)owner.pid);
	if (!recovery->force && !recovery->numbered && !access(recovery->output, F_OK))
		return err("%s: exists already (--force replaces it)", recovery->output);
	error = open_partial(&partial, recovery->output);
	if (!error)
		error = end_partial(&partial, write_document(recovery->spool, &partial));
	if (error)
		return error;
	error = take_name(recovery, partial.path);
	if (error)
		unlink(partial.path);
	else if (recovery_add_ending(recovery->written, &recovery->ending))
		return 0; /* without the added ending, the trace is still valid */
	return error;
}

int recovery_print(const struct recovery *recovery, const char *end)
{
	char beside[4096];
	struct recovery run = *recovery;

	if (!run.output) {
		recovery_name(beside, sizeof(beside), run.spool, end);
		run.output = beside;
		run.numbered = true;
	}
	if (recovery_run(&run))
		return cli_fail(STATUS_UNREADABLE);
	/* A terminal gets the name escaped; a script gets it unchanged. */
	if (isatty(STDOUT_FILENO))
		utf8_clean(run.written);
	out_format(cli_out(), "%s\n", run.written);
	return STATUS_DONE;
}

/* --- memtrace recover SPOOL --- */

static const char about[] =
	"Writes the trace of a process that was killed, crashed or ended by _exit, from the "
	"spool that the process left. Nothing that was recorded is lost. The spool stays; every "
	"command can also read it directly. Without -o the trace goes next to the spool, under "
	"the next free name. A FILE named *.json.gz or *.json.zst is written compressed.\n";

int cmd_recover(int argc, char **argv)
{
	struct recovery recovery = { .ending = { UINT64_MAX, UINT64_MAX } };
	const struct arg args[] = {
		ARG("output", 'o', TEXT, "FILE", "write the trace to FILE", &recovery.output),
		ARG("force", 'f', FLAG, NULL, "replace FILE; accept the spool of a running process",
		    &recovery.force),
	};
	const struct usage usage = USAGE("recover", "SPOOL", about, args, 1, 1);
	int parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed;
	recovery.spool = argv[1];
	return recovery_print(&recovery, ".json");
}
