/*
 * A program that has nothing to do with CUDA, and asks whether it is there: nocuda [SYMBOL...].
 *
 * Prints what dlsym answers for each symbol, and what the chain of next_answer() gives, if any
 * library brings one.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "next_answer");

	for (int i = 1; i < argc; i++) {
		void *found = dlsym(RTLD_DEFAULT, argv[i]);

		printf("%s %s\n", argv[i], found ? "is there" : "is missing");
	}
	if (next)
		printf("next_answer=%d\n", next(0));
	return 0;
}
