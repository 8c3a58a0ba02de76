/* Phases against brute force: for each push look for its pop, for its sums at every event. */
#include "check.h"

#include "analyse/phases.h"
#include "chance.h"
#include "ledger/intern.h"
#include "ledger/ledger.h"

enum { RUNS = 200, EVENTS = 400, THREADS = 4, DEVICES = 2 };

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

/* The sums of all devices after event `last`, and the highest of those since `first`. */
static void brute(size_t first, size_t last, struct phase_sums *allocated,
		  struct phase_sums *reserved)
{
	uint64_t now[DEVICES][2] = { { 0 } };
	uint64_t sums[2] = { 0, 0 };

	memset(allocated, 0, sizeof(*allocated));
	memset(reserved, 0, sizeof(*reserved));
	for (size_t i = 0; i <= last; i++) {
		if (event_is_memory(events[i].op)) {
			now[events[i].device][0] = events[i].allocated;
			now[events[i].device][1] = events[i].reserved;
		}
		sums[0] = now[0][0] + now[1][0];
		sums[1] = now[0][1] + now[1][1];
		if (i < first)
			continue;
		if (i == first) {
			allocated->start = sums[0];
			reserved->start = sums[1];
		}
		if (sums[0] > allocated->peak)
			allocated->peak = sums[0];
		if (sums[1] > reserved->peak)
			reserved->peak = sums[1];
	}
	allocated->end = sums[0];
	reserved->end = sums[1];
}

static void compare_sums(const struct phase_sums *got, const struct phase_sums *wanted)
{
	EQ(got->start, wanted->start);
	EQ(got->peak, wanted->peak);
	EQ(got->end, wanted->end);
}

static void compare(void)
{
	struct phases phases;
	size_t at = 0;

	pair();
	EQ(phases_find(&phases, &spool), 0);
	for (size_t i = 0; i < events_n; i++) {
		const struct phase *phase = &phases.list[at];
		struct phase_sums allocated;
		struct phase_sums reserved;

		if (events[i].op != EVENT_PUSH)
			continue;
		OK(at++ < phases.count);
		EQ(phase->start, events[i].t);
		EQ(phase->thread, events[i].thread);
		EQ(phase->domain, events[i].pool);
		EQ(phase->open, pop_of[i] < 0);
		if (pop_of[i] >= 0)
			EQ(phase->end, events[pop_of[i]].t);
		brute(i, pop_of[i] < 0 ? events_n - 1 : (size_t)pop_of[i], &allocated, &reserved);
		compare_sums(&phase->allocated, &allocated);
		compare_sums(&phase->reserved, &reserved);
	}
	EQ(at, phases.count);
	phases_clear(&phases);
}

static void start(uint64_t seed)
{
	chance = seed;
	t = 1000;
	events_n = 0;
	EQ(spool_create_memory(&spool), 0);
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
	struct phases phases;

	start(1);
	EQ(phases_find(&phases, &spool), 0);
	EQ(phases.count, 0);
	phases_clear(&phases);
	finish();
}

/* Ten thousand open at once, more than the list begins with. */
TEST(very_many_open_phases)
{
	struct phases phases;
	struct event event = { .op = EVENT_PUSH, .device = NO_DEVICE, .thread = 1 };

	phases_start(&phases);
	for (unsigned i = 0; i < 10000; i++) {
		event.t = i;
		OK(phases_event(&phases, &event));
	}
	event.op = EVENT_POP;
	for (unsigned i = 10000; i--;) {
		const struct phase *phase = phases_ended_by(&phases, &event);

		OK(phase && phase->start == i);
		OK(phases_event(&phases, &event));
	}
	OK(!phases_ended_by(&phases, &event));
	EQ(phases.newest, -1);
	phases_clear(&phases);
}
