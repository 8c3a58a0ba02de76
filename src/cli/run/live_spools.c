/* The spools that running processes write to. */
#include "cli/run/live_spools.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"

static const char ending[] = ".spool";
static const char deleted[] = " (deleted)";

pid_t live_spools_pid(const char *text)
{
	char *end;
	long pid;

	if (text[0] < '1' || text[0] > '9')
		return 0;
	errno = 0;
	pid = strtol(text, &end, 10);
	return *end || errno || pid > INT_MAX ? 0 : (pid_t)pid;
}

/* The kernel spells a line break in a name as \012 (proc(5)). */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 3;
			continue;
		}
		*to++ = *from;
	}
	*to = '\0';
}

/* The name as it opens the file here: a process in a container has its own root. */
static char *name_here(pid_t pid, const char *path)
{
	char root[64];
	struct stat here, there;
	char *name;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	if (asprintf(&name, "%s%s", root, path) < 0)
		return NULL;
	if (stat(name, &there) ||
	    (!stat(path, &here) && here.st_dev == there.st_dev && here.st_ino == there.st_ino)) {
		free(name);
		return strdup(path);
	}
	return name;
}

static int add_spool(struct live_spools *spools, pid_t pid, const char *path)
{
	struct live_spool *list;
	char *name = name_here(pid, path);

	if (!name)
		return -ENOMEM;
	/* A spool grows by one mapping after the other. */
	for (size_t i = 0; i < spools->count; i++) {
		if (spools->list[i].pid == pid && !strcmp(spools->list[i].path, name)) {
			free(name);
			return 0;
		}
	}
	list = realloc(spools->list, (spools->count + 1) * sizeof(*list));
	if (!list) {
		free(name);
		return -ENOMEM;
	}
	list[spools->count++] = (struct live_spool){ pid, name };
	spools->list = list;
	return 0;
}

/*
 * "7f00-7f01 rw-s 00000000 08:01 42   /tmp/memtrace.5.spool": a private mapping is a copy that a
 * child took of its parent's spool.
 */
static int read_line(struct live_spools *spools, pid_t pid, char *line)
{
	char mode[8];
	int at = 0;
	char *path;
	bool gone;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*s %7s %*s %*s %*s %n", mode, &at) != 1 || !at)
		return 0;
	path = line + at;
	gone = text_ends(path, deleted);
	if (gone)
		path[strlen(path) - strlen(deleted)] = '\0';
	spools->library |= !strcmp(text_base(path), "libmemtrace.so");
	if (mode[3] != 's' || !text_ends(path, ending))
		return 0;
	spools->deleted |= gone;
	if (gone)
		return 0;
	unescape(path);
	return add_spool(spools, pid, path);
}

int live_spools_of(struct live_spools *spools, pid_t pid)
{
	char name[64];
	char *line = NULL;
	size_t size = 0;
	int error = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	/* The process may end meanwhile: then there is nothing more to read, or -ESRCH. */
	while (!error && getline(&line, &size, maps) > 0)
		error = read_line(spools, pid, line);
	if (!error && ferror(maps))
		error = errno == ESRCH ? -ESRCH : -EACCES;
	free(line);
	fclose(maps);
	return error;
}

static bool is_ours(const char *pid)
{
	char name[300];
	struct stat status;

	snprintf(name, sizeof(name), "/proc/%s", pid);
	return !stat(name, &status) && (!geteuid() || status.st_uid == geteuid());
}

static int by_pid(const void *a, const void *b)
{
	const struct live_spool *x = a;
	const struct live_spool *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : strcmp(x->path, y->path);
}

int live_spools_all(struct live_spools *spools)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int error = 0;

	if (!processes)
		return -errno;
	while (error != -ENOMEM && (entry = readdir(processes))) {
		pid_t pid = live_spools_pid(entry->d_name);

		/* One that ends meanwhile, or may not be looked at, has nothing to show. */
		if (pid && is_ours(entry->d_name))
			error = live_spools_of(spools, pid);
	}
	closedir(processes);
	if (spools->count)
		qsort(spools->list, spools->count, sizeof(*spools->list), by_pid);
	return error == -ENOMEM ? error : 0;
}

void live_spools_clear(struct live_spools *spools)
{
	for (size_t i = 0; i < spools->count; i++)
		free(spools->list[i].path);
	free(spools->list);
	*spools = (struct live_spools){ .list = NULL };
}
