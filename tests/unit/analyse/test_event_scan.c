/*
 * The pass over events against brute force, and growth from events to site: healthy programs of ten
 * kinds raise no alarm, one planted leak among them does.
 */
#include "check.h"

#include <math.h>

#include "analyse/findings/event_scan.h"
#include "unit/chance.h"

enum { SITES = 12, DEVICES = 2, EVENTS = 4000, PLACES = 60, MIB = 1 << 20 };

/* --- a trace in memory: a stack a site --- */

static uint32_t numbers[SITES];
static uint32_t site_of[SITES];
static struct trace_site sites[SITES];
static struct trace_stack stacks[SITES];
static struct trace_device devices[DEVICES];
static struct trace_phase phases[400];
static struct trace trace;
static struct event_scan survey;
static uint64_t chance, seq, t;

static void make_trace(size_t phases_n, uint64_t events)
{
	memset(&trace, 0, sizeof(trace));
	for (uint32_t i = 0; i < SITES; i++) {
		numbers[i] = site_of[i] = i;
		sites[i] = (struct trace_site){
			.site = "site", .space = "device", .stacks = &numbers[i], .stacks_n = 1
		};
	}
	for (int i = 0; i < DEVICES; i++)
		devices[i] = (struct trace_device){ .device = i };
	trace.path = "t.json";
	trace.sites = sites;
	trace.sites_n = SITES;
	trace.stacks = stacks;
	trace.stacks_n = SITES;
	trace.site_of = site_of;
	trace.summary.devices = devices;
	trace.summary.devices_n = DEVICES;
	trace.phases = phases;
	trace.phases_n = phases_n;
	trace.capture.events_recorded = events;
	seq = t = 0;
}

static struct event event_of(enum event_op op, uint64_t ptr, uint64_t size, uint32_t site)
{
	return (struct event){
		.seq = seq++,
		.t = t += 10,
		.op = (uint8_t)op,
		.ptr = ptr,
		.size = size,
		.stack = site,
		.space = SPACE_DEVICE,
		.allocated = TRACE_NONE,
	};
}

static void feed(enum event_op op, uint64_t ptr, uint64_t size, uint32_t site)
{
	struct event event = event_of(op, ptr, size, site);

	event_scan_event(&survey, &event);
}

/* --- segments --- */

TEST(what_pytorch_releases_to_make_room_is_forced)
{
	make_trace(0, 10);
	event_scan_start(&survey, &trace);
	feed(EVENT_RESERVE, 4096, MIB, 0);
	feed(EVENT_RESERVE, 8192, MIB, 0);
	feed(EVENT_RESERVE, 12288, MIB, 0);
	feed(EVENT_OOM, 0, 9 * MIB, 0);
	feed(EVENT_RELEASE, 4096, MIB, 0);
	feed(EVENT_RELEASE, 8192, MIB, 0);
	feed(EVENT_RESERVE, 4096, MIB, 0);
	feed(EVENT_RELEASE, 4096, MIB, 0);
	event_scan_end(&survey);
	EQ(survey.reserves, 4);
	EQ(survey.releases, 3);
	EQ(survey.forced, 2);
	event_scan_clear(&survey);
}

TEST(what_pytorch_releases_at_its_own_limit_is_forced)
{
	static uint32_t frame_of[] = { 0, 1, 2 };
	static struct trace_frame frames[] = { { .function = "DeviceCachingAllocator::malloc" },
					       { .function = "empty_cache" },
					       { .function = NULL } };

	make_trace(0, 10);
	trace.frames = frames;
	trace.frames_n = COUNT_OF(frames);
	for (uint32_t i = 0; i < COUNT_OF(frames); i++)
		stacks[i] = (struct trace_stack){ .frames = &frame_of[i], .frames_n = 1 };
	event_scan_start(&survey, &trace);
	feed(EVENT_RELEASE, 4096, MIB, 0);
	feed(EVENT_RELEASE, 8192, MIB, 1);
	feed(EVENT_RELEASE, 12288, MIB, 2);
	feed(EVENT_RELEASE, 16384, MIB, 3);
	event_scan_end(&survey);
	EQ(survey.releases, 4);
	EQ(survey.forced, 2);
	event_scan_clear(&survey);
	memset(stacks, 0, sizeof(stacks));
}

/* --- against brute force --- */

static struct event events[EVENTS];

static void make_events(void)
{
	struct {
		bool live;
		struct event event;
	} places[PLACES] = { 0 };
	uint64_t allocated[DEVICES] = { 0 };

	for (size_t i = 0; i < EVENTS; i++) {
		size_t at = chance_below(&chance, PLACES);
		struct event *event = &events[i];

		if (places[at].live) {
			*event = places[at].event;
			event->op = EVENT_FREE;
			event->seq = seq++;
			event->t = t += chance_below(&chance, 100);
			allocated[event->device] -= event->size;
		} else {
			*event = event_of(EVENT_ALLOC, 4096 * (1 + at),
					  1 + chance_below(&chance, 1 << 20),
					  (uint32_t)chance_below(&chance, SITES));
			event->device = (int16_t)chance_below(&chance, DEVICES);
			allocated[event->device] += event->size;
			places[at].event = *event;
		}
		places[at].live = !places[at].live;
		event->allocated = event->reserved = allocated[event->device];
	}
}

/* The free of an allocation, EVENTS for none. */
static size_t free_of(size_t alloc)
{
	size_t i = alloc + 1;

	while (i < EVENTS && (events[i].op != EVENT_FREE || events[i].ptr != events[alloc].ptr))
		i++;
	return i;
}

static size_t peak_of(int device)
{
	size_t best = EVENTS;

	for (size_t i = 0; i < EVENTS; i++) {
		if (events[i].device == device && events[i].op == EVENT_ALLOC &&
		    (best == EVENTS || events[i].allocated > events[best].allocated))
			best = i;
	}
	return best;
}

static bool is_temporary(size_t alloc, size_t end)
{
	size_t made = 0;
	size_t later = 0;

	for (size_t i = alloc + 1; i < EVENTS; i++) {
		if (events[i].op == EVENT_ALLOC && events[i].device == events[alloc].device)
			++*(i < end ? &made : &later);
	}
	return later && made < SURVEY_SHORT_LIVED;
}

static void compare(void)
{
	struct event_scan_short_lived wanted[SITES] = { 0 };
	struct event_scan_bucket buckets[SURVEY_BUCKETS] = { 0 };
	uint64_t at_peak[DEVICES] = { 0 };
	size_t peaks[DEVICES] = { peak_of(0), peak_of(1) };

	for (size_t i = 0; i < EVENTS; i++) {
		const struct event *event = &events[i];
		struct event_scan_bucket *bucket = &buckets[(int)log2((double)event->size)];
		struct event_scan_short_lived *row = &wanted[event->stack];
		size_t end;

		if (event->op != EVENT_ALLOC)
			continue;
		end = free_of(i);
		bucket->count++;
		bucket->bytes += event->size;
		bucket->live_count += end == EVENTS;
		bucket->live_bytes += end == EVENTS ? event->size : 0;
		if (!is_temporary(i, end))
			continue;
		if (!row->count || events[end].t - event->t < row->min_ns)
			row->min_ns = events[end].t - event->t;
		row->count++;
		row->bytes += event->size;
		row->sum_ns += events[end].t - event->t;
		if (i > peaks[event->device] || end < peaks[event->device])
			continue;
		row->at_peak += event->size;
		at_peak[event->device] += event->size;
	}
	for (size_t i = 0; i < SITES; i++)
		MEM(&survey.short_lived[i], &wanted[i], sizeof(wanted[i]));
	for (size_t i = 0; i < SURVEY_BUCKETS; i++)
		MEM(&survey.buckets[i], &buckets[i], sizeof(buckets[i]));
	for (int i = 0; i < DEVICES; i++) {
		EQ(survey.devices[i].at_peak, at_peak[i]);
		EQ(survey.devices[i].peak, events[peaks[i]].allocated);
	}
}

TEST(temporaries_and_sizes_are_what_brute_force_finds)
{
	for (chance = 1; chance < 20; chance++) {
		make_trace(0, EVENTS);
		make_events();
		event_scan_start(&survey, &trace);
		for (size_t i = 0; i < EVENTS; i++)
			event_scan_event(&survey, &events[i]);
		event_scan_end(&survey);
		compare();
		EQ(survey.growth_n, 0);
		event_scan_clear(&survey);
	}
}

TEST(failures_are_kept)
{
	make_trace(0, 0);
	event_scan_start(&survey, &trace);
	for (uint64_t i = 0; i < SURVEY_FAILURES + 5; i++)
		feed(EVENT_OOM, 0, i, 0);
	event_scan_end(&survey);
	EQ(survey.failures_n, SURVEY_FAILURES);
	EQ(survey.failures[7].size, 7);
	event_scan_clear(&survey);
}

/* --- programs of steps --- */

/* A site that keeps a number of blocks. */
struct keeper {
	uint64_t ptrs[20000];
	uint64_t sizes[20000];
	size_t count;
};

static struct keeper keepers[SITES];
static uint64_t next_ptr;

static void keep(uint32_t site, uint64_t size)
{
	struct keeper *keeper = &keepers[site];

	keeper->ptrs[keeper->count] = next_ptr += 1 << 30;
	keeper->sizes[keeper->count] = size;
	feed(EVENT_ALLOC, next_ptr, size, site);
	keeper->count++;
}

/* Gives its i-th back, 0 the oldest. */
static void give(uint32_t site, size_t i)
{
	struct keeper *keeper = &keepers[site];

	feed(EVENT_FREE, keeper->ptrs[i], keeper->sizes[i], site);
	keeper->count--;
	memmove(&keeper->ptrs[i], &keeper->ptrs[i + 1],
		(keeper->count - i) * sizeof(keeper->ptrs[0]));
	memmove(&keeper->sizes[i], &keeper->sizes[i + 1],
		(keeper->count - i) * sizeof(keeper->sizes[0]));
}

static void give_all(uint32_t site)
{
	while (keepers[site].count)
		give(site, 0);
}

enum { MODEL, BATCH, LAYER, STATE, SPECIAL, LEAK };

/* What each healthy program does beside the training that all do. */
typedef void character(size_t step);

static void plain(size_t step)
{
	(void)step;
}

static void lazy(size_t step)
{
	if (step == 17 || step == 31)
		keep(SPECIAL, 64 * MIB);
}

static void saturating(size_t step)
{
	if (step < 35)
		keep(SPECIAL, MIB);
}

static void random_cache(size_t step)
{
	static bool known[16];

	if (!step)
		memset(known, 0, sizeof(known));
	for (int ask = 0; ask < 3; ask++) {
		size_t key = chance_below(&chance, 16);

		if (!known[key])
			keep(SPECIAL, 3 * MIB);
		known[key] = true;
	}
}

static void cyclic(size_t step)
{
	if (step % 10 == 0)
		give_all(SPECIAL);
	keep(SPECIAL, MIB);
}

static void evaluating(size_t step)
{
	if (step % 8 == 7) {
		for (int i = 0; i < 20; i++)
			keep(SPECIAL, 2 * MIB);
	} else if (step % 8 == 1) {
		give_all(SPECIAL);
	}
}

static void varying(size_t step)
{
	(void)step;
	give_all(SPECIAL);
	keep(SPECIAL, MIB * (1 + chance_below(&chance, 100)));
}

static void queueing(size_t step)
{
	(void)step;
	for (uint64_t n = chance_below(&chance, 4); n; n--)
		keep(SPECIAL, MIB);
	for (uint64_t n = chance_below(&chance, 4); n && keepers[SPECIAL].count; n--)
		give(SPECIAL, 0);
}

static void replacing(size_t step)
{
	if (step > 5)
		give(SPECIAL, chance_below(&chance, keepers[SPECIAL].count));
	keep(SPECIAL, MIB * (1 + chance_below(&chance, 8)));
	if (step <= 5)
		keep(SPECIAL, MIB);
}

static void shuffled(size_t step)
{
	(void)step;
	for (int i = 0; i < 5; i++)
		keep(SPECIAL, 512 * (1 + chance_below(&chance, 4096)));
	while (keepers[SPECIAL].count > 12)
		give(SPECIAL, chance_below(&chance, keepers[SPECIAL].count));
}

static character *const characters[] = { plain,      lazy,    saturating, random_cache, cyclic,
					 evaluating, varying, queueing,   replacing,    shuffled };

enum { CHARACTERS = sizeof(characters) / sizeof(characters[0]), STEPS = 50, LAYERS = 24 };

/* One step of a training with `layers` activations that go again. */
static void train(size_t step, character *also, uint64_t leak)
{
	keep(BATCH, 4 * MIB);
	for (int i = 0; i < LAYERS; i++)
		keep(LAYER, 8 * MIB + 512 * chance_below(&chance, 1000));
	if (step == 1) {
		for (int i = 0; i < LAYERS; i++)
			keep(STATE, 16 * MIB);
	}
	if (leak)
		keep(LEAK, leak);
	also(step);
	give_all(LAYER);
	give_all(BATCH);
}

/* Events are counted by a first run, since windows need to know how many come. */
static void run(size_t steps, character *also, uint64_t leak, uint64_t expected)
{
	for (size_t i = 0; i < steps; i++)
		phases[i] = (struct trace_phase){ .name = i % 2 ? "step 11" : "step 8" };
	make_trace(expected ? 0 : steps, expected);
	memset(keepers, 0, sizeof(keepers));
	/* Phases have their times in front of the events: each step takes 10 ms. */
	for (size_t i = 0; i < steps; i++) {
		phases[i].start = 1000000 + i * 10000000;
		phases[i].end = phases[i].start + 9000000;
	}
	event_scan_start(&survey, &trace);
	for (int i = 0; i < LAYERS; i++)
		keep(MODEL, 16 * MIB);
	for (size_t i = 0; i < steps; i++) {
		t = 1000000 + i * 10000000;
		train(i, also, leak);
	}
	event_scan_end(&survey);
}

TEST(ten_healthy_programs_raise_no_alarm)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		for (size_t i = 0; i < CHARACTERS; i++) {
			chance = seed * 100 + i;
			run(STEPS, characters[i], 0, 0);
			STR(survey.steps.name, "step #");
			EQ(survey.steps.taken, STEPS);
			EQ(survey.growth_n, 0);
			event_scan_clear(&survey);
		}
	}
}

/* The whole is some 600 MiB: this is a thousandth of it. */
TEST(a_planted_leak_is_found_in_each_of_them)
{
	for (size_t i = 0; i < CHARACTERS; i++) {
		chance = 7 + i;
		run(STEPS, characters[i], 600 * 1024, 0);
		EQ(survey.growth_n, 1);
		EQ(survey.growth[0].site, LEAK);
		EQ(survey.growth[0].trend.slope, 600 * 1024);
		EQ(survey.growth[0].trend.bytes, 39 * 600 * 1024);
		event_scan_clear(&survey);
	}
}

static void leak_beneath_batches(size_t step)
{
	static uint64_t last;

	if (step)
		for (size_t i = keepers[SPECIAL].count; i--;)
			if (keepers[SPECIAL].ptrs[i] == last)
				give(SPECIAL, i);
	keep(SPECIAL, MIB * (20 + chance_below(&chance, 200)));
	last = next_ptr;
	keep(SPECIAL, MIB / 4);
}

/* What is older than a step shows through what scatters a hundred times as much. */
TEST(a_leak_beneath_batches_of_one_site_is_found)
{
	for (chance = 1; chance < 30; chance += 7) {
		run(STEPS, leak_beneath_batches, 0, 0);
		EQ(survey.growth_n, 1);
		EQ(survey.growth[0].site, SPECIAL);
		EQ(survey.growth[0].trend.slope, MIB / 4);
		event_scan_clear(&survey);
	}
}

static void growing_buffer(size_t step)
{
	keep(SPECIAL, MIB * (step + 1));
	if (step)
		give(SPECIAL, 0);
}

TEST(a_buffer_made_larger_each_step_is_found)
{
	run(STEPS, growing_buffer, 0, 0);
	EQ(survey.growth_n, 1);
	EQ(survey.growth[0].site, SPECIAL);
	EQ(survey.growth[0].trend.slope, MIB);
	event_scan_clear(&survey);
}

TEST(without_phases_windows_do)
{
	for (size_t i = 0; i < CHARACTERS; i++) {
		uint64_t count;

		chance = 3 + i;
		run(200, characters[i], 0, 1);
		count = survey.events;
		event_scan_clear(&survey);
		chance = 3 + i;
		run(200, characters[i], 0, count);
		OK(!survey.steps.name);
		EQ(survey.growth_n, 0);
		event_scan_clear(&survey);
		chance = 3 + i;
		run(200, characters[i], MIB, count + 200);
		EQ(survey.growth_n, 1);
		EQ(survey.growth[0].site, LEAK);
		OK(fabs(survey.growth[0].trend.slope - 200.0 / 64 * MIB) < 0.3 * MIB);
		event_scan_clear(&survey);
	}
}

/* Loading goes on and on, too, but it gives nothing back. */
TEST(loading_is_no_growth)
{
	for (size_t i = 0; i < 200; i++)
		phases[i] = (struct trace_phase){ .name = "layer",
						  .start = i * 100 + 1,
						  .end = i * 100 + 90 };
	for (int windows = 0; windows < 2; windows++) {
		make_trace(windows ? 0 : 200, 2000);
		memset(keepers, 0, sizeof(keepers));
		event_scan_start(&survey, &trace);
		for (size_t i = 0; i < 2000; i++)
			keep(MODEL, 16 * MIB);
		event_scan_end(&survey);
		OK(survey.steps.taken >= 64);
		EQ(survey.growth_n, 0);
		event_scan_clear(&survey);
	}
}

/* While recording was stopped nobody knows what came and went; the device's sums tell of that. */
TEST(what_was_not_recorded_is_missing)
{
	struct event event;

	make_trace(0, 0);
	event_scan_start(&survey, &trace);
	for (uint64_t i = 1; i <= 2; i++) {
		event = event_of(EVENT_ALLOC, 4096 * i, 512, 0);
		event.allocated = event.reserved = 512 * i * i;
		event_scan_event(&survey, &event);
		EQ(survey.gap_seq, i - 1);
	}
	EQ(survey.buckets[9].count, 2);
	EQ(survey.buckets[9].live_count, 1);
	event_scan_end(&survey);
	event_scan_clear(&survey);
}

/* What lived before events are missing is another story: no step up, no negative sums. */
TEST(missing_events_make_no_growth)
{
	for (size_t i = 0; i < STEPS; i++)
		phases[i] = (struct trace_phase){ .name = "step",
						  .start = 1000000 + i * 10000000,
						  .end = 1000000 + i * 10000000 + 9000000 };
	make_trace(STEPS, 0);
	memset(keepers, 0, sizeof(keepers));
	event_scan_start(&survey, &trace);
	for (size_t i = 0; i < STEPS; i++) {
		if (i == 10) {
			seq += 100000;
			memset(keepers, 0, sizeof(keepers));
		}
		t = 1000000 + i * 10000000;
		train(i == 1 ? 2 : i, plain, i < 10 ? 512 : 0);
	}
	event_scan_end(&survey);
	OK(survey.gap_seq);
	EQ(survey.steps.first, 10);
	EQ(survey.growth_n, 0);
	event_scan_clear(&survey);
}

TEST(the_name_with_most_phases_in_most_of_the_time_is_the_step)
{
	size_t n = 0;

	for (uint64_t i = 0; i < 15; i++) { /* epochs around steps, each in two halves */
		phases[n++] = (struct trace_phase){ .name = "epoch 3",
						    .start = i * 1000,
						    .end = i * 1000 + 999 };
		for (uint64_t k = 0; k < 5; k++) {
			uint64_t start = i * 1000 + k * 200;

			phases[n++] = (struct trace_phase){ .name = "iteration 12/80",
							    .start = start,
							    .end = start + 190 };
			phases[n++] = (struct trace_phase){ .name = "log",
							    .start = start,
							    .end = start + 20 };
			phases[n++] = (struct trace_phase){ .name = "log",
							    .start = start + 20,
							    .end = start + 40 };
		}
	}
	make_trace(n, 0);
	event_scan_start(&survey, &trace);
	STR(survey.steps.name, "iteration #/#");
	EQ(survey.steps.count, 75);
	EQ(survey.steps.stride, 1);
	EQ(survey.steps.ends[74], 14 * 1000 + 4 * 200 + 190);
	event_scan_clear(&survey);
}
