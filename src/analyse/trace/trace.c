/* Opens a trace: reads all but its events, and checks that it is consistent. */
#include "analyse/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/trace_parts.h"
#include "base/text/path.h"
#include "base/text/text.h"

#define SCHEMA "memtrace/1"
#define SPOOL_BEGINS "MEMTRACE"

enum { TAIL = 64 };

/* --- the file --- */

static bool begins_as_spool(int fd)
{
	char begin[sizeof(SPOOL_BEGINS) - 1];

	return pread(fd, begin, sizeof(begin), 0) == (ssize_t)sizeof(begin) &&
	       !memcmp(begin, SPOOL_BEGINS, sizeof(begin));
}

bool trace_is_spool(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool spool = fd >= 0 && begins_as_spool(fd);

	if (fd >= 0)
		close(fd);
	return spool;
}

static int open_file(struct trace *trace)
{
	struct stat status;

	if (!strcmp(trace->path, "-")) {
		trace->path = "standard input";
		trace->reader->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	} else {
		trace->reader->fd = open(trace->path, O_RDONLY | O_CLOEXEC);
	}
	if (trace->reader->fd < 0 || fstat(trace->reader->fd, &status))
		return err("%s: %s", trace->path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return err("%s: is a directory, not a trace: name a file in it (only report, "
			   "merge, html, diff and check read directories)",
			   trace->path);
	if (S_ISREG(status.st_mode) && !status.st_size)
		return err("%s: is empty, so it holds no trace", trace->path);
	trace->spool = begins_as_spool(trace->reader->fd);
	trace->once = !S_ISREG(status.st_mode) || !strcmp(trace->path, "standard input");
	return 0;
}

/* --- messages --- */

/* Sets the error for a file that ends too early; names the trace's spool if that exists. */
static int truncated(const struct trace *trace, uint64_t size)
{
	char spool[4096];
	char hint[8192] = "";
	const char *unpacked = trace->reader->json.source.unpack ? " (unpacked)" : "";

	if (!path_spool(spool, sizeof(spool), trace->path, NULL) && !access(spool, R_OK))
		text_join(hint, sizeof(hint),
			  "; its spool file is next to it; run: memtrace recover ", spool);
	if (!trace->reader->section)
		return err("%s: truncated: it ends at byte %llu%s, before any data%s", trace->path,
			   (unsigned long long)size, unpacked, hint);
	return err("%s: truncated: it ends at byte %llu%s, inside \"%s\"%s", trace->path,
		   (unsigned long long)size, unpacked, trace->reader->section, hint);
}

/* Reads the rest of compressed data that is not JSON: the checksum at its end shows any damage. */
static void blame_packing(struct trace *trace)
{
	static char block[1 << 16];
	ssize_t got;

	do
		got = decompress_read(&trace->reader->json.source, block, sizeof(block));
	while (got > 0);
	if (got < 0)
		err("%s: %s", trace->path, decompress_why(&trace->reader->json.source, (int)got));
}

int trace_broken(struct trace *trace)
{
	const struct json *json = &trace->reader->json;

	if (json->failed && !json->truncated && json->source.unpack)
		blame_packing(trace);
	if (!json->truncated)
		return -EINVAL;
	return truncated(trace, json->passed + (uint64_t)(json->end - json->buffer));
}

static int wrong_schema(const struct trace *trace)
{
	if (!trace->schema)
		return err("%s: JSON, but not a memtrace trace: the first key is not \"schema\"",
			   trace->path);
	if (!strncmp(trace->schema, "memtrace/", 9))
		return err("%s: written by a newer memtrace version (schema %.40s, not " SCHEMA
			   "): use that version to read it",
			   trace->path, trace->schema);
	return err("%s: contains %.40s, not a trace (" SCHEMA ")", trace->path, trace->schema);
}

static int not_json(const struct trace *trace, const char *begin, size_t length)
{
	static const char nothing[sizeof(SPOOL_BEGINS) - 1];

	if (length >= strlen(SPOOL_BEGINS) && !memcmp(begin, SPOOL_BEGINS, strlen(SPOOL_BEGINS)))
		return err("%s: a spool cannot be read compressed or through a pipe (it is the "
			   "file of a recording): name the uncompressed file",
			   trace->path);
	/* A spool begins with zeros until spool_publish(). */
	if (length >= sizeof(nothing) && !memcmp(begin, nothing, sizeof(nothing)))
		return err("%s: nothing is recorded in this spool: the process ended during "
			   "startup, or is still starting",
			   trace->path);
	return err("%s: neither a memtrace trace (JSON) nor a memtrace spool", trace->path);
}

/* Unpacks all of a compressed file for the data's last bytes and size. Returns 0 or -EINVAL. */
static int unpack_tail(struct trace *trace, char *tail, ssize_t *length, off_t *size)
{
	static char block[1 << 18];
	struct decompress source;
	ssize_t got;
	int error = lseek(trace->reader->fd, 0, SEEK_SET) ? -EINVAL : 0;

	*length = 0;
	*size = 0;
	decompress_open(&source, trace->reader->fd);
	while (!error && (got = decompress_read(&source, block, sizeof(block)))) {
		if (got == -ENODATA) {
			error = truncated(trace, (uint64_t)*size);
		} else if (got < 0) {
			error = err("%s: %s", trace->path, decompress_why(&source, (int)got));
		} else {
			*length = got < TAIL ? got : TAIL;
			*size += got;
			memcpy(tail, block + got - *length, (size_t)*length);
		}
	}
	decompress_close(&source);
	return error;
}

static bool ends_events(const char *tail, ssize_t length)
{
	static const char end[] = "}]";

	for (size_t i = 0; end[i]; i++) {
		while (length && tail[length - 1] && strchr(" \r\n\t", tail[length - 1]))
			length--;
		if (!length || tail[--length] != end[i])
			return false;
	}
	return true;
}

/* Checks that the file is complete: a reader that needs only the facts would not notice that events
 * are cut off. If the file's last bytes do not end the events, all of the file is parsed. */
static int check_end(struct trace *trace)
{
	char tail[TAIL];
	off_t size = lseek(trace->reader->fd, 0, SEEK_END);
	ssize_t length = pread(trace->reader->fd, tail, TAIL, size > TAIL ? size - TAIL : 0);
	struct json json;
	int error = 0;

	if (size < 0 || length < 0)
		return 0; /* a pipe: reading it to the end will show whether it is truncated */
	if (trace->reader->json.source.unpack)
		error = unpack_tail(trace, tail, &length, &size);
	if (error)
		return error;
	if (ends_events(tail, length))
		return lseek(trace->reader->fd, 0, SEEK_SET) ? -EINVAL : 0;
	if (lseek(trace->reader->fd, 0, SEEK_SET))
		return -EINVAL;
	NEED(!json_open(&json, trace->reader->fd, trace->path));
	error = json_skip(&json, json_next(&json));
	if (!error && json_next(&json) != JSON_END)
		error = -EINVAL;
	if (error && json.truncated)
		truncated(trace, (uint64_t)size);
	json_close(&json);
	return lseek(trace->reader->fd, 0, SEEK_SET) ? -EINVAL : error;
}

/* --- all but the events --- */

static int read_member(struct trace *trace)
{
	struct json *json = &trace->reader->json;
	const struct row *row = rows_find(rows_of(ROWS_trace), json->text);
	int error;

	if (!trace->schema && strcmp(json->text, "schema") != 0)
		return wrong_schema(trace);
	if (!strcmp(json->text, "events")) {
		trace->reader->section = "events";
		trace->reader->in_events = true;
		return json_next(json) == JSON_ARRAY
			       ? 0
			       : json_fail(json, "\"events\" must be an array");
	}
	if (!row)
		return json_skip(json, json_next(json));
	trace->reader->section = row->key;
	error = trace_read(trace, row);
	if (!error && (!trace->schema || strcmp(trace->schema, SCHEMA) != 0))
		return wrong_schema(trace);
	return error;
}

static int read_facts(struct trace *trace)
{
	struct json *json = &trace->reader->json;
	enum json_token token;
	int error = 0;

	NEED(!json_open(json, trace->reader->fd, trace->path));
	token = json_next(json);
	if (token == JSON_ERROR && !json->truncated)
		return not_json(trace, json->at, (size_t)(json->end - json->at));
	if (token == JSON_ERROR)
		return -EINVAL;
	if (token != JSON_OBJECT)
		return not_json(trace, "", 0);
	while (!error && !trace->reader->in_events && (token = json_next(json)) == JSON_KEY)
		error = read_member(trace);
	if (!error && token == JSON_ERROR)
		error = -EINVAL;
	if (!error && !trace->schema)
		error = wrong_schema(trace);
	if (!error && !trace->reader->in_events)
		error = err("%s: has no \"events\", so it is not a complete trace", trace->path);
	return error;
}

static int open_trace(struct trace *trace)
{
	int error = open_file(trace);

	if (!error)
		error = trace->spool ? trace_spool_open(trace) : read_facts(trace);
	if (!error)
		error = trace_check(trace);
	if (!error && trace->capture.sample_bytes)
		trace_estimate(trace);
	return error;
}

int trace_open(struct trace *trace, const char *path)
{
	int error;

	*trace = (struct trace){ .path = path };
	rows_clear(ROWS_trace, trace);
	trace->reader = calloc(1, sizeof(*trace->reader));
	NEED(trace->reader);
	trace->reader->fd = -1;
	error = open_trace(trace);
	if (!error && !trace->spool) {
		/* check_end() moves the file's position, which the reader needs. */
		off_t at = lseek(trace->reader->fd, 0, SEEK_CUR);

		error = check_end(trace);
		if (!error && at >= 0 && lseek(trace->reader->fd, at, SEEK_SET) != at)
			error = err("%s: %s", path, strerror(errno));
	}
	if (error) {
		trace_broken(trace);
		trace_close(trace);
		return -EINVAL;
	}
	return 0;
}

void trace_close(struct trace *trace)
{
	if (trace->reader) {
		json_close(&trace->reader->json);
		if (trace->reader->from)
			trace_spool_close(trace->reader->from);
		if (trace->reader->fd >= 0)
			close(trace->reader->fd);
		texts_clear(&trace->reader->texts);
		free(trace->reader);
	}
	arena_clear(&trace->arena);
	*trace = (struct trace){ .path = NULL };
}
