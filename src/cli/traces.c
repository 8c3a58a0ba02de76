#include "cli/traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/input/json.h"
#include "analyse/trace/trace.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "cli/cli.h"

static const char document_end[] = ".json";
static const char spool_end[] = ".spool";

static void add_trace(struct traces *traces, const char *path)
{
	char **grown = reallocarray(traces->paths, traces->count + 1, sizeof(*grown));

	NEED(grown);
	NEED(grown[traces->count++] = strdup(path));
	traces->paths = grown;
}

/* --- folders --- */

static bool begins_as_document(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct json json;
	bool begins;

	if (fd < 0 || json_open(&json, fd, path)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	begins = json_next(&json) == JSON_OBJECT;
	begins = begins && json_next(&json) == JSON_KEY && !strcmp(json.text, "schema");
	begins = begins && json_next(&json) == JSON_STRING && !strncmp(json.text, "memtrace/", 9);
	json_close(&json);
	close(fd);
	return begins;
}

static bool is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* True if the folder of the spool has the trace that was recovered from the spool. */
static bool has_document(const char *spool)
{
	if (!text_ends(spool, spool_end))
		return false;
	for (int kind = PACK_NONE; kind < PACK_KINDS; kind++) {
		char path[8192];

		text_copy_n(path, sizeof(path), spool, strlen(spool) - strlen(spool_end));
		text_append(path, sizeof(path), document_end);
		text_append(path, sizeof(path), pack_rows[kind].suffix);
		if (is_file(path) && begins_as_document(path))
			return true;
	}
	return false;
}

/* True for the temporary name of a trace that is being written, such as "t.json.X1Y2Z3". */
static bool is_partial(const char *name)
{
	const char *at = strrchr(name, '.');
	char whole[NAME_MAX + 1];

	if (!at || strlen(at) != strlen(".XXXXXX"))
		return false;
	text_copy_n(whole, sizeof(whole), name, (size_t)(at - name));
	return path_extension(whole)[0] != '\0';
}

static int wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !is_partial(entry->d_name);
}

static int add_folder(struct traces *traces, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, wanted, versionsort);
	size_t before = traces->count;

	if (count < 0)
		return err("%s: %s", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		char path[8192];

		snprintf(path, sizeof(path), "%s%s%s", folder, text_ends(folder, "/") ? "" : "/",
			 entries[i]->d_name);
		free(entries[i]);
		if (is_file(path) &&
		    (trace_is_spool(path) ? !has_document(path) : begins_as_document(path)))
			add_trace(traces, path);
	}
	free(entries);
	return traces->count == before
		       ? err("%s: this folder has no trace and no spool in it", folder)
		       : 0;
}

bool traces_is_folder(const char *operand)
{
	struct stat status;

	return !stat(operand, &status) && S_ISDIR(status.st_mode);
}

int traces_add(struct traces *traces, const char *const *operands)
{
	int error = 0;

	for (; !error && *operands; operands++) {
		if (traces_is_folder(*operands))
			error = add_folder(traces, *operands);
		else
			add_trace(traces, *operands);
	}
	return error;
}

void traces_clear(struct traces *traces)
{
	foreach (path, traces->paths, traces->count)
		free(*path);
	free(traces->paths);
	*traces = (struct traces){ NULL, 0 };
}

/* --- all traces merged --- */

int traces_fold(struct merge *merge, const struct traces *traces, bool force)
{
	int error = 0;

	for (size_t i = 0; !error && i < traces->count; i++)
		error = merge_add(merge, traces->paths[i]);
	return error ? error : merge_end(merge, force);
}

int traces_merge(const struct traces *traces, const struct merge_format *format,
		 const struct merge_options *options, const char *output, bool force)
{
	struct merge_options shown = *options;
	struct merge merge = { .ranks = NULL };
	int error = traces_fold(&merge, traces, force);

	if (!error)
		error = cli_redirect(output);
	shown.colour = cli_colour(cli_out()->fd);
	if (!error)
		format->write(&merge, cli_out(), &shown);
	merge_clear(&merge);
	return error ? cli_fail(STATUS_UNREADABLE) : STATUS_DONE;
}
