/* A recorder for tests: random events through the ledger, and what must hold of any spool. */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/spool/read.h"
#include "base/settings/sample.h"
#include "chance.h"
#include "ledger/pending.h"
#include "ledger/timeline.h"
#include "memory_spool.h"

enum { DEVICES = 3, SUMS = DEVICES * 4 };

static uint64_t below(struct recorder *recorder, uint64_t n)
{
	return chance_below(&recorder->chance, n);
}

static uint32_t make_stack(struct recorder *recorder, unsigned i)
{
	struct intern *intern = &recorder->intern;
	uint32_t frames[3];
	char text[64];

	snprintf(text, sizeof(text), "function_%u", i);
	for (unsigned k = 0; k < 3; k++) {
		struct spool_frame frame = {
			.language = k ? FRAME_PYTHON : FRAME_NATIVE,
			.module = k ? 0 : 1,
			.offset = k ? 0 : 0x1000 + i * 16,
			.function = k ? intern_text(intern, text) : 0,
			.file = k ? intern_text(intern, "/home/user/train.py") : 0,
			.line = k ? i * 10 + k : 0,
		};

		frames[k] = intern_frame(intern, &frame);
	}
	return intern_stack(
		intern, (struct hash128){ i + 1, i * 77 },
		&(struct intern_steps){
			.frames = frames, .native = 1, .python = 2, .owner = recorder->owners[0] });
}

static int open_tables(struct recorder *recorder, uint64_t max_events)
{
	struct intern *intern = &recorder->intern;
	int error = intern_init(intern, &recorder->spool);

	if (!error)
		error = ledger_init(&recorder->ledger, &recorder->spool, max_events);
	if (error)
		return error;
	recorder->pools[1] = intern_text(intern, "torch");
	recorder->pools[2] = intern_text(intern, "async:0x55aa");
	recorder->owners[0] = intern_text(intern, "libc10_cuda.so");
	recorder->owners[1] = intern_text(intern, "libnccl.so.2");
	recorder->api = intern_text(intern, "cudaMalloc");
	recorder->names[0] = intern_text(intern, "step");
	recorder->names[1] = intern_text(intern, "forward");
	recorder->names[2] = intern_text(intern, "backward \"\\\n\xff");
	intern_module(intern, &(struct spool_module){ 0x7f0000000000,
						      0x7f0000000000,
						      0x7f0000100000,
						      intern_text(intern, "/no/such/library.so"),
						      intern_text(intern, "abcdef"),
						      { 0 } });
	for (unsigned i = 0; i < RECORDER_STACKS; i++)
		recorder->stacks[i] = make_stack(recorder, i);
	recorder->loose = intern_pseudo_stack(intern, "[without an address]", 0, SPACE_DEVICE);
	intern_fact(intern, "memtrace", "1.0.0");
	intern_fact(intern, "host", "node7");
	intern_fact(intern, "command", "python");
	intern_fact(intern, "device", "0");
	intern_fact(intern, "name", "NVIDIA H200");
	intern_fact(intern, "uuid", "GPU-0");
	intern_fact(intern, "total_bytes", "150109880320");
	recorder->spool.header->pid = 4242;
	recorder->spool.header->ppid = 4200;
	spool_publish(&recorder->spool);
	return 0;
}

int recorder_open(struct recorder *recorder, const char *path, uint64_t max_events, uint64_t seed)
{
	int error;

	memset(recorder, 0, sizeof(*recorder));
	recorder->chance = seed;
	recorder->t = 1000;
	recorder->waits = path != NULL;
	error = path ? spool_create(&recorder->spool, path) : memory_spool(&recorder->spool);
	return error ? error : open_tables(recorder, max_events);
}

void recorder_close(struct recorder *recorder)
{
	ledger_clear(&recorder->ledger);
	intern_clear(&recorder->intern);
	spool_close(&recorder->spool);
}

void recorder_choose(struct recorder *recorder, uint64_t interval, bool leave_out)
{
	recorder->spool.header->sample = interval;
	recorder->leaves_out = leave_out;
}

static struct event new_event(struct recorder *recorder)
{
	return (struct event){
		.t = recorder->t += below(recorder, 5000),
		.stack = recorder->stacks[below(recorder, RECORDER_STACKS)],
		.thread = 4242 + (uint32_t)below(recorder, 3),
		.api = recorder->api,
	};
}

static void remember(struct recorder *recorder, enum node_kind kind, const struct event *event)
{
	uint32_t pool = event->pool;
	uint64_t ptr = event->ptr;
	unsigned i;

	for (i = 0; i < recorder->lives; i++) { /* what was there went stale */
		if (recorder->live[i].kind == kind && recorder->live[i].ptr == ptr &&
		    (kind != NODE_BLOCK || recorder->live[i].pool == pool))
			break;
	}
	recorder->live[i].kind = kind;
	recorder->live[i].pool = pool;
	recorder->live[i].ptr = ptr;
	recorder->live[i].size = event->size;
	recorder->live[i].device = event->device;
	recorder->lives += i == recorder->lives;
}

static void step_alloc(struct recorder *recorder)
{
	struct event event = new_event(recorder);
	enum node_kind kind = NODE_ADDRESS;

	if (recorder->lives == RECORDER_LIVE)
		return;
	event.op = EVENT_ALLOC;
	event.ptr = 0x7f0000000000u + below(recorder, 4096) * 512;
	event.size = (1 + below(recorder, 2048)) * 512;
	event.device = (int16_t)below(recorder, DEVICES);
	switch (below(recorder, 8)) {
	case 0:
		event.op = EVENT_RESERVE;
		event.pool = recorder->pools[1 + below(recorder, 2)];
		break;
	case 1:
		event.space = SPACE_ARRAY;
		kind = NODE_ARRAY;
		break;
	case 2:
		event.space = SPACE_PINNED;
		event.device = NO_DEVICE;
		break;
	case 3:
	case 4:
		break;
	default:
		kind = NODE_BLOCK;
		event.pool = recorder->pools[1 + below(recorder, 2)];
	}
	event.untold = recorder->leaves_out && recorder_leaves_out(event.ptr);
	event.sampled = recorder->spool.header->sample && (event.ptr >> 9) % 3 == 0;
	remember(recorder, kind, &event);
	ledger_enter(&recorder->ledger, &event, kind,
		     kind == NODE_BLOCK ? 0 : recorder->owners[below(recorder, 2)], 0);
}

static void step_free(struct recorder *recorder)
{
	struct event event = new_event(recorder);
	struct spool_node was;
	unsigned i;

	if (!recorder->lives)
		return;
	i = (unsigned)below(recorder, recorder->lives);
	event.ptr = recorder->live[i].ptr;
	event.pool = recorder->live[i].pool;
	if (!ledger_leave(&recorder->ledger, &event, recorder->live[i].kind, &was))
		return;
	if (below(recorder, 8) == 0) {
		struct event again = new_event(recorder);

		ledger_undo(&recorder->ledger, &again, &was);
		return;
	}
	recorder->live[i] = recorder->live[--recorder->lives];
}

static void step_note(struct recorder *recorder)
{
	struct event event = new_event(recorder);
	struct spool_oom known = { 0 };

	event.op = (uint8_t)(EVENT_OOM + below(recorder, 4));
	if (event.op == EVENT_OOM) {
		event.size = 1ull << 40;
		event.pool = recorder->pools[below(recorder, 2)];
		if (below(recorder, 2)) {
			known.refused = event.size;
			known.total = 1ull << 37;
			known.left = below(recorder, 1 << 30);
		}
		ledger_oom(&recorder->ledger, &event, &known);
		return;
	}
	event.stack = event.api = 0;
	event.device = NO_DEVICE;
	event.name = recorder->names[below(recorder, 3)];
	ledger_note(&recorder->ledger, &event);
}

static void step_adjust(struct recorder *recorder)
{
	struct event event = new_event(recorder);

	event.device = (int16_t)below(recorder, DEVICES);
	event.pool = recorder->pools[1];
	ledger_adjust(&recorder->ledger, &event, (enum metric)below(recorder, METRIC_USED),
		      512 * ((int64_t)below(recorder, 2000) - 1000), recorder->loose);
}

/* What is occupied: a step of some name, or a residual. */
static void step_used(struct recorder *recorder)
{
	int device = (int)below(recorder, DEVICES);
	uint32_t name = recorder->names[below(recorder, 3)];
	bool step;
	struct spool_used sample = {
		.t = recorder->t,
		.bytes = (int64_t)below(recorder, 1 << 20) - (1 << 19),
		.name = name,
		.kind = name,
		.api = name,
		.stack = recorder->stacks[below(recorder, RECORDER_STACKS)],
		.thread = 1,
		.device = (int16_t)device,
	};

	sample.used = below(recorder, 1 << 30);
	step = below(recorder, 2);
	if (step)
		recorder->named[device] += sample.bytes;
	sample.named = recorder->named[device];
	used_enter(&recorder->ledger, &sample, name, step);
}

/* --- blocks that may wait --- */

enum { BURST_DEVICE = 1 };

static void put(struct recorder *recorder, struct event *event)
{
	struct ledger *ledger = &recorder->ledger;
	struct pending_told told = { .allocated = recorder->told };

	told.allocated += event->op == EVENT_ALLOC ? event->size : -event->size;
	told.reserved = ledger_pool_sum(ledger, BURST_DEVICE, event->pool, METRIC_RESERVED);
	if (!pending_put(ledger, event, &told)) {
		if (event->op == EVENT_ALLOC)
			ledger_enter(ledger, event, NODE_BLOCK, 0, 0);
		else if (!ledger_leave(ledger, event, NODE_BLOCK, NULL))
			ledger_adjust(ledger, event, METRIC_ALLOCATED, -(int64_t)event->size,
				      recorder->loose);
	}
	recorder->told = told.allocated;
}

static bool lives(const struct recorder *recorder, uint64_t ptr)
{
	for (unsigned i = 0; i < recorder->lives; i++) {
		if (recorder->live[i].ptr == ptr)
			return true;
	}
	return false;
}

static void burst_alloc(struct recorder *recorder, struct event *event)
{
	event->op = EVENT_ALLOC;
	event->ptr = 0x7e0000000000u + below(recorder, 4096) * 512;
	event->size = (1 + below(recorder, 64)) * 512;
	if (recorder->lives == RECORDER_LIVE || lives(recorder, event->ptr))
		return;
	remember(recorder, NODE_BLOCK, event);
	put(recorder, event);
}

/* One that a burst has made; now and then one that nobody has. */
static void burst_free(struct recorder *recorder, struct event *event)
{
	event->op = EVENT_FREE;
	event->size = 512;
	event->ptr = 0x7d0000000000u;
	for (unsigned tries = 20; tries && recorder->lives && below(recorder, 40); tries--) {
		unsigned i = (unsigned)below(recorder, recorder->lives);

		if (recorder->live[i].kind != NODE_BLOCK || recorder->live[i].ptr >> 40 != 0x7e)
			continue;
		event->ptr = recorder->live[i].ptr;
		event->size = recorder->live[i].size;
		recorder->live[i] = recorder->live[--recorder->lives];
		break;
	}
	if (event->ptr >> 40 == 0x7d && !recorder->strangers)
		return;
	recorder->strangers -= event->ptr >> 40 == 0x7d;
	put(recorder, event);
}

/* Some bytes from before the recording, and what the pool says of itself. */
static void begin_bursts(struct recorder *recorder)
{
	struct event event = new_event(recorder);

	event.device = BURST_DEVICE;
	event.pool = recorder->pools[1];
	recorder->strangers = 200;
	ledger_adjust(&recorder->ledger, &event, METRIC_ALLOCATED, recorder->strangers * 512,
		      recorder->loose);
	recorder->told =
		ledger_pool_sum(&recorder->ledger, BURST_DEVICE, event.pool, METRIC_ALLOCATED);
}

/* So little time passes that one point of the curves has all of it, mostly. */
static void step_burst(struct recorder *recorder)
{
	unsigned count = (unsigned)below(recorder, 150);
	uint32_t pool = recorder->pools[1];
	uint64_t begun;

	pending_before(&recorder->ledger, recorder->loose);
	if (!recorder->ledger.backlog.waiting)
		begin_bursts(recorder);
	begun = recorder->t;
	for (unsigned i = 0; i < count; i++) {
		struct event event = new_event(recorder);

		recorder->t = event.t = begun += below(recorder, 3);
		event.device = BURST_DEVICE;
		event.pool = pool;
		if (below(recorder, 2))
			burst_alloc(recorder, &event);
		else
			burst_free(recorder, &event);
	}
	if (!recorder->waits || below(recorder, 4) == 0)
		pending_settle(&recorder->ledger);
}

void recorder_step(struct recorder *recorder)
{
	uint64_t roll = below(recorder, 100);

	if (!recorder->calm && below(recorder, 12) == 0 && !recorder->spool.header->sample &&
	    !recorder->leaves_out) {
		step_burst(recorder);
		return;
	}
	pending_settle(&recorder->ledger);
	if (roll < 5)
		step_note(recorder);
	else if (roll < 10)
		step_adjust(recorder);
	else if (roll < 45)
		step_free(recorder);
	else
		step_alloc(recorder);
	if (below(recorder, 50) == 0)
		step_used(recorder);
}

/* --- what must hold --- */

struct replay {
	const struct spool *spool;
	struct replay_sum {
		enum scope_kind kind;
		int device;
		uint32_t name;
		uint64_t now[2], peak[2];
	} sums[64];
	unsigned sums_n;
	struct replay_live {
		enum node_kind kind;
		uint32_t pool;
		uint64_t ptr, size;
		uint32_t stack;
	} live[4096];
	unsigned lives;
	uint64_t events;
	const char *complaint;
};

static char complaint[256];

static void complain(struct replay *replay, const char *what, uint64_t a, uint64_t b)
{
	if (replay->complaint)
		return;
	snprintf(complaint, sizeof(complaint), "%s: %llu, %llu (event %llu)", what,
		 (unsigned long long)a, (unsigned long long)b, (unsigned long long)replay->events);
	replay->complaint = complaint;
}

static void add(struct replay *replay, enum scope_kind kind, int device, uint32_t name,
		unsigned metric, int64_t bytes)
{
	struct replay_sum *sum = replay->sums;

	for (; sum < replay->sums + replay->sums_n; sum++) {
		if (sum->kind == kind && sum->device == device && sum->name == name)
			break;
	}
	if (sum == replay->sums + replay->sums_n)
		*(replay->sums + replay->sums_n++) =
			(struct replay_sum){ kind, device, name, { 0 }, { 0 } };
	sum->now[metric] += (uint64_t)bytes;
	if (sum->now[metric] > sum->peak[metric])
		sum->peak[metric] = sum->now[metric];
}

static void replay_sums(struct replay *replay, const struct event *event)
{
	bool in = event->op == EVENT_ALLOC || event->op == EVENT_RESERVE;
	bool handed = event->op == EVENT_ALLOC || event->op == EVENT_FREE;
	int64_t bytes = in ? (int64_t)event->size : -(int64_t)event->size;

	if (event->op == EVENT_MAP || event->op == EVENT_UNMAP)
		return;
	if (event->device >= 0) {
		if (handed)
			add(replay, SCOPE_DEVICE, event->device, 0, 0, bytes);
		if (handed && event->pool)
			add(replay, SCOPE_POOL, event->device, event->pool, 0, bytes);
		if (!handed || !event->pool)
			add(replay, SCOPE_DEVICE, event->device, 0, 1, bytes);
		if (!handed)
			add(replay, SCOPE_POOL, event->device, event->pool, 1, bytes);
	}
	if (event->space != SPACE_DEVICE)
		add(replay, SCOPE_SPACE, NO_DEVICE, event->space, 0, bytes);
}

static void replay_live(struct replay *replay, const struct event *event)
{
	bool maps = event->op == EVENT_MAP || event->op == EVENT_UNMAP;
	bool in = event->op == EVENT_ALLOC || event->op == EVENT_RESERVE || event->op == EVENT_MAP;
	bool handed = event->op == EVENT_ALLOC || event->op == EVENT_FREE;
	enum node_kind kind = NODE_ADDRESS;
	unsigned i = replay->lives;

	if (!event->ptr)
		return;
	if (maps)
		kind = NODE_MAPPING;
	else if (handed && event->pool)
		kind = NODE_BLOCK;
	else if (event->ptr < RECORDER_HANDLES)
		kind = NODE_HANDLE;
	else if (event->space == SPACE_ARRAY)
		kind = NODE_ARRAY;
	while (i && (replay->live[i - 1].kind != kind || replay->live[i - 1].pool != event->pool ||
		     replay->live[i - 1].ptr != event->ptr))
		i--;
	if (in && i)
		complain(replay, "born twice", event->ptr, event->seq);
	else if (in)
		replay->live[replay->lives++] = (struct replay_live){ kind, event->pool, event->ptr,
								      event->size, event->stack };
	else if (!i || (replay->live[i - 1].size != event->size && !maps))
		complain(replay, "died unborn", event->ptr, event->seq);
	else
		replay->live[i - 1] = replay->live[--replay->lives];
}

/* The last event says what the device's sums are. */
static void replay_end(struct replay *replay, const struct journal_reader *reader,
		       const struct event *last)
{
	if (reader->broken)
		complain(replay, "broken chunks", reader->broken, 0);
	if (!replay->events || last->device < 0)
		return;
	/* Of two at once a ring of one has kept the first. */
	if (last->seq + 1 != replay->spool->header->seq) {
		if (replay->events > 1)
			complain(replay, "the last event", last->seq, replay->spool->header->seq);
		return;
	}
	for (uint32_t i = 0; i < spool_count(replay->spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(replay->spool, i);

		if (scope->kind == SCOPE_DEVICE && scope->device == last->device &&
		    (scope->sums[0].now != last->allocated || scope->sums[1].now != last->reserved))
			complain(replay, "the last event's sums", scope->sums[0].now,
				 last->allocated);
	}
}

/* Events that were dropped, or never written, cannot be played again. */
static bool is_part(const struct spool *spool)
{
	return spool->header->dropped || spool->header->paused || spool->header->filtered;
}

static void replay_events(struct replay *replay)
{
	struct journal_reader reader;
	struct event event;

	if (journal_read(&reader, replay->spool))
		complain(replay, "no memory", 0, 0);
	while (!replay->complaint && journal_next(&reader, &event)) {
		if (event.seq != replay->events && !is_part(replay->spool))
			complain(replay, "a hole in the numbers", event.seq, replay->events);
		replay->events++;
		if (is_part(replay->spool) || !event_is_memory(event.op) || event.op == EVENT_OOM)
			continue;
		replay_sums(replay, &event);
		replay_live(replay, &event);
		for (unsigned i = 0; event.device >= 0 && i < replay->sums_n; i++) {
			const struct replay_sum *sum = &replay->sums[i];

			if (sum->kind == SCOPE_DEVICE && sum->device == event.device &&
			    (sum->now[0] != event.allocated || sum->now[1] != event.reserved))
				complain(replay, "an event's sums", event.allocated, sum->now[0]);
		}
	}
	replay_end(replay, &reader, &event);
	if (replay->events + replay->spool->header->dropped != replay->spool->header->seq)
		complain(replay, "events", replay->events, replay->spool->header->seq);
	journal_read_end(&reader);
}

static void compare_scope(struct replay *replay, const struct spool_scope *scope)
{
	static const struct replay_sum nothing;
	const struct replay_sum *sum = &nothing;

	for (unsigned i = 0; i < replay->sums_n; i++) {
		const struct replay_sum *at = &replay->sums[i];

		if ((uint32_t)at->kind == scope->kind && at->device == scope->device &&
		    at->name == scope->name)
			sum = at;
	}
	for (unsigned metric = 0; metric < 2; metric++) {
		if (sum->now[metric] != scope->sums[metric].now)
			complain(replay, "a scope's sum", scope->sums[metric].now,
				 sum->now[metric]);
		if (sum->peak[metric] != scope->sums[metric].peak)
			complain(replay, "a scope's peak", scope->sums[metric].peak,
				 sum->peak[metric]);
	}
}

/* Every sum is the sum of its cells, now and at its peak. */
static void compare_cells(struct replay *replay)
{
	const struct spool *spool = replay->spool;
	uint64_t scopes = spool_count(spool, SPOOL_SCOPE);
	uint64_t cells = 0;
	uint64_t(*sums)[2] = calloc(scopes * METRICS + 1, sizeof(*sums));

	for (uint32_t i = 0; sums && i < spool_count(spool, SPOOL_STACK); i++) {
		const struct spool_stack *stack = spool_at(spool, SPOOL_STACK, i);
		const struct spool_cell *cell;

		for (uint32_t id = stack->cell; id; id = cell->next) {
			const struct spool_sum *sum;
			uint64_t count;

			if (id > spool_count(spool, SPOOL_CELL) ||
			    ++cells > spool_count(spool, SPOOL_CELL)) {
				complain(replay, "a cell that is none", id, i);
				break;
			}
			cell = spool_at(spool, SPOOL_CELL, id - 1);
			sum = &totals_scope(spool, cell->sum / METRICS)->sums[cell->sum % METRICS];
			sums[cell->sum][0] += cell->live;
			sums[cell->sum][1] += totals_at_peak(sum, cell, &count);
		}
	}
	if (cells != spool_count(spool, SPOOL_CELL))
		complain(replay, "cells", cells, spool_count(spool, SPOOL_CELL));
	for (uint32_t i = 0; sums && i < scopes * METRICS; i++) {
		const struct spool_sum *sum = &totals_scope(spool, i / METRICS)->sums[i % METRICS];

		if (i % METRICS == METRIC_USED)
			continue;
		if (sums[i][0] != sum->now)
			complain(replay, "cells against a sum", sums[i][0], sum->now);
		if (sums[i][1] != sum->peak)
			complain(replay, "cells against a peak", sums[i][1], sum->peak);
	}
	free(sums);
}

static bool is_held(const struct spool_node *node)
{
	return node->kind != NODE_FREE && node->kind != NODE_MAPPING &&
	       !(node->flags & (NODE_SEGMENT | NODE_FOREIGN));
}

/* What is live is estimated at what its samples stand for, to the byte. */
static void compare_estimates(struct replay *replay)
{
	const struct spool *spool = replay->spool;
	uint64_t stands = 0;
	uint64_t estimated = 0;

	for (uint32_t id = 1; id <= spool_count(spool, SPOOL_NODE); id++) {
		const struct spool_node *node = live_node(spool, id);

		if (is_held(node) && node->flags & NODE_SAMPLED)
			stands += sample_weigh(node->size, spool->header->sample).bytes;
	}
	for (uint32_t id = 1; id <= spool_count(spool, SPOOL_CELL); id++) {
		const struct spool_cell *cell = spool_at(spool, SPOOL_CELL, id - 1);
		const struct spool_scope *scope = totals_scope(spool, cell->sum / METRICS);

		if (cell->sum % METRICS == METRIC_ALLOCATED &&
		    (scope->kind == SCOPE_DEVICE ||
		     (scope->kind == SCOPE_SPACE && scope->name != SPACE_ARRAY)))
			estimated += cell->estimated;
	}
	if (stands != estimated)
		complain(replay, "estimates", estimated, stands);
}

/* A released handle lives on under its mappings. */
static uint32_t find_live(const struct spool *spool, const struct replay_live *live)
{
	uint32_t id = live_find(spool, live->kind, live->pool, live->ptr);

	/* What was booked in a copy is in its rows and in no chain. */
	for (uint32_t i = 1; !id && spool->caught_n && i <= spool_count(spool, SPOOL_NODE); i++) {
		const struct spool_node *node = live_node(spool, i);

		if (node->kind == live->kind && node->address == live->ptr &&
		    (live->kind != NODE_BLOCK || node->pool == live->pool))
			id = i;
	}
	return id || live->kind != NODE_HANDLE ? id : live_find(spool, NODE_HELD, 0, live->ptr);
}

/* Handles know how many mappings they have, and one that nothing holds is not there. */
static void compare_mappings(struct replay *replay)
{
	const struct spool *spool = replay->spool;

	for (uint32_t id = 1; id <= spool_count(spool, SPOOL_NODE); id++) {
		const struct spool_node *node = live_node(spool, id);
		unsigned mappings = 0;

		if (node->kind != NODE_HANDLE && node->kind != NODE_HELD)
			continue;
		for (uint32_t i = 1; i <= spool_count(spool, SPOOL_NODE); i++)
			mappings += live_node(spool, i)->kind == NODE_MAPPING &&
				    live_node(spool, i)->link == id;
		if (mappings != node->mappings)
			complain(replay, "a handle's mappings", node->mappings, mappings);
		if (node->kind == NODE_HELD ? node->references || !mappings : !node->references)
			complain(replay, "a handle that nothing holds", node->references, mappings);
	}
}

static void compare_live(struct replay *replay)
{
	const struct spool *spool = replay->spool;
	uint64_t nodes = 0;

	for (uint32_t id = 1; id <= spool_count(spool, SPOOL_NODE); id++)
		nodes += live_node(spool, id)->kind != NODE_FREE;
	if (nodes != spool->header->live.count)
		complain(replay, "live nodes", nodes, spool->header->live.count);
	if (is_part(spool))
		return;
	if (nodes != replay->lives)
		complain(replay, "live", nodes, replay->lives);
	for (unsigned i = 0; i < replay->lives; i++) {
		const struct replay_live *live = &replay->live[i];
		uint32_t id = find_live(spool, live);
		const struct spool_node *node = id ? live_node(spool, id) : NULL;

		if (!node)
			complain(replay, "a live one is not found", live->ptr, live->kind);
		else if (node->size != live->size || node->stack != live->stack ||
			 node->pool != live->pool)
			complain(replay, "a live one differs", live->ptr, node->size);
	}
}

/* No peak is missing in a curve; its last state, drawn late, is the sums themselves. */
static void compare_curve(struct replay *replay, const struct spool_scope *scope)
{
	unsigned points = timeline_points(replay->spool, scope);
	uint64_t top = scope->sums[METRIC_ALLOCATED].now;
	uint64_t high = scope->sums[METRIC_RESERVED].now;
	uint64_t t = 0;

	if (!scope->curve)
		return;
	for (unsigned i = 0; i < points; i++) {
		const struct spool_point *point = timeline_point(replay->spool, scope, i);

		if (point->top.t < t || point->high.t < t || point->last.t < point->top.t)
			complain(replay, "a curve's times", point->top.t, t);
		t = point->last.t;
		top = point->top.allocated > top ? point->top.allocated : top;
		high = point->high.reserved > high ? point->high.reserved : high;
	}
	if (top != scope->sums[METRIC_ALLOCATED].peak)
		complain(replay, "a curve's top", top, scope->sums[METRIC_ALLOCATED].peak);
	if (high != scope->sums[METRIC_RESERVED].peak)
		complain(replay, "a curve's high", high, scope->sums[METRIC_RESERVED].peak);
}

static void need_text(struct replay *replay, uint32_t id, const char *what)
{
	const char *text = spool_text(replay->spool, id);

	if (id && (!text || text[-1] || !*text))
		complain(replay, what, id, 0);
}

/* What has a number is whole: texts, frames, stacks, facts, threads, modules. */
static void compare_names(struct replay *replay)
{
	const struct spool *spool = replay->spool;

	for (uint32_t i = 0; i < spool_count(spool, SPOOL_FRAME); i++) {
		const struct spool_frame *frame = spool_at(spool, SPOOL_FRAME, i);

		need_text(replay, frame->function, "a frame's function");
		need_text(replay, frame->file, "a frame's file");
		if (frame->module > spool_count(spool, SPOOL_MODULE))
			complain(replay, "a frame's module", frame->module, i);
	}
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_STACK); i++) {
		const struct spool_stack *stack = spool_at(spool, SPOOL_STACK, i);

		for (uint32_t k = 0; k < (uint32_t)stack->native + stack->python; k++) {
			uint32_t frame = *(uint32_t *)spool_at(spool, SPOOL_STEP, stack->step + k);

			if (stack->step + k >= spool_count(spool, SPOOL_STEP) || !frame ||
			    frame > spool_count(spool, SPOOL_FRAME))
				complain(replay, "a stack's frame", frame, i);
		}
		if (!stack->native && !stack->python)
			complain(replay, "a stack without frames", i, 0);
	}
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_FACT); i++) {
		const struct spool_fact *fact = spool_at(spool, SPOOL_FACT, i);

		need_text(replay, fact->key, "a fact's key");
		need_text(replay, fact->value, "a fact's value");
		if (!fact->key)
			complain(replay, "a fact without a key", i, 0);
	}
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_MODULE); i++) {
		const struct spool_module *module = spool_at(spool, SPOOL_MODULE, i);

		need_text(replay, module->path, "a module's path");
		if (module->low >= module->high || !module->path)
			complain(replay, "a module", module->low, module->high);
	}
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_THREAD); i++) {
		const struct spool_thread *thread = spool_at(spool, SPOOL_THREAD, i);

		need_text(replay, thread->name, "a thread's name");
		if (!thread->thread || !thread->name)
			complain(replay, "a thread", thread->thread, thread->name);
	}
}

int recorder_read(struct spool *spool, const char *path)
{
	int error = spool_open(spool, path);

	if (!error)
		pending_settle_left(spool);
	return error;
}

const char *recorder_complaint(const struct spool *spool)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	const char *result = "no memory";

	if (!replay)
		return result;
	replay->spool = spool;
	replay_events(replay);
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(spool, i);

		if (scope->kind != SCOPE_OWNER && !is_part(spool))
			compare_scope(replay, scope);
		compare_curve(replay, scope);
	}
	compare_names(replay);
	compare_mappings(replay);
	compare_cells(replay);
	compare_estimates(replay);
	compare_live(replay);
	result = replay->complaint;
	free(replay);
	return result;
}
