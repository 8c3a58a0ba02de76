/* Finds the spools of running processes, and sends requests to these processes. */
#include "cli/run/live_spools.h"
#include "base/mem/each.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"
#include "spool/spool.h"

static const char ending[] = ".spool";
static const char deleted[] = " (deleted)";

pid_t live_spools_pid(const char *text)
{
	uint64_t pid;

	return text[0] != '0' && quantity_digits(text, &pid) && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* Replaces \012, the kernel's escape in /proc/PID/maps (proc(5)), by a line break. */
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

/* Returns the path under which memtrace can open a file of the process, which may have another root
 * directory. The caller frees the path. */
static char *name_here(pid_t pid, const char *path)
{
	char root[64];
	struct stat here, there;
	char *name;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	NEED(asprintf(&name, "%s%s", root, path) >= 0);
	if (stat(name, &there) ||
	    (!stat(path, &here) && here.st_dev == there.st_dev && here.st_ino == there.st_ino))
		text_copy(name, strlen(path) + 1, path);
	return name;
}

static void add_spool(struct live_spools *spools, pid_t pid, const char *path)
{
	char *name = name_here(pid, path);

	/* A spool that grew has several mappings in the process, but is added once. */
	foreach (spool, spools->list, spools->count) {
		if (spool->pid == pid && !strcmp(spool->path, name)) {
			free(name);
			return;
		}
	}
	spools->list = reallocarray(spools->list, spools->count + 1, sizeof(*spools->list));
	NEED(spools->list);
	spools->list[spools->count++] = (struct live_spool){ pid, name };
}

/* Parses a line of /proc/PID/maps: "7f00-7f01 rw-s 00000000 08:01 42 /tmp/memtrace.5.spool". Only
 * shared mappings count: a forked child maps its parent's spool privately. */
static void read_line(struct live_spools *spools, pid_t pid, char *line)
{
	char mode[8];
	int at = 0;
	char *path;
	bool gone;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*s %7s %*s %*s %*s %n", mode, &at) != 1 || !at)
		return;
	path = line + at;
	gone = text_ends(path, deleted);
	if (gone)
		path[strlen(path) - strlen(deleted)] = '\0';
	spools->library |= !strcmp(text_base(path), "libmemtrace.so");
	if (mode[3] != 's' || !text_ends(path, ending))
		return;
	spools->deleted |= gone;
	if (gone)
		return;
	unescape(path);
	add_spool(spools, pid, path);
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
	/* If the process ends now, getline() stops early or fails with ESRCH. */
	while (getline(&line, &size, maps) > 0)
		read_line(spools, pid, line);
	if (ferror(maps))
		error = errno == ESRCH ? -ESRCH : -EACCES;
	free(line);
	fclose(maps);
	return error;
}

static bool is_allowed(pid_t pid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !geteuid() || (!stat(path, &status) && status.st_uid == geteuid());
}

int live_spools_all(struct live_spools *spools)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	if (!processes)
		return -errno;
	while ((entry = readdir(processes))) {
		pid_t pid = live_spools_pid(entry->d_name);

		/* Errors are ignored: the process has ended, or inspecting it is forbidden. */
		if (pid && is_allowed(pid))
			live_spools_of(spools, pid);
	}
	closedir(processes);
	return 0;
}

void live_spools_clear(struct live_spools *spools)
{
	foreach (spool, spools->list, spools->count)
		free(spool->path);
	free(spools->list);
	*spools = (struct live_spools){ .list = NULL };
}

/* --- requests to a process through its spool --- */

enum { TRIES = 200, PAUSE_NS = 5000000 };

static int cannot_look(int pid, int error)
{
	if (error == ENOENT || error == ESRCH)
		return err("there is no process %d", pid);
	/* A sandbox can forbid access even to root and to the process's own user. */
	if ((error == EACCES || error == EPERM) && is_allowed(pid))
		return err("process %d: the system does not allow inspecting it: run memtrace "
			   "where the process was started, outside this sandbox or container",
			   pid);
	if (error == EACCES || error == EPERM)
		return err("process %d belongs to another user: run memtrace as that user or root",
			   pid);
	return err("process %d: %s", pid, strerror(error));
}

static int find_spool(struct attached *attached, const struct live_spools *spools)
{
	int pid = attached->pid;

	if (spools->count > 1)
		return err("process %d maps %zu spools, and it is not known which one it writes",
			   pid, spools->count);
	if (spools->count) {
		text_copy(attached->path, sizeof(attached->path), spools->list[0].path);
		return 0;
	}
	if (spools->deleted)
		return err("the recording of process %d has ended", pid);
	if (spools->library)
		return err("process %d has not used any GPU memory yet: try again once it has (to "
			   "start a program with recording off: MEMTRACE_START=off)",
			   pid);
	return err("process %d is not traced: start it with memtrace run, or with "
		   "LD_PRELOAD=libmemtrace.so",
		   pid);
}

static int check_header(const struct attached *attached)
{
	const struct spool_header *header = attached->header;

	if (memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)))
		return err("%s: not a memtrace spool, or the recording has just begun",
			   attached->path);
	if (header->version != SPOOL_VERSION || header->header_bytes != sizeof(*header))
		return err("process %d is traced by another version of memtrace (its spool has "
			   "version %u, not %d): use that version of memtrace",
			   attached->pid, header->version, SPOOL_VERSION);
	return 0;
}

static int map_header(struct attached *attached)
{
	struct stat status;
	void *p;

	attached->fd = open(attached->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (attached->fd < 0 || fstat(attached->fd, &status))
		return err("%s: %s", attached->path, strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_size < SPOOL_BLOCK)
		return err("%s: not a memtrace spool", attached->path);
	p = mmap(NULL, SPOOL_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, attached->fd, 0);
	if (p == MAP_FAILED)
		return err("%s: %s", attached->path, strerror(errno));
	attached->header = p;
	return check_header(attached);
}

int attach_open(struct attached *attached, int pid)
{
	struct live_spools spools = { .list = NULL };
	int error = live_spools_of(&spools, pid);

	*attached = (struct attached){ .pid = pid, .fd = -1 };
	error = error ? cannot_look(pid, -error) : find_spool(attached, &spools);
	live_spools_clear(&spools);
	if (error)
		return error;
	attached->start = process_start_ticks(pid);
	error = map_header(attached);
	if (error)
		attach_close(attached);
	return error;
}

void attach_close(struct attached *attached)
{
	if (attached->header)
		munmap(attached->header, SPOOL_BLOCK);
	if (attached->fd >= 0)
		close(attached->fd);
	attached->header = NULL;
	attached->fd = -1;
}

bool attach_lives(const struct attached *attached)
{
	return attached->start && process_start_ticks(attached->pid) == attached->start;
}

static int lock(const struct attached *attached)
{
	const struct timespec pause = { 0, PAUSE_NS };

	for (unsigned i = 0; i < TRIES; i++) {
		if (!flock(attached->fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err("%s: %s", attached->path, strerror(errno));
		nanosleep(&pause, NULL);
	}
	return err("another memtrace ctl sends requests to process %d: try again", attached->pid);
}

int attach_ask(struct attached *attached, enum spool_verb verb, const char *text, uint32_t *number)
{
	struct spool_header *header = attached->header;
	struct spool_request *request;
	uint32_t asked;
	int error = lock(attached);

	if (error)
		return error;
	asked = atomic_load(&header->asked);
	if (asked - atomic_load(&header->acted) >= SPOOL_REQUESTS) {
		error = err("%d requests are already pending for process %d, which handles "
			    "them when it next allocates or frees GPU memory",
			    SPOOL_REQUESTS, attached->pid);
	} else {
		request = &header->requests[asked % SPOOL_REQUESTS];
		request->verb = verb;
		text_copy(request->text, sizeof(request->text), text);
		atomic_store_explicit(&header->asked, asked + 1, memory_order_release);
		*number = asked + 1;
	}
	flock(attached->fd, LOCK_UN);
	return error;
}

bool attach_acted(const struct attached *attached, uint32_t number)
{
	return (int32_t)(atomic_load(&attached->header->acted) - number) >= 0;
}
