/*
 * Runs a fuzz target on the files named, or on each file of a folder: the corpus as a test, built
 * by any compiler.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static unsigned run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	uint8_t *data;
	size_t size;

	if (!file || fstat(fileno(file), &status)) {
		perror(path);
		exit(1);
	}
	/* Of its very size, so that reading past its end is seen. */
	size = (size_t)status.st_size;
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, file) != size) {
		perror(path);
		exit(1);
	}
	fclose(file);
	fprintf(stderr, "%s\n", path); /* the last one named is the one that failed */
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

static unsigned run(const char *path)
{
	DIR *folder = opendir(path);
	unsigned count = 0;
	struct dirent *entry;

	if (!folder)
		return run_file(path);
	while ((entry = readdir(folder))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		count += run_file(name);
	}
	closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		count += run(argv[i]);
	printf("%u\n", count);
	return count ? 0 : 1;
}
