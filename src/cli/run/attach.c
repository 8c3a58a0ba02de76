/* A running process, and the spool that it writes. */
#include "cli/run/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/run/live_spools.h"
#include "spool/spool.h"

enum { TRIES = 200, PAUSE_NS = 5000000 };

/* Root, or the user whose process it is. */
static bool is_allowed(int pid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !geteuid() || (!stat(path, &status) && status.st_uid == geteuid());
}

static int cannot_look(int pid, int error)
{
	if (error == ENOENT || error == ESRCH)
		return err("there is no process %d", pid);
	/* A sandbox forbids it to root, too, and to its owner. */
	if ((error == EACCES || error == EPERM) && is_allowed(pid))
		return err(
			"process %d: the system forbids looking at it: ask where it was started, "
			"outside of this sandbox or container",
			pid);
	if (error == EACCES || error == EPERM)
		return err("process %d belongs to another user: ask as that user or as root", pid);
	return err("process %d: %s", pid, strerror(error));
}

/* That of the process, in attached->path. */
static int find_spool(struct attached *attached, const struct live_spools *spools)
{
	int pid = attached->pid;

	if (spools->count > 1)
		return err("process %d has %zu spools mapped: which is its own is not known", pid,
			   spools->count);
	if (spools->count) {
		text_copy(attached->path, sizeof(attached->path), spools->list[0].path);
		return 0;
	}
	if (spools->deleted)
		return err("the recording of process %d has ended", pid);
	if (spools->library)
		return err("process %d has not used any GPU memory yet: there is no recording "
			   "(MEMTRACE_START=off begins stopped)",
			   pid);
	return err("process %d is not traced (memtrace run, or LD_PRELOAD=libmemtrace.so)", pid);
}

static int open_file(struct attached *attached)
{
	attached->fd = open(attached->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	return attached->fd < 0 ? err("%s: %s", attached->path, strerror(errno)) : 0;
}

static int check_header(const struct attached *attached)
{
	const struct spool_header *header = attached->header;

	if (memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)))
		return err("%s: is no spool, or one that begins just now", attached->path);
	if (header->version != SPOOL_VERSION || header->header_bytes != sizeof(*header))
		return err("process %d is traced by another version of memtrace (its spool has "
			   "version %u, not %d): use the tool of that one",
			   attached->pid, header->version, SPOOL_VERSION);
	return 0;
}

static int map_header(struct attached *attached)
{
	struct stat status;
	void *p;

	if (fstat(attached->fd, &status))
		return err("%s: %s", attached->path, strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_size < SPOOL_BLOCK)
		return err("%s: is no spool", attached->path);
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
	error = open_file(attached);
	if (!error)
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
	return err("process %d: another memtrace ctl is at it", attached->pid);
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
		error = err("%d requests wait for process %d already, which has made no memory "
			    "event since",
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
