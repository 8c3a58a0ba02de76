/*
 * The first of two libraries that define next_answer(): it asks for its successor, as wrappers do.
 *
 * Who resolves RTLD_NEXT on behalf of this library tells it of itself, and the call never ends.
 */
#include <dlfcn.h>
#include <stdio.h>

int next_answer(int depth);

int next_answer(int depth)
{
	int (*successor)(int) = (int (*)(int))dlsym(RTLD_NEXT, "next_answer");

	if (depth > 10) {
		puts("recursion");
		return -1;
	}
	return successor ? 1 + successor(depth + 1) : 0;
}
