/*
 * A trace's events in memory: what ends what, what a gap makes unknown; and a long history made
 * shorter, which must be exact wherever it says so, against brute force.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/lifetimes/history.h"
#include "unit/chance.h"

enum { STACKS = 20, EVENTS = 8000, MOST = 1500, SLOTS = 200 };

/* --- a trace of memory, in a file without a name --- */

static FILE *file;
static char path[64];
static uint64_t seq, allocated;

static void begin(void)
{
	int fd = memfd_create("history", 0);

	file = fdopen(fd, "w");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	seq = allocated = 0;
	fputs("{\"schema\":\"memtrace/1\",\"summary\":{\"devices\":[{\"device\":0}]},\"frames\":[],"
	      "\"stacks\":[",
	      file);
	for (int i = 0; i < STACKS; i++)
		fprintf(file, "%s{\"frames\":[]}", i ? "," : "");
	fputs("],\"events\":[", file);
}

static void event(const char *op, unsigned long long ptr, unsigned long long size, unsigned stack)
{
	allocated += !strcmp(op, "alloc") ? size : 0 - size;
	fprintf(file,
		"%s\n{\"seq\":%llu,\"t\":%llu,\"op\":\"%s\",\"device\":0,\"space\":\"device\","
		"\"pool\":\"torch\",\"ptr\":\"0x%llx\",\"size\":%llu,\"stack\":%u,\"thread\":1,"
		"\"stream\":null,\"api\":\"torch\",\"allocated\":%llu,\"reserved\":0}",
		seq ? "," : "", (unsigned long long)seq, (unsigned long long)seq * 10, op, ptr,
		size, stack, (unsigned long long)allocated);
	seq++;
}

static void end(struct history *history, struct trace *trace)
{
	fputs("]}\n", file);
	fflush(file);
	EQ(trace_open(trace, path), 0);
	EQ(history_read(history, trace, NULL), 0);
	fclose(file);
}

TEST(what_ends_what)
{
	struct history history;
	struct trace trace;

	begin();
	event("alloc", 0x1000, 512, 0);
	event("alloc", 0x2000, 1024, 1);
	event("free", 0x1000, 512, 2);
	event("alloc", 0x1000, 2048, 3); /* the address again */
	event("free", 0x9000, 4096, 0);  /* of nobody */
	end(&history, &trace);
	EQ(history.events_n, 5);
	EQ(history.gaps_n, 0);
	EQ(history.places_n, 1);
	EQ(history.events[0].death, 2);
	OK(history.events[0].born && !history.events[2].born);
	EQ(history.events[1].death, HISTORY_NONE);
	EQ(history.events[3].death, HISTORY_NONE);
	OK(!history.events[4].born);
	EQ(history.events[2].stack, 2);
	history_clear(&history);
	trace_close(&trace);
}

/* An event may end several that have no address; one that is not gone as a whole lives on. */
TEST(without_an_address_the_newest_ends)
{
	struct history history;
	struct trace trace;

	begin();
	event("alloc", 0, 512, 0);
	event("alloc", 0, 1024, 0);
	event("alloc", 0, 256, 1); /* another stack's */
	event("free", 0, 1280, 0);
	event("alloc", 0, 64, 0);
	event("free", 0, 320, 0);
	end(&history, &trace);
	EQ(history.events[1].death, 3);
	EQ(history.events[2].death, HISTORY_NONE);
	EQ(history.events[0].death, 5);
	EQ(history.events[4].death, 5);
	history_clear(&history);
	trace_close(&trace);
}

TEST(behind_a_gap_nothing_is_known)
{
	struct history history;
	struct trace trace;

	begin();
	event("alloc", 0x1000, 512, 0);
	event("alloc", 0x2000, 1024, 1);
	seq += 7;
	event("alloc", 0x3000, 256, 1);
	event("free", 0x1000, 512, 0); /* whose birth is no longer believed */
	end(&history, &trace);
	EQ(history.gaps_n, 1);
	EQ(history.gaps[0].event, 2);
	EQ(history.gaps[0].dropped, 7);
	EQ(history.gaps[0].device, 0);
	EQ(history.gaps[0].allocated, 512 + 1024 + 256);
	EQ(history.events[0].death, 2);
	EQ(history.events[1].death, 2);
	EQ(history.events[2].death, HISTORY_NONE);
	history_clear(&history);
	trace_close(&trace);
}

/* --- folds --- */

static uint64_t sums[EVENTS];         /* behind each event */
static uint64_t at_peak[STACKS];      /* live bytes by stack */
static uint64_t at_end[STACKS], live; /* blocks at the end */
static uint64_t births;
static size_t peak;

/* A program with a few large blocks and many small ones; what it holds, counted as it goes. */
static void run(uint64_t chance)
{
	static struct {
		uint64_t size;
		unsigned stack;
	} slots[SLOTS];
	uint64_t now = 0;

	memset(slots, 0, sizeof(slots));
	memset(at_end, 0, sizeof(at_end));
	peak = live = births = 0;
	for (size_t i = 0; i < EVENTS; i++) {
		size_t slot = chance_below(&chance, SLOTS);

		if (slots[slot].size) {
			event("free", 0x100000 * (slot + 1), slots[slot].size, 0);
			now -= slots[slot].size;
			at_end[slots[slot].stack] -= slots[slot].size;
			slots[slot].size = 0;
			live--;
		} else {
			slots[slot].stack = (unsigned)chance_below(&chance, STACKS);
			slots[slot].size = 512 << chance_below(&chance, 12);
			event("alloc", 0x100000 * (slot + 1), slots[slot].size, slots[slot].stack);
			now += slots[slot].size;
			at_end[slots[slot].stack] += slots[slot].size;
			live++;
			births++;
		}
		sums[i] = now;
		if (now > sums[peak]) {
			peak = i;
			memcpy(at_peak, at_end, sizeof(at_peak));
		}
	}
}

/* What lives behind an event, by stack, from the list; gives how many blocks. */
static uint64_t count_live(const struct history *history, size_t at, uint64_t *bytes)
{
	uint64_t blocks = 0;

	memset(bytes, 0, STACKS * sizeof(*bytes));
	for (size_t i = 0; i <= at; i++) {
		const struct history_event *one = &history->events[i];

		if (!one->born || one->death <= at)
			continue;
		bytes[one->stack] += one->size;
		blocks += history->sums[i].blocks;
	}
	return blocks;
}

static void check_fold(uint64_t chance)
{
	struct history history;
	struct history_folded folded;
	struct trace trace;
	uint64_t bytes[STACKS];
	size_t highest = 0;
	uint64_t kept = 0;

	begin();
	run(chance);
	end(&history, &trace);
	history_fold(&history, MOST, &folded);
	OK(history.events_n < 2 * MOST + 64 * STACKS);
	OK(folded.blocks > 0 && folded.folds > 0 && folded.slices > 0);
	EQ(folded.events + history.events_n - folded.folds, EVENTS);
	for (size_t i = 0; i < history.events_n; i++) {
		kept += history.events[i].op == EVENT_ALLOC;
		/* A fold stands behind the event before it, a kept event is itself. */
		EQ(history.sums[i].device.allocated, sums[history.events[i].t / 10]);
		EQ(history.sums[i].pool.allocated, sums[history.events[i].t / 10]);
		if (history.events[i].death != HISTORY_NONE && history.events[i].born)
			OK(history.events[i].death > i &&
			   history.events[i].death < history.events_n);
		if (history.sums[i].device.allocated > history.sums[highest].device.allocated)
			highest = i;
	}
	EQ(folded.blocks + kept, births);
	EQ(history.events[highest].t, peak * 10);
	count_live(&history, highest, bytes);
	EQ(memcmp(bytes, at_peak, sizeof(bytes)), 0);
	EQ(count_live(&history, history.events_n - 1, bytes), live);
	EQ(memcmp(bytes, at_end, sizeof(bytes)), 0);
	history_clear(&history);
	trace_close(&trace);
}

TEST(folds_are_exact_where_they_say_so)
{
	for (uint64_t i = 1; i <= 10; i++)
		check_fold(i * 77);
}

TEST(a_short_history_stays)
{
	struct history history;
	struct history_folded folded;
	struct trace trace;

	begin();
	run(5);
	end(&history, &trace);
	history_fold(&history, EVENTS, &folded);
	EQ(history.events_n, EVENTS);
	OK(!history.sums && !folded.events);
	history_clear(&history);
	trace_close(&trace);
}
