/*
 * The truth, for tests: what was held when the process ended, and at the most.
 *
 * One line of JSON, appended to the file that FAKE_CUDA_REPORT names, so that the processes of one
 * run may share it. "all" has the figures of all devices together, whose peaks are peaks of sums.
 */
#include "fake.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const kind_names[KIND_COUNT] = {
	[KIND_PLAIN] = "plain", [KIND_ARRAY] = "array",       [KIND_VMM] = "vmm",
	[KIND_POOL] = "pool",   [KIND_MANAGED] = "managed",   [KIND_PINNED] = "pinned",
	[KIND_GRAPH] = "graph", [KIND_IMPORTED] = "imported",
};

static void print_figure(FILE *out, const char *name, const struct figure *figure)
{
	fprintf(out, "\"%s\":{\"current\":%" PRIu64 ",\"peak\":%" PRIu64 "},", name,
		figure->current, figure->peak);
}

static void print_account(FILE *out, const struct account *account)
{
	struct tally sum = { .allocations = 0 };

	print_figure(out, "allocated", &account->allocated);
	print_figure(out, "reserved", &account->reserved);
	print_figure(out, "used", &account->used);
	print_figure(out, "pool_reserved", &account->pool_reserved);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct tally *tally = &account->kinds[kind];

		fprintf(out,
			"\"%s\":{\"current\":%" PRIu64 ",\"peak\":%" PRIu64
			",\"allocations\":%" PRIu64 ",\"frees\":%" PRIu64 ",\"failures\":%" PRIu64
			"},",
			kind_names[kind], tally->bytes.current, tally->bytes.peak,
			tally->allocations, tally->frees, tally->failures);
		sum.allocations += tally->allocations;
		sum.frees += tally->frees;
		sum.failures += tally->failures;
	}
	fprintf(out,
		"\"allocations\":%" PRIu64 ",\"frees\":%" PRIu64 ",\"failures\":%" PRIu64
		",\"free_failures\":%" PRIu64 "}",
		sum.allocations, sum.frees, sum.failures, account->free_failures);
}

void report_write(const char *path)
{
	char *line = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&line, &length);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (!out || fd < 0)
		goto out;
	fprintf(out, "{\"pid\":%d,\"devices\":[", (int)getpid());
	for (unsigned int i = 0; i < device_count(); i++) {
		const struct device *device = device_at((int)i);

		fprintf(out, "%s{\"device\":%u,\"total\":%" PRIu64 ",", i ? "," : "", i,
			device->total);
		print_account(out, &device->account);
	}
	fprintf(out, "],\"all\":{");
	print_account(out, account_all());
	fprintf(out, "}\n");
	fclose(out);
	out = NULL;
	/* In one piece: another process may be writing its line. */
	if (write(fd, line, length) != (ssize_t)length)
		fprintf(stderr, "fake libcuda: %s could not be written\n", path);
out:
	if (out)
		fclose(out);
	free(line);
	if (fd >= 0)
		close(fd);
	else
		fprintf(stderr, "fake libcuda: %s cannot be opened\n", path);
}
