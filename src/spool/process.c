/* When a process started, from /proc. */
#include "spool/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/hash.h"
#include "base/text.h"

uint64_t process_start_ticks(int pid)
{
	enum {
		FIELDS_AFTER_NAME = 20
	}; /* the name may hold spaces and brackets: count from its end */
	char path[64] = "/proc/";
	char stat[1024];
	char *p;

	text_u64(path + strlen(path), (uint64_t)pid);
	text_append(path, sizeof(path), "/stat");
	if (fd_read_file(path, stat, sizeof(stat)) <= 0)
		return 0;
	p = strrchr(stat, ')');
	for (int i = 0; p && i < FIELDS_AFTER_NAME; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
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
