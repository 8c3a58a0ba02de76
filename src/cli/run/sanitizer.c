/* Programs under AddressSanitizer. */
#include "cli/run/sanitizer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"
#include "cli/library.h"

/* Of gcc and of clang; linked statically it is first in any case. */
static const char *const runtimes[] = { "libasan.so", "libclang_rt.asan" };

enum { RUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]) };

/* https://github.com/google/sanitizers/wiki/AddressSanitizerFlags */
#define ORDER "verify_asan_link_order"

/* A name of a needed library stands in the file's table of texts, each of which begins after a 0.
 */
static bool names_runtime(const char *bytes, size_t size)
{
	for (unsigned i = 0; i < RUNTIMES; i++) {
		char text[64] = "";

		text_copy(text + 1, sizeof(text) - 1, runtimes[i]);
		if (memmem(bytes, size, text, strlen(runtimes[i]) + 1))
			return true;
	}
	return false;
}

bool sanitizer_in(const char *program)
{
	char path[PATH_MAX];
	struct stat status;
	void *bytes = MAP_FAILED;
	bool found;
	int fd;

	if (program_find(program, path, sizeof(path)))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	found = status.st_size > 4 && !memcmp(bytes, "\177ELF", 4) &&
		names_runtime(bytes, (size_t)status.st_size);
	munmap(bytes, (size_t)status.st_size);
	return found;
}

static bool preloaded(void)
{
	const char *preload = getenv("LD_PRELOAD");

	for (unsigned i = 0; preload && i < RUNTIMES; i++) {
		if (strstr(preload, runtimes[i]))
			return true;
	}
	return false;
}

void sanitizer_admit(const char *program)
{
	const char *old = getenv("ASAN_OPTIONS");
	char options[4096];

	if ((old && strstr(old, ORDER)) || !(preloaded() || sanitizer_in(program)))
		return;
	text_join(options, sizeof(options), old ? old : "", old && *old ? ":" : "");
	if (text_append(options, sizeof(options), ORDER "=0") + 1 < sizeof(options))
		setenv("ASAN_OPTIONS", options, 1);
}
