/* The document of a spool: whole, dense, and equal to the ledger it was written from. */
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "analyse/input/error.h"
#include "analyse/spool/read.h"
#include "analyse/trace/trace.h"
#include "render/document/document.h"
#include "unit/recorder.h"

enum { PLENTY = 1000000 };

static struct recorder recorder;
static char path[64];

static void record(uint64_t max_events, unsigned steps, uint64_t seed)
{
	EQ(recorder_open(&recorder, NULL, max_events, seed), 0);
	for (unsigned i = 0; i < steps; i++)
		recorder_step(&recorder);
}

static int write_to(int fd)
{
	return document_write(&recorder.spool, &(struct document_to){ .fd = fd }, SYMBOLS_DEMANGLED,
			      TRACE_EXIT, NULL);
}

/* Its document as a file that is nowhere; the descriptor. */
static int document(void)
{
	int fd = memfd_create("document", 0);

	OK(fd >= 0);
	EQ(write_to(fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fd;
}

static void open_document(struct trace *trace)
{
	int error = trace_open(trace, path);

	if (error)
		printf("# %s\n", err_text());
	EQ(error, 0);
}

static const struct spool_scope *device_scope(int device)
{
	for (uint32_t i = 0; i < spool_count(&recorder.spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(&recorder.spool, i);

		if (scope->kind == SCOPE_DEVICE && scope->device == device)
			return scope;
	}
	return NULL;
}

TEST(it_ends_as_it_should)
{
	char tail[5] = "";
	char head[32] = "";
	int fd;
	off_t size;

	record(PLENTY, 500, 1);
	fd = document();
	size = lseek(fd, 0, SEEK_END);
	OK(pread(fd, tail, 4, size - 4) == 4);
	STR(tail, "\n]}\n");
	OK(pread(fd, head, 24, 0) == 24);
	STR(head, "{\"schema\":\"memtrace/1\",\n");
	close(fd);
	recorder_close(&recorder);
}

TEST(events_are_dense_and_one_a_line)
{
	struct trace trace;
	struct event event;
	uint64_t seq = 0;
	int fd;

	record(PLENTY, 20000, 2);
	fd = document();
	open_document(&trace);
	EQ(trace.capture.events_recorded, recorder.spool.header->seq);
	EQ(trace.capture.events_dropped, 0);
	while (trace_next(&trace, &event) == 1)
		EQ(event.seq, seq++);
	EQ(seq, recorder.spool.header->seq);
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
}

TEST(sums_are_the_ledgers)
{
	struct trace trace;
	int fd;

	record(PLENTY, 5000, 3);
	fd = document();
	open_document(&trace);
	EQ(trace.summary.devices_n, 3);
	for (int d = 0; d < 3; d++) {
		const struct trace_device *device = trace_device(&trace, d);
		const struct spool_scope *scope = device_scope(d);

		OK(device && scope);
		EQ(device->allocated.peak_bytes, scope->sums[METRIC_ALLOCATED].peak);
		EQ(device->allocated.peak_t, scope->sums[METRIC_ALLOCATED].peak_t);
		EQ(device->allocated.exit_bytes, scope->sums[METRIC_ALLOCATED].now);
		EQ(device->reserved.peak_bytes, scope->sums[METRIC_RESERVED].peak);
		EQ(device->reserved.exit_bytes, scope->sums[METRIC_RESERVED].now);
		EQ(device->allocations, scope->allocations);
		EQ(device->frees, scope->frees);
		EQ(device->ooms, scope->ooms);
	}
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
}

TEST(peaks_sum_to_their_bytes)
{
	struct trace trace;
	int fd;

	record(PLENTY, 5000, 4);
	fd = document();
	open_document(&trace);
	OK(trace.peaks_n >= 6);
	for (size_t i = 0; i < trace.peaks_n; i++) {
		uint64_t sum = 0;
		uint64_t blocks = 0;

		for (size_t k = 0; k < trace.peaks[i].stacks_n; k++) {
			OK(trace.peaks[i].stacks[k].bytes);
			sum += trace.peaks[i].stacks[k].bytes;
			blocks += trace.peaks[i].stacks[k].count;
		}
		EQ(sum, trace.peaks[i].bytes);
		EQ(blocks, trace.peaks[i].count);
	}
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
}

static void figures_are_the_spools(const struct trace_stack *stack, const struct spool_stack *row)
{
	EQ(stack->frames_n, (size_t)row->native + row->python);
	EQ(stack->allocations, row->allocations);
	EQ(stack->bytes, row->bytes);
	EQ(stack->frees, row->frees);
	EQ(stack->freed_bytes, row->freed);
	EQ(stack->frees_here, row->frees_here);
	EQ(stack->freed_here_bytes, row->freed_here);
	for (size_t k = 0; k < stack->entries_n; k++)
		OK(row->entries >> (stack->entries[k] - row->native) & 1);
	EQ(stack->entries_n, (size_t)__builtin_popcountll(row->entries));
}

/* What stacks hold at exit and at the peaks is what the devices and other spaces do. */
TEST(stacks_say_what_they_did)
{
	struct trace trace;
	uint64_t live = 0;
	uint64_t peak = 0;
	int fd;

	record(PLENTY, 5000, 9);
	fd = document();
	open_document(&trace);
	EQ(trace.stacks_n, spool_count(&recorder.spool, SPOOL_STACK));
	for (size_t i = 0; i < trace.stacks_n; i++) {
		figures_are_the_spools(&trace.stacks[i], spool_at(&recorder.spool, SPOOL_STACK, i));
		live += trace.stacks[i].live_bytes;
		peak += trace.stacks[i].peak_bytes;
	}
	for (size_t i = 0; i < trace.summary.devices_n; i++) {
		live -= trace.summary.devices[i].allocated.exit_bytes;
		peak -= trace.summary.devices[i].allocated.peak_bytes;
	}
	for (size_t i = 0; i < trace.summary.spaces_n; i++) {
		if (!strcmp(trace.summary.spaces[i].space, "array"))
			continue;
		live -= trace.summary.spaces[i].allocated.exit_bytes;
		peak -= trace.summary.spaces[i].allocated.peak_bytes;
	}
	EQ(live, 0);
	EQ(peak, 0);
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
}

/* The curve has both peaks, runs forward and ends with what is held at the end. */
/* A hostile file may say so of all its stacks: it would be told a frame for each of them. */
TEST(stacks_do_not_share_their_steps)
{
	struct trace trace;
	uint64_t steps;
	uint64_t told = 0;
	bool noted = false;
	int fd;

	record(PLENTY, 5000, 9);
	steps = spool_count(&recorder.spool, SPOOL_STEP);
	OK(steps && steps < UINT16_MAX);
	for (uint32_t i = 0; i < spool_count(&recorder.spool, SPOOL_STACK); i++) {
		struct spool_stack *row = spool_at(&recorder.spool, SPOOL_STACK, i);

		row->step = 0;
		row->native = (uint16_t)steps;
		row->python = 0;
	}
	fd = document();
	open_document(&trace);
	EQ(trace.stacks_n, spool_count(&recorder.spool, SPOOL_STACK));
	for (size_t i = 0; i < trace.stacks_n; i++)
		told += trace.stacks[i].frames_n;
	EQ(told, steps);
	for (size_t i = 0; i < trace.capture.notes_n; i++)
		noted |= strstr(trace.capture.notes[i], "damaged") != NULL;
	OK(noted);
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
}

TEST(timelines_have_the_peaks_and_the_end)
{
	for (unsigned steps = 1; steps < 100000; steps *= 7) {
		struct trace trace;
		int fd;

		record(PLENTY, steps, steps);
		fd = document();
		open_document(&trace);
		for (size_t i = 0; i < trace.timeline_n; i++) {
			const struct trace_curve *curve = &trace.timeline[i];
			const struct trace_peak *peak;
			uint64_t top = 0;
			uint64_t high = 0;

			OK(curve->t_n >= 2 && curve->t_n <= 10000);
			for (size_t k = 0; k < curve->t_n; k++) {
				OK(!k || curve->t[k] >= curve->t[k - 1]);
				top = curve->allocated[k] > top ? curve->allocated[k] : top;
				high = curve->reserved[k] > high ? curve->reserved[k] : high;
			}
			peak = trace_peak(&trace, curve->device, curve->pool, TRACE_ALLOCATED);
			EQ(top, peak ? peak->bytes : 0);
			peak = trace_peak(&trace, curve->device, curve->pool, TRACE_RESERVED);
			EQ(high, peak ? peak->bytes : 0);
			if (curve->pool)
				continue;
			EQ(curve->allocated[curve->t_n - 1],
			   device_scope(curve->device)->sums[METRIC_ALLOCATED].now);
			EQ(curve->reserved[curve->t_n - 1],
			   device_scope(curve->device)->sums[METRIC_RESERVED].now);
		}
		trace_close(&trace);
		close(fd);
		recorder_close(&recorder);
	}
}

TEST(what_was_dropped_is_counted)
{
	struct trace trace;
	struct event event;
	uint64_t count = 0;
	uint64_t before = 0;
	int fd;

	record(1000, 20000, 5);
	fd = document();
	open_document(&trace);
	OK(trace.capture.truncated);
	EQ(trace.capture.events_recorded + trace.capture.events_dropped,
	   recorder.spool.header->seq);
	for (; trace_next(&trace, &event) == 1; count++) {
		OK(!count || event.seq > before);
		before = event.seq;
	}
	EQ(count, trace.capture.events_recorded);
	EQ(before, recorder.spool.header->seq - 1);
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
}

/* An empty spool has a document too. */
TEST(nothing_recorded)
{
	struct trace trace;
	struct event event;
	int fd;

	record(PLENTY, 0, 6);
	fd = document();
	open_document(&trace);
	EQ(trace.summary.devices_n, 0);
	EQ(trace.capture.events_recorded, 0);
	EQ(trace_next(&trace, &event), 0);
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
}

/* The same from the file of a process that died. */
TEST(from_a_spool_file)
{
	char name[] = "/tmp/memtrace-document-XXXXXX";
	char spool[64];
	struct spool opened;
	struct trace trace;
	int fd = memfd_create("document", 0);
	const struct document_to to = { .fd = fd };

	OK(mkdtemp(name));
	snprintf(spool, sizeof(spool), "%s/t.spool", name);
	EQ(recorder_open(&recorder, spool, PLENTY, 7), 0);
	for (unsigned i = 0; i < 1000; i++)
		recorder_step(&recorder);
	EQ(spool_read(&opened, spool), 0);
	EQ(document_write(&opened, &to, SYMBOLS_DEMANGLED, spool_exit(&opened), NULL), 0);
	spool_close(&opened);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	open_document(&trace);
	EQ(trace.process.pid, 4242);
	EQ(trace.process.exit, TRACE_UNFINISHED);
	EQ(trace.capture.events_recorded, recorder.spool.header->seq);
	trace_close(&trace);
	close(fd);
	recorder_close(&recorder);
	unlink(spool);
	rmdir(name);
}

TEST(a_full_disk_is_an_error)
{
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		SKIP("no /dev/full here");
	record(PLENTY, 100, 8);
	EQ(write_to(fd), -28);
	close(fd);
	recorder_close(&recorder);
}
