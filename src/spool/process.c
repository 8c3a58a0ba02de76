/* Identifies a process even after its pid has been given to another process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/hash.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "spool/spool.h"

uint64_t process_start_ticks(int pid)
{
	enum { STATE = 1, THREADS = 18, START = 20 }; /* numbers of fields after the name */
	char path[64] = "/proc/";
	char stat[1024];
	const char *fields[START + 1];

	text_u64(path + strlen(path), (uint64_t)pid);
	text_append(path, sizeof(path), "/stat");
	if (fd_read_file(path, stat, sizeof(stat)) <= 0)
		return 0;
	/* The name is in brackets and may itself hold blanks and brackets. */
	fields[0] = strrchr(stat, ')');
	for (int i = 0; i < START; i++)
		fields[i + 1] = fields[i] ? strchr(fields[i] + 1, ' ') : NULL;
	if (!fields[START])
		return 0;
	/* A zombie (ended, but not waited for) counts as ended, unless other threads still run. */
	if ((fields[STATE][1] == 'Z' || fields[STATE][1] == 'X') &&
	    strtoull(fields[THREADS], NULL, 10) <= 1)
		return 0;
	return strtoull(fields[START], NULL, 10);
}

uint64_t process_place(void)
{
	char boot[64], space[32];
	ssize_t in = readlink("/proc/self/ns/pid", space, sizeof(space));
	ssize_t length = fd_read_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));

	if (length <= 0 || in <= 0)
		return 0;
	return hash_mix(hash_bytes(boot, (size_t)length), hash_bytes(space, (size_t)in)) | 1;
}
