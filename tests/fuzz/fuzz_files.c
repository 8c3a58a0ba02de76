/*
 * Any bytes as a file that is no trace: a budget, suppressions, something compressed. The first
 * byte picks which, and for the last in what pieces it is read.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/findings/leaks.h"
#include "analyse/input/decompress.h"
#include "cli/budget_file.h"
#include "cli/cli.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	int fd;
	char path[64];
} file;

/* Of main.c, which is not linked. */
int cli_say(int status, const char *format, ...)
{
	(void)format;
	return status;
}

void cli_print_usage(struct out *out, const struct usage *usage)
{
	(void)out;
	(void)usage;
}

const char *cli_command(void)
{
	return NULL;
}

int cli_fail(int status)
{
	return status;
}

struct out *cli_out(void)
{
	return NULL;
}

int cli_redirect(const char *path)
{
	(void)path;
	return 0;
}

bool cli_colour(int fd)
{
	return fd < 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	file.fd = memfd_create("file", MFD_CLOEXEC);
	if (file.fd < 0)
		abort();
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return 0;
}

static void unpack(size_t piece, ssize_t *error, size_t *length)
{
	static char block[1 << 16];
	struct decompress source;

	if (lseek(file.fd, 0, SEEK_SET))
		abort();
	*length = 0;
	decompress_open(&source, file.fd);
	while ((*error = decompress_read(&source, block, piece)) > 0) {
		if ((size_t)*error > piece)
			abort();
		*length += (size_t)*error;
	}
	if (decompress_read(&source, block, piece) != *error)
		abort();
	decompress_close(&source);
}

/* However it is read, the same length comes; damage zstd may find in one way and not in another. */
static void compressed(size_t piece)
{
	ssize_t error, again;
	size_t length, other;

	unpack(1 << 16, &error, &length);
	unpack(piece + 1, &again, &other);
	if (!error && !again && length != other && length && other)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppressions suppressions;
	struct gates gates = { NULL, 0 };

	if (!size)
		return 0;
	if (ftruncate(file.fd, 0) || pwrite(file.fd, data + 1, size - 1, 0) != (ssize_t)size - 1)
		abort();
	switch (data[0] % 4) {
	case 0:
		gates_read(&gates, file.path);
		gates_clear(&gates);
		break;
	case 1:
		suppressions_read(&suppressions, file.path);
		suppressions_clear(&suppressions);
		break;
	default:
		compressed(data[0]);
	}
	return 0;
}
