/*
 * Loads libraries like liballoc.so and has each allocate: loader [-l|-g|-d] LIBRARY...
 *
 * Before a library, -l (the default) is RTLD_LOCAL, -g RTLD_GLOBAL, -d RTLD_DEEPBIND. This program
 * is linked with no CUDA. Each library takes 1 MiB times its number, and keeps it; then it asks for
 * more than there is, and says what its own runtime remembers of that.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void *find(void *handle, const char *name)
{
	void *function = dlsym(handle, name);

	if (function)
		return function;
	fprintf(stderr, "loader: %s\n", dlerror());
	exit(1);
}

static void use(void *handle, size_t size)
{
	int (*take)(void **, size_t) = (int (*)(void **, size_t))find(handle, "alloc_take");
	int (*give)(void *) = (int (*)(void *))find(handle, "alloc_give");
	int (*last_error)(void) = (int (*)(void))find(handle, "alloc_last_error");
	void *kept = NULL, *given = NULL, *none = NULL;
	int first = take(&kept, size);
	int second = take(&given, 2 * size);
	int third = give(given);
	int none_error = take(&none, (size_t)1 << 50);

	printf("take=%d take=%d give=%d too_much=%d remembered=%d\n", first, second, third,
	       none_error, last_error());
}

int main(int argc, char **argv)
{
	int flags = RTLD_LOCAL;
	size_t number = 0;

	for (int i = 1; i < argc; i++) {
		void *handle;

		if (!strcmp(argv[i], "-l"))
			flags = RTLD_LOCAL;
		else if (!strcmp(argv[i], "-g"))
			flags = RTLD_GLOBAL;
		else if (!strcmp(argv[i], "-d"))
			flags = RTLD_LOCAL | RTLD_DEEPBIND;
		if (argv[i][0] == '-')
			continue;
		handle = dlopen(argv[i], RTLD_NOW | flags);
		if (!handle) {
			fprintf(stderr, "loader: %s\n", dlerror());
			return 1;
		}
		use(handle, ++number * MIB);
	}
	return 0;
}
