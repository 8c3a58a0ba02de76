/*
 * Closes every descriptor in the middle, as daemons do, and has other files under their numbers:
 * closes FOLDER. Prints (into FOLDER/said, for nothing else is open) whether those files are
 * intact.
 */
#include <cuda_runtime.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 40
#define PAIRS 300000

static void pairs(int count)
{
	for (int i = 0; i < count; i++) {
		void *ptr = NULL;

		if (cudaMalloc(&ptr, 4096) || cudaFree(ptr))
			_exit(99);
	}
}

int main(int argc, char **argv)
{
	struct stat status;
	int intact = 0;
	void *kept;

	if (argc != 2 || chdir(argv[1]) || cudaMalloc(&kept, (size_t)1 << 20))
		return 2;
	pairs(10);
	for (int fd = 0; fd < 256; fd++)
		close(fd);
	for (int i = 0; i < FILES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "mine%d", i);
		if (open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) != i)
			return 3;
	}
	pairs(PAIRS);
	for (int i = 0; i < FILES; i++)
		intact += !fstat(i, &status) && status.st_size == 0 && S_ISREG(status.st_mode);
	dprintf(open("said", O_WRONLY | O_CREAT, 0600), "intact=%d allocations=%d\n", intact,
		PAIRS + 11);
	return 0;
}
