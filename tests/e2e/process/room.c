/*
 * Needs address space after its first allocation: room KIB maps so much, and says whether it got
 * it.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t size = (size_t)(argc > 1 ? atol(argv[1]) : 0) << 10;
	void *ptr = NULL;
	void *room;

	if (cudaMalloc(&ptr, 4096))
		return 1;
	room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	puts(room == MAP_FAILED ? "no room" : "room");
	return room == MAP_FAILED;
}
