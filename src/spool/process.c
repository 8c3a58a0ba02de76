/* Names for processes that last longer than their pids. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem/hash.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "spool/spool.h"

/* The field of /proc/PID/stat, counted from 1 at the one behind the name; NULL. */
static const char *field(const char *behind_name, int number)
{
	for (; behind_name && number; number--)
		behind_name = strchr(behind_name + 1, ' ');
	return behind_name ? behind_name + 1 : NULL;
}

uint64_t process_start_ticks(int pid)
{
	enum { STATE = 1, THREADS = 18, START = 20 };
	char path[64] = "/proc/";
	char stat[1024];
	const char *state, *threads, *start;

	text_u64(path + strlen(path), (uint64_t)pid);
	text_append(path, sizeof(path), "/stat");
	if (fd_read_file(path, stat, sizeof(stat)) <= 0)
		return 0;
	/* The name may hold spaces and brackets: its end is the last one. */
	state = field(strrchr(stat, ')'), STATE);
	threads = field(strrchr(stat, ')'), THREADS);
	start = field(strrchr(stat, ')'), START);
	if (!state || !threads || !start)
		return 0;
	/* Nobody has waited for it yet; with threads left only the first of them is gone. */
	if ((*state == 'Z' || *state == 'X') && strtoull(threads, NULL, 10) <= 1)
		return 0;
	return strtoull(start, NULL, 10);
}

uint64_t process_place(void)
{
	char boot[64];
	struct stat space;
	ssize_t length = fd_read_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));

	if (length <= 0 || stat("/proc/self/ns/pid", &space))
		return 0;
	return hash_mix(hash_bytes(boot, (size_t)length), space.st_ino) | 1;
}
