/* Phases against brute force: for each push look for its pop, for its sums at every event. */
#include "check.h"

#include "analyse/trace/phase_name.h"
#include "facts/phases.h"
#include "ledger/intern.h"
#include "ledger/ledger.h"
#include "unit/chance.h"
#include "unit/memory_spool.h"

enum { RUNS = 200, EVENTS = 400, THREADS = 4, DEVICES = 3 };

static struct event events[EVENTS];
static size_t events_n;
static int pop_of[EVENTS]; /* of a push, -1 for none */

static struct spool spool;
static struct intern intern;
static struct ledger ledger;
static uint64_t chance, t;
static uint32_t domains[3], name;

static void keep(struct event event)
{
	for (uint32_t i = 0; i < spool_count(&spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(&spool, i);

		if (scope->kind != SCOPE_DEVICE || scope->device != event.device)
			continue;
		event.allocated = scope->sums[METRIC_ALLOCATED].now;
		event.reserved = scope->sums[METRIC_RESERVED].now;
	}
	events[events_n++] = event;
}

static void memory(void)
{
	struct event event = {
		.op = EVENT_ALLOC,
		.t = t += chance_below(&chance, 100),
		.ptr = 4096 * (1 + chance_below(&chance, 40)),
		.size = 512 * (1 + chance_below(&chance, 100)),
		.device = (int16_t)chance_below(&chance, DEVICES),
		.thread = 1,
	};
	struct event end = event;

	if (chance_one_in(&chance, 2)) {
		if (ledger_leave(&ledger, &end, NODE_ADDRESS, NULL))
			keep(end);
		return;
	}
	if (live_find(&spool, NODE_ADDRESS, 0, event.ptr))
		return;
	ledger_enter(&ledger, &event, NODE_ADDRESS, 0, 0);
	keep(event);
}

static void range(enum event_op op)
{
	struct event event = {
		.op = (uint8_t)op,
		.t = t += chance_below(&chance, 100),
		.device = NO_DEVICE,
		.thread = 1 + (uint32_t)chance_below(&chance, THREADS),
		.pool = domains[chance_below(&chance, 3)],
		.name = name,
		.stream = chance_one_in(&chance, 4) ? 1 + chance_below(&chance, 6) : 0,
	};

	ledger_note(&ledger, &event);
	events[events_n++] = event;
}

/* The pop ends the newest that is open and fits: by number, or by thread and domain. */
static void pair(void)
{
	bool open[EVENTS] = { false };

	for (size_t i = 0; i < events_n; i++) {
		const struct event *pop = &events[i];

		pop_of[i] = -1;
		open[i] = pop->op == EVENT_PUSH;
		if (pop->op != EVENT_POP)
			continue;
		for (size_t k = i; k--;) {
			const struct event *push = &events[k];
			bool fits = pop->stream ? push->stream == pop->stream
						: !push->stream && push->thread == pop->thread &&
							  push->pool == pop->pool;

			if (!open[k] || !fits)
				continue;
			open[k] = false;
			pop_of[k] = (int)i;
			break;
		}
	}
}

static bool counts(const struct event *event, enum event_op op, int device)
{
	return event->op == op && event->size && (device < 0 || event->device == device);
}

/* Does the block that this allocation made live on behind event `last`? */
static bool outlives(size_t birth, size_t last)
{
	for (size_t i = birth + 1; i <= last; i++) {
		if (events[i].op == EVENT_FREE && events[i].ptr == events[birth].ptr)
			return false;
	}
	return true;
}

static void count(struct trace_phase_count *to, uint64_t bytes)
{
	to->bytes += bytes;
	to->count++;
}

/* What came of the device (all of them for -1) from event `first`, a push, to event `last`. */
static struct trace_phase_device brute(size_t first, size_t last, int device)
{
	struct trace_phase_device part = { .device = device };
	uint64_t now[DEVICES][2] = { { 0 } };

	for (size_t i = 0; i <= last; i++) {
		uint64_t sums[2] = { 0, 0 };

		if (event_is_memory(events[i].op)) {
			now[events[i].device][0] = events[i].allocated;
			now[events[i].device][1] = events[i].reserved;
		}
		for (int d = 0; d < DEVICES; d++) {
			sums[0] += device < 0 || d == device ? now[d][0] : 0;
			sums[1] += device < 0 || d == device ? now[d][1] : 0;
		}
		if (i == first) {
			part.allocated.start_bytes = sums[0];
			part.reserved.start_bytes = sums[1];
		}
		if (i >= first && sums[0] > part.allocated.peak_bytes)
			part.allocated.peak_bytes = sums[0];
		if (i >= first && sums[1] > part.reserved.peak_bytes)
			part.reserved.peak_bytes = sums[1];
		part.allocated.end_bytes = sums[0];
		part.reserved.end_bytes = sums[1];
		if (i < first)
			continue;
		if (counts(&events[i], EVENT_ALLOC, device)) {
			count(&part.allocations, events[i].size);
			if (outlives(i, last))
				count(&part.kept, events[i].size);
		}
		if (counts(&events[i], EVENT_FREE, device))
			count(&part.freed, events[i].size);
	}
	return part;
}

static void compare_sums(const struct trace_phase_sums *got, const struct trace_phase_sums *wanted,
			 bool open)
{
	EQ(got->start_bytes, wanted->start_bytes);
	EQ(got->peak_bytes, wanted->peak_bytes);
	EQ(got->end_bytes, open ? TRACE_NONE : wanted->end_bytes);
}

static void compare_counts(const struct trace_phase_count *got,
			   const struct trace_phase_count *wanted)
{
	EQ(got->bytes, wanted->bytes);
	EQ(got->count, wanted->count);
}

static void compare_share(const struct trace_phase_device *got, size_t first, size_t last)
{
	struct trace_phase_device wanted = brute(first, last, got->device);
	bool open = pop_of[first] < 0;

	compare_sums(&got->allocated, &wanted.allocated, open);
	compare_sums(&got->reserved, &wanted.reserved, open);
	compare_counts(&got->allocations, &wanted.allocations);
	compare_counts(&got->freed, &wanted.freed);
	compare_counts(&got->kept, &wanted.kept);
	EQ(wanted.allocated.end_bytes - wanted.allocated.start_bytes,
	   got->allocations.bytes - got->freed.bytes);
}

static void compare_phase(const struct trace_phase *phase, size_t first, size_t last)
{
	const struct trace_phase_device all = {
		.device = NO_DEVICE,
		.allocated = phase->allocated,
		.reserved = phase->reserved,
		.allocations = phase->allocations,
		.freed = phase->freed,
		.kept = phase->kept,
	};

	compare_share(&all, first, last);
	for (size_t k = 0; k < phase->devices_n; k++)
		compare_share(&phase->devices[k], first, last);
}

static struct trace trace;
static struct spool_model recording;

static void find(void)
{
	trace = (struct trace){ .phases_n = 0 };
	recording = (struct spool_model){ .trace = &trace, .spool = &spool };
	EQ(phases_find(&recording), 0);
}

static void compare(void)
{
	size_t at = 0;

	pair();
	find();
	for (size_t i = 0; i < events_n; i++) {
		const struct trace_phase *phase;
		size_t last = pop_of[i] < 0 ? events_n - 1 : (size_t)pop_of[i];

		if (events[i].op != EVENT_PUSH)
			continue;
		OK(at < trace.phases_n);
		phase = &trace.phases[at++];
		EQ(phase->start, events[i].t);
		EQ(phase->thread, events[i].thread);
		OK(phase->domain == spool_text(&spool, events[i].pool));
		EQ(phase->end, pop_of[i] < 0 ? TRACE_NONE : events[pop_of[i]].t);
		compare_phase(phase, i, last);
	}
	EQ(at, trace.phases_n);
	spool_model_clear(&recording);
}

static void start(uint64_t seed)
{
	chance = seed;
	t = 1000;
	events_n = 0;
	EQ(memory_spool(&spool), 0);
	EQ(intern_init(&intern, &spool), 0);
	EQ(ledger_init(&ledger, &spool, 100000), 0);
	domains[1] = intern_text(&intern, "torch");
	domains[2] = intern_text(&intern, "NCCL");
	name = intern_text(&intern, "step");
}

static void finish(void)
{
	ledger_clear(&ledger);
	intern_clear(&intern);
	spool_close(&spool);
}

TEST(random_ranges_equal_brute_force)
{
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		unsigned bias = seed % 4; /* some runs mostly open, some mostly close */

		start(seed);
		while (events_n < EVENTS - 1) {
			uint64_t roll = chance_below(&chance, 10);

			if (roll < 4)
				memory();
			else if (roll < 6 + bias)
				range(EVENT_PUSH);
			else
				range(EVENT_POP);
		}
		compare();
		finish();
	}
}

TEST(pops_without_a_push_are_passed_over)
{
	start(1);
	for (unsigned i = 0; i < 100; i++) {
		memory();
		range(EVENT_POP);
	}
	compare();
	finish();
}

TEST(no_events_no_phases)
{
	start(1);
	find();
	EQ(trace.phases_n, 0);
	spool_model_clear(&recording);
	finish();
}

/* A second device that comes while phases are open, and a third; 100 deep. */
TEST(devices_that_come_later)
{
	const struct trace_phase *outer;

	start(1);
	for (unsigned i = 0; i < 100; i++) {
		struct event push = { .op = EVENT_PUSH, .t = ++t, .thread = 1, .name = name };
		struct event alloc = { .op = EVENT_ALLOC,
				       .t = ++t,
				       .ptr = 4096 * (1 + i),
				       .size = 1000 + i,
				       .device = (int16_t)(i * DEVICES / 100),
				       .thread = 2 };

		push.device = NO_DEVICE;
		ledger_note(&ledger, &push);
		keep(push);
		ledger_enter(&ledger, &alloc, NODE_ADDRESS, 0, 0);
		keep(alloc);
	}
	for (unsigned i = 0; i < 100; i++) {
		struct event pop = { .op = EVENT_POP, .t = ++t, .thread = 1, .device = NO_DEVICE };

		ledger_note(&ledger, &pop);
		keep(pop);
	}
	compare();
	find();
	EQ(trace.phases_n, 100);
	outer = &trace.phases[0];
	EQ(outer->devices_n, DEVICES);
	EQ(outer->allocations.count, 100);
	EQ(outer->devices[2].device, 2);
	spool_model_clear(&recording);
	finish();
}

/* A ring too small for all: what spans the hole says so, what lies behind it is exact. */
TEST(events_missing_inside)
{
	unsigned whole = 0;

	start(7);
	ledger_clear(&ledger);
	EQ(ledger_init(&ledger, &spool, 100), 0);
	for (unsigned i = 0; i < EVENTS - 1; i++) {
		if (i == 2 || i == EVENTS - 40)
			range(EVENT_PUSH);
		else
			memory();
	}
	OK(spool.header->dropped > 0);
	pair();
	find();
	EQ(trace.phases_n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct trace_phase *phase = &trace.phases[i];
		bool cut = phase->allocations.count == TRACE_NONE;

		EQ(cut, i == 0);
		if (cut)
			continue;
		whole++;
		for (size_t k = 0; k < events_n; k++) {
			if (events[k].op == EVENT_PUSH && events[k].t == phase->start)
				compare_phase(phase, k, events_n - 1);
		}
	}
	EQ(whole, 1);
	spool_model_clear(&recording);
	finish();
}

/* Ten thousand open at once, more than the list begins with. */
TEST(very_many_open_ranges)
{
	struct blocks ranges = { 0 };
	struct event event = { .op = EVENT_PUSH, .device = NO_DEVICE };
	uint32_t was;

	for (unsigned i = 0; i < 10000; i++) {
		event.thread = i % 7;
		event.stream = i % 3 ? 0 : i + 1;
		OK(ranges_push(&ranges, &event, i));
	}
	for (unsigned i = 10000; i--;) {
		event.thread = i % 7;
		event.stream = i % 3 ? 0 : i + 1;
		OK(ranges_pop(&ranges, &event, &was));
		EQ(was, i);
	}
	OK(!ranges_pop(&ranges, &event, &was));
	EQ(ranges.live, 0);
	OK(ranges_push(&ranges, &event, 1));
	EQ(ranges.size, 16384);
	blocks_clear(&ranges);
}

TEST(families_of_names)
{
	static const struct {
		const char *name, *family;
		size_t stem;
	} rows[] = {
		{ "step 12", "step #", 4 },
		{ "step_12", "step_#", 4 },
		{ "step12", "step#", 4 },
		{ "step", "step", 4 },
		{ "step #", "step #", 4 },
		{ "12", "#", 2 },
		{ "epoch 3 step 17", "epoch # step #", 12 },
		{ "epoch 3/10: step 17", "epoch #/#: step #", 16 },
		{ "epoch: 3, step=17", "epoch: #, step=#", 14 },
		{ "forward 0", "forward #", 7 },
		{ "iter-4", "iter-#", 4 },
		{ "layer[3]", "layer[#]", 8 },
		{ "block (2)", "block (2)", 9 },
		{ "layers.3.0.norm", "layers.#.#.norm", 15 },
		{ "\xc3\xa9tape 3", "\xc3\xa9tape #", 6 },
		{ "conv2d", "conv2d", 6 },
		{ "x + 1", "x + 1", 5 },
		{ "x + 2", "x + 2", 5 },
		{ "x = 3", "x = 3", 5 },
		{ "x[0:3]", "x[0:3]", 6 },
		{ "2 * x", "2 * x", 5 },
		{ "(q @ k) * 0.125", "(q @ k) * 0.125", 15 },
		{ "(x + 1, 0.125)", "(x + 1, 0.125)", 14 },
		{ "scale 0.125", "scale 0.125", 11 },
		{ "scale 0.25", "scale 0.25", 10 },
		{ "ProfilerStep#3", "ProfilerStep#", 12 },
		{ "Thunk:#hlo_op=copy.1,unique_hlo_op_id=4294967297#", "Thunk", 5 },
		{ "XlaPass3:#name=dce#", "XlaPass#", 7 },
		{ "TfrtCpuBuffer#a=1#", "TfrtCpuBuffer", 13 },
		{ "", "", 0 },
	};
	char cut[4];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char family[PHASE_FAMILY];
		char again[PHASE_FAMILY];

		EQ(phase_family(family, sizeof(family), rows[i].name), strlen(rows[i].family));
		STR(family, rows[i].family);
		EQ(phase_stem(rows[i].name), rows[i].stem);
		phase_family(again, sizeof(again), family);
		STR(again, family);
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			int order = phase_family_order(rows[i].name, rows[k].name);
			int texts = strcmp(rows[i].family, rows[k].family);

			EQ((order > 0) - (order < 0), (texts > 0) - (texts < 0));
		}
	}
	EQ(phase_family(cut, sizeof(cut), "step 12"), 3);
}
