/*
 * A valid spool with words of it changed: opened and printed without harm, and looked at as
 * `memtrace top` does, from the start and when it has been looked at before.
 *
 * The input is a list of changes, not a file: a region (header, undo list, owners, or a block of a
 * table), a place in it, up to eight bytes. So each input is small and most get past the magic. A
 * first byte below 32 cuts the file to so many blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/out.h"
#include "render/document/document.h"
#include "render/live/top.h"
#include "spool/event_journal.h"
#include "unit/recorder.h"

enum { STEPS = 30, LONGEST = 8, CHANGE = 4 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	char *bytes; /* as it was written */
	size_t size;
	size_t regions[64];
	unsigned regions_n;
	char *mapped; /* of fd */
	int fd, null;
	char path[64];
} file;

/* Some that wait: one dies, one is born at its place, one nobody knows. */
static void put_backlog(struct recorder *recorder)
{
	struct spool_backlog *backlog = &recorder->spool.header->backlog;
	const int64_t sizes[] = { -512, 1024, -1024, 2048, -4096 };

	backlog->pool = recorder->pools[1];
	backlog->api = recorder->api;
	backlog->before = recorder->loose + 1;
	for (uint64_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		backlog->waiting[backlog->put++ % SPOOL_WAITING] = (struct spool_waiting){
			.t = recorder->t + i,
			.ptr = 0x7c0000000000u + (i == 4),
			.size = sizes[i],
			.stack = recorder->stacks[i],
			.thread = 4242,
		};
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct recorder recorder;

	(void)argc;
	(void)argv;
	if (recorder_open(&recorder, NULL, 1000, 1))
		abort();
	recorder_choose(&recorder, 4096, true);
	for (unsigned i = 0; i < STEPS; i++)
		recorder_step(&recorder);
	put_backlog(&recorder);
	file.size = (size_t)recorder.spool.header->blocks << SPOOL_BLOCK_SHIFT;
	file.bytes = malloc(file.size);
	if (!file.bytes)
		abort();
	memcpy(file.bytes, recorder.spool.base, file.size);
	file.regions[file.regions_n++] = 0;
	file.regions[file.regions_n++] = offsetof(struct spool_header, generation);
	file.regions[file.regions_n++] = offsetof(struct spool_header, undo_count);
	file.regions[file.regions_n++] = offsetof(struct spool_header, backlog);
	file.regions[file.regions_n++] = SPOOL_OWNERS_AT;
	for (unsigned kind = SPOOL_CHUNK; kind < SPOOL_KINDS; kind++) {
		if (recorder.spool.used[kind])
			file.regions[file.regions_n++] = (size_t)recorder.spool.blocks[kind][0]
							 << SPOOL_BLOCK_SHIFT;
	}
	recorder_close(&recorder);
	file.fd = memfd_create("spool", MFD_CLOEXEC);
	file.null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (file.fd < 0 || ftruncate(file.fd, (off_t)file.size) ||
	    pwrite(file.fd, file.bytes, file.size, 0) != (ssize_t)file.size)
		abort();
	file.mapped = mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
	if (file.mapped == MAP_FAILED)
		abort();
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return 0;
}

/* The place of one change: region, offset low, offset high, length. */
static size_t place_of(const uint8_t *change)
{
	size_t place = file.regions[change[0] % file.regions_n] +
		       ((size_t)change[1] | (size_t)change[2] << 8);

	return place % (file.size - LONGEST);
}

static size_t length_of(const uint8_t *change, size_t left)
{
	size_t length = 1 + change[3] % LONGEST;

	return length < left ? length : left;
}

static void apply(const uint8_t *data, size_t size, bool restore)
{
	while (size > CHANGE) {
		size_t place = place_of(data);
		size_t length = length_of(data, size - CHANGE);

		memcpy(file.mapped + place,
		       restore ? file.bytes + place : (const char *)data + CHANGE, length);
		data += CHANGE + length;
		size -= CHANGE + length;
	}
}

static void cut(uint8_t blocks)
{
	if (ftruncate(file.fd, (off_t)blocks << SPOOL_BLOCK_SHIFT))
		abort();
}

static void heal(uint8_t blocks)
{
	size_t from = (size_t)blocks << SPOOL_BLOCK_SHIFT;

	if (from >= file.size) {
		if (ftruncate(file.fd, (off_t)file.size))
			abort();
		return;
	}
	if (ftruncate(file.fd, (off_t)file.size) ||
	    pwrite(file.fd, file.bytes + from, file.size - from, (off_t)from) !=
		    (ssize_t)(file.size - from))
		abort();
}

static void print_look(struct look *look)
{
	static char buffer[1 << 16];
	struct look *const looks[] = { look };
	const struct top top = { looks, 1, 5 };
	const struct top_page page = { .columns = 80, .rows = 30 };
	struct out out;

	live_view_lines_sort(&look->lines, LOOK_ORDER_rate);
	out_init(&out, file.null, buffer, sizeof(buffer));
	top_text(&top, &out, &page);
	top_json(&top, &out);
	top_prometheus(&top, &out);
	out_flush(&out);
}

/* `before`: was looked at while it was valid. */
static void look_at(struct look *before)
{
	static struct look anew;

	if (!live_view_now(before))
		print_look(before);
	live_view_close(before);
	if (live_view_open(&anew, file.path, 0))
		return;
	print_look(&anew);
	live_view_close(&anew);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct look look;
	struct spool spool;

	if (!size)
		return 0;
	if (live_view_open(&look, file.path, 0))
		abort();
	apply(data + 1, size - 1, false);
	if (data[0] < 32)
		cut(data[0]);
	if (!recorder_read(&spool, file.path)) {
		document_write(&spool, &(struct document_to){ .fd = file.null }, SYMBOLS_DEMANGLED,
			       TRACE_UNFINISHED, NULL);
		spool_close(&spool);
	}
	look_at(&look);
	if (data[0] < 32)
		heal(data[0]);
	apply(data + 1, size - 1, true);
	return 0;
}
