/* The ledger against a naive model (model.h): after every step, and every peak's composition. */
#include "check.h"

#include "ledger/device_used.h"
#include "ledger/intern.h"
#include "ledger/ledger.h"
#include "ledger/timeline.h"
#include "ledger/vmm.h"
#include "unit/chance.h"
#include "unit/memory_spool.h"
#include "unit/model.h"
#include "unit/recorder.h"

enum { DEVICES = 3, RUNS = 320, STEPS = 250, MIB2 = 1 << 21 };

static struct run {
	struct spool spool;
	struct intern intern;
	struct ledger ledger;
	struct model model, before; /* before the last event, which may be taken back */
	struct event events[MODEL_EVENTS];
	struct event last; /* as it was entered */
	int newest;        /* the entry that the last event made, -1 if it was no birth */
	uint64_t chance, t;
	uint32_t pools[3], owners[3], api;
} run;

static uint64_t below(uint64_t n)
{
	return chance_below(&run.chance, n);
}

static void start(uint64_t seed)
{
	memset(&run, 0, sizeof(run));
	run.chance = seed;
	run.t = 1000;
	run.newest = -1;
	EQ(memory_spool(&run.spool), 0);
	EQ(intern_init(&run.intern, &run.spool), 0);
	EQ(ledger_init(&run.ledger, &run.spool, 1000000), 0);
	run.pools[1] = intern_text(&run.intern, "torch");
	run.pools[2] = intern_text(&run.intern, "async:0x1");
	run.owners[1] = intern_text(&run.intern, "libc10_cuda.so");
	run.owners[2] = intern_text(&run.intern, "libnccl.so.2");
	run.api = intern_text(&run.intern, "cudaMalloc");
	for (unsigned i = 1; i < MODEL_STACKS; i++) {
		char name[8] = { 's', (char)('0' + i) };

		EQ(intern_pseudo_stack(&run.intern, name, 0, SPACE_DEVICE), i);
	}
}

static void finish(void)
{
	ledger_clear(&run.ledger);
	intern_clear(&run.intern);
	spool_close(&run.spool);
}

static struct event new_event(void)
{
	run.t += below(4) ? below(3000) : 0;
	return (struct event){
		.t = run.t,
		.stack = (uint32_t)below(MODEL_STACKS - MODEL_LOOSE),
		.thread = 1 + (uint32_t)below(3),
		.api = run.api,
	};
}

/* Books the event and remembers it as what the journal must tell. */
static void book(struct event *event, uint32_t stack, uint32_t owner)
{
	event->seq = run.model.events_n;
	model_book(&run.model, event, stack, owner);
	OK(event->seq < MODEL_EVENTS);
	run.events[event->seq] = *event;
	run.newest = -1;
}

static void book_birth(struct event event, const struct model_entry *entry, int place)
{
	run.before = run.model;
	run.last = event;
	book(&event, entry->stack, entry->owner);
	if (event.op == EVENT_ALLOC)
		model_born(&run.model, entry->stack, entry->size);
	run.model.entries[place] = *entry;
	run.newest = place;
}

static void book_end(int place, const struct event *like)
{
	struct model_entry entry = run.model.entries[place];
	struct event event = model_end(&entry, like);

	book(&event, entry.stack, entry.owner);
	model_died(&run.model, &entry, &event);
	run.model.entries[place].kind = NODE_FREE;
}

/* --- steps --- */

static void random_memory(struct event *event, enum node_kind *kind)
{
	*kind = NODE_ADDRESS;
	event->op = EVENT_ALLOC;
	event->ptr = 0x7f0000000000u + below(60) * MIB2;
	event->size = (1 + below(40)) * 512;
	event->device = (int16_t)below(DEVICES);
	switch (below(12)) {
	case 0:
	case 1:
		event->op = EVENT_RESERVE;
		event->pool = run.pools[1 + below(2)];
		break;
	case 2:
		*kind = NODE_ARRAY;
		event->space = SPACE_ARRAY;
		break;
	case 3:
		event->space = below(2) ? SPACE_PINNED : SPACE_MANAGED;
		event->device = NO_DEVICE;
		break;
	case 4:
		*kind = NODE_CPU;
		event->space = SPACE_CPU;
		event->device = NO_DEVICE;
		break;
	case 5:
		event->flags = EVENT_FOREIGN;
		break;
	case 6: /* a stream-ordered pool of host memory */
		*kind = NODE_BLOCK;
		event->space = SPACE_PINNED;
		event->device = NO_DEVICE;
		event->pool = run.pools[2];
		break;
	case 7:
		*kind = NODE_HANDLE;
		event->size = (1 + below(3)) * MIB2;
		break;
	case 8:
		break;
	default:
		*kind = NODE_BLOCK;
		event->pool = run.pools[1 + below(2)];
	}
}

static void step_enter(void)
{
	struct event event = new_event();
	uint32_t owner = run.owners[below(3)];
	struct model_entry entry;
	enum node_kind kind;
	int stale;

	random_memory(&event, &kind);
	stale = model_find(&run.model, kind, event.pool, event.ptr);
	if (model_place(&run.model) < 0 ||
	    (stale >= 0 && kind == NODE_HANDLE && run.model.entries[stale].mappings))
		return;
	entry = (struct model_entry){
		.kind = kind,
		.ptr = event.ptr,
		.size = event.size,
		.t = event.t,
		.pool = event.pool,
		.owner = owner,
		.stack = event.stack,
		.device = event.device,
		.space = event.space,
		.segment = event.op == EVENT_RESERVE,
		.foreign = event.flags & EVENT_FOREIGN,
		.references = kind == NODE_HANDLE || (event.flags & EVENT_FOREIGN),
	};
	if (stale >= 0)
		book_end(stale, &event);
	book_birth(event, &entry, model_place(&run.model));
	ledger_enter(&run.ledger, &event, kind, owner, 0);
}

static int random_entry(void)
{
	unsigned from = (unsigned)below(MODEL_ENTRIES);

	for (unsigned i = 0; i < MODEL_ENTRIES; i++) {
		unsigned at = (from + i) % MODEL_ENTRIES;

		if (run.model.entries[at].kind != NODE_FREE)
			return (int)at;
	}
	return -1;
}

static void step_leave(void)
{
	struct event event = new_event();
	int place = random_entry();
	struct model_entry entry;
	struct spool_node was;

	if (place < 0)
		return;
	entry = run.model.entries[place];
	if (entry.kind == NODE_HANDLE || entry.kind == NODE_MAPPING || entry.kind == NODE_HELD)
		return;
	event.ptr = entry.ptr;
	event.pool = entry.pool;
	book_end(place, &event);
	OK(ledger_leave(&run.ledger, &event, entry.kind, &was));
	if (below(6))
		return;
	event = new_event(); /* the free failed after all */
	ledger_undo(&run.ledger, &event, &was);
	OK(event.ptr == entry.ptr && event.stack == entry.stack);
	book_birth(event, &entry, place);
}

static void step_unknown(void)
{
	struct event event = new_event();
	enum node_kind kinds[] = { NODE_ADDRESS, NODE_BLOCK, NODE_ARRAY, NODE_HANDLE };

	event.ptr = 0x1234;
	OK(!ledger_leave(&run.ledger, &event, kinds[below(4)], NULL));
	OK(!vmm_retain(&run.ledger, NODE_HANDLE, 0x1234));
}

static void step_note(void)
{
	struct event event = new_event();
	struct spool_oom known = { 0 };

	event.op = (uint8_t)(EVENT_OOM + below(4));
	event.device = NO_DEVICE;
	if (event.op == EVENT_OOM) {
		event.device = (int16_t)below(DEVICES);
		event.size = 1 << 30;
		event.pool = run.pools[below(3)];
	} else {
		event.stack = 0;
		event.name = run.api;
	}
	if (event.op == EVENT_OOM)
		ledger_oom(&run.ledger, &event, &known);
	else
		ledger_note(&run.ledger, &event);
	book(&event, 0, 0);
}

static void step_adjust(void)
{
	struct event like = new_event();
	enum event_op op = (enum event_op)below(4);
	uint32_t stack = (uint32_t)(MODEL_STACKS - 1 - below(MODEL_LOOSE));
	uint64_t bytes = below(20) * 512;
	bool goes = op == EVENT_FREE || op == EVENT_RELEASE;
	struct model_sum *sum;
	struct event event;

	like.device = (int16_t)below(DEVICES);
	like.pool = run.pools[1 + below(2)];
	sum = &model_scope(&run.model, SCOPE_POOL, like.device, like.pool)
		       ->sums[op == EVENT_RESERVE || op == EVENT_RELEASE];
	ledger_adjust(&run.ledger, &like,
		      op == EVENT_RESERVE || op == EVENT_RELEASE ? METRIC_RESERVED
								 : METRIC_ALLOCATED,
		      goes ? -(int64_t)bytes : (int64_t)bytes, stack);
	if (goes && bytes > sum->bytes[stack])
		bytes = sum->bytes[stack]; /* never below what was booked so */
	if (!bytes)
		return;
	event = like;
	event.op = (uint8_t)op;
	event.size = bytes;
	event.stack = stack;
	book(&event, stack, 0);
	if (op == EVENT_ALLOC)
		model_born(&run.model, stack, bytes);
	else if (op == EVENT_FREE)
		model_freed(&run.model, stack, stack, bytes);
}

/* As if the pool had been known when the last event of all was written. */
static void book_reborn(int place, uint32_t pool)
{
	struct model_entry entry = run.model.entries[place];
	struct event event = run.last;

	run.model = run.before;
	event.op = pool ? EVENT_RESERVE : EVENT_ALLOC;
	event.pool = entry.pool = pool;
	entry.segment = pool != 0;
	book_birth(event, &entry, place);
}

static void book_retag(int place, uint32_t pool, const struct event *like)
{
	struct model_entry *entry = &run.model.entries[place];
	struct event event = model_end(entry, like);

	event.stack = entry->stack;
	book(&event, entry->stack, entry->owner);
	model_died(&run.model, entry, &event);
	entry->pool = pool;
	entry->segment = pool != 0;
	event = model_end(entry, like);
	event.op = pool ? EVENT_RESERVE : EVENT_ALLOC;
	event.stack = entry->stack;
	book(&event, entry->stack, entry->owner);
	if (!entry->segment)
		model_born(&run.model, entry->stack, entry->size);
}

static void step_retag(void)
{
	int place = run.newest >= 0 && below(2) ? run.newest : random_entry();
	struct event like = new_event();
	const struct model_entry *entry;
	uint32_t pool;
	uint32_t id;

	if (place < 0)
		return;
	entry = &run.model.entries[place];
	if ((entry->kind != NODE_ADDRESS && entry->kind != NODE_HANDLE) || entry->device < 0)
		return;
	pool = entry->pool ? 0 : run.pools[1 + below(2)];
	id = live_find(&run.spool, entry->kind, 0, entry->ptr);
	OK(id);
	ledger_retag(&run.ledger, id, pool, &like);
	if (place == run.newest) {
		book_reborn(place, pool);
		run.newest = -1; /* not a second time */
	} else {
		book_retag(place, pool, &like);
	}
}

static int random_handle(void)
{
	for (unsigned tries = 0; tries < 30; tries++) {
		int place = random_entry();

		if (place >= 0 && run.model.entries[place].kind == NODE_HANDLE)
			return place;
	}
	return -1;
}

static void step_references(void)
{
	int place = random_handle();
	struct model_entry *entry;
	struct event event = new_event();
	struct spool_node was;
	bool undo = !below(4);
	bool ends;

	if (place < 0)
		return;
	entry = &run.model.entries[place];
	if (below(3) == 0) {
		OK(vmm_retain(&run.ledger, NODE_HANDLE, entry->ptr));
		entry->references++;
		run.newest = -1;
		return;
	}
	ends = entry->references == 1 && !entry->mappings;
	event.ptr = entry->ptr;
	OK(vmm_release(&run.ledger, NODE_HANDLE, &event, &was));
	EQ(was.references == 1 && !was.mappings, ends);
	if (ends) {
		struct model_entry copy = *entry;

		book_end(place, &event);
		if (undo) {
			event = new_event();
			vmm_unrelease(&run.ledger, &event, &was);
			book_birth(event, &copy, place);
		}
		return;
	}
	run.newest = -1;
	if (undo) {
		vmm_unrelease(&run.ledger, &event, &was);
		return;
	}
	if (!--entry->references)
		entry->kind = NODE_HELD;
}

static void end_mapping(int place, const struct event *like)
{
	struct model_entry mapping = run.model.entries[place];
	struct model_entry *home = &run.model.entries[mapping.home];
	struct event event = model_end(&mapping, like);

	event.op = EVENT_UNMAP;
	event.flags = 0;
	book(&event, 0, 0);
	run.model.entries[place].kind = NODE_FREE;
	home->mappings--;
	if (home->kind == NODE_HELD && !home->mappings)
		book_end(mapping.home, like);
}

static void step_map(void)
{
	int home = random_handle();
	struct event event = new_event();
	struct model_entry mapping;
	struct event booked;
	int stale;

	if (home < 0 || model_place(&run.model) < 0)
		return;
	event.ptr = 0x7e0000000000u + below(12) * MIB2;
	event.size = run.model.entries[home].size;
	booked = event;
	stale = model_find(&run.model, NODE_MAPPING, 0, event.ptr);
	vmm_map(&run.ledger, &event, run.model.entries[home].ptr);
	if (stale >= 0)
		end_mapping(stale, &booked);
	mapping = run.model.entries[home];
	booked.op = EVENT_MAP;
	booked.device = (int16_t)mapping.device;
	booked.space = (uint8_t)mapping.space;
	booked.pool = mapping.pool;
	book(&booked, 0, 0);
	mapping.kind = NODE_MAPPING;
	mapping.ptr = booked.ptr;
	mapping.stack = booked.stack;
	mapping.references = mapping.mappings = 0;
	mapping.home = home;
	run.model.entries[home].mappings++;
	run.model.entries[model_place(&run.model)] = mapping;
}

static void step_unmap(void)
{
	struct event event = new_event();

	event.ptr = 0x7e0000000000u + below(12) * MIB2;
	event.size = (1 + below(6)) * MIB2;
	for (uint64_t at = event.ptr; at < event.ptr + event.size;) {
		int place = model_find(&run.model, NODE_MAPPING, 0, at);

		at += place >= 0 ? run.model.entries[place].size : MIB2;
		if (place >= 0)
			end_mapping(place, &event);
	}
	vmm_unmap(&run.ledger, &event);
}

static void step_empty_pool(void)
{
	struct event like = new_event();
	uint32_t pool = run.pools[1 + below(2)];

	for (uint32_t id = 1; id <= spool_count(&run.spool, SPOOL_NODE); id++) {
		const struct spool_node *node = live_node(&run.spool, id);

		if (node->kind == NODE_BLOCK && node->pool == pool)
			book_end(model_find(&run.model, NODE_BLOCK, pool, node->address), &like);
	}
	ledger_empty_pool(&run.ledger, pool, &like);
	for (unsigned i = 0; i < MODEL_ENTRIES; i++)
		OK(run.model.entries[i].kind != NODE_BLOCK || run.model.entries[i].pool != pool);
}

static void step(void)
{
	uint64_t roll = below(200);

	if (roll < 90)
		step_enter();
	else if (roll < 140)
		step_leave();
	else if (roll < 155)
		step_retag();
	else if (roll < 165)
		step_references();
	else if (roll < 175)
		step_map();
	else if (roll < 182)
		step_unmap();
	else if (roll < 188)
		step_note();
	else if (roll < 196)
		step_adjust();
	else if (roll < 198)
		step_unknown();
	else if (roll < 199)
		ledger_retry(&run.ledger, 0);
	else if (below(10) == 0)
		step_empty_pool();
}

/* --- comparisons --- */

static uint32_t scope_of(const struct model_scope *wanted)
{
	for (uint32_t i = 0; i < spool_count(&run.spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(&run.spool, i);

		if (scope->kind == (uint32_t)wanted->kind && scope->device == wanted->device &&
		    scope->name == wanted->name)
			return i;
	}
	return UINT32_MAX;
}

static void compare_sums(void)
{
	EQ(run.ledger.error, 0);
	EQ(run.spool.header->seq, run.model.events_n);
	for (unsigned i = 0; i < run.model.scopes_n; i++) {
		const struct model_scope *model = &run.model.scopes[i];
		uint32_t at = scope_of(model);
		const struct spool_scope *scope;

		/* The model makes some that nothing was ever booked in. */
		if (at == UINT32_MAX && !model->allocations && !model->ooms)
			continue;
		OK(at != UINT32_MAX);
		scope = totals_scope(&run.spool, at);
		EQ(scope->allocations, model->allocations);
		EQ(scope->frees, model->frees);
		EQ(scope->ooms, model->ooms);
		for (unsigned metric = 0; metric < 2; metric++) {
			EQ(scope->sums[metric].now, model->sums[metric].now);
			EQ(scope->sums[metric].peak, model->sums[metric].peak);
			EQ(scope->sums[metric].peak_t, model->sums[metric].peak_t);
		}
	}
}

static const struct spool_cell *cell_of(uint32_t stack, uint32_t sum)
{
	static const struct spool_cell none = { .epoch = UINT64_MAX };
	const struct spool_stack *row = spool_at(&run.spool, SPOOL_STACK, stack);
	const struct spool_cell *cell;

	for (uint32_t id = row->cell; id; id = cell->next) {
		cell = spool_at(&run.spool, SPOOL_CELL, id - 1);
		if (cell->sum == sum)
			return cell;
	}
	return &none;
}

/* Of every peak of every scope, by stack. */
static void compare_compositions(void)
{
	for (unsigned i = 0; i < run.model.scopes_n; i++) {
		const struct model_scope *model = &run.model.scopes[i];
		uint32_t at = scope_of(model);

		for (unsigned metric = 0; at != UINT32_MAX && metric < 2; metric++) {
			const struct spool_sum *sum = &totals_scope(&run.spool, at)->sums[metric];
			uint64_t total = 0;

			for (uint32_t stack = 0; stack < MODEL_STACKS; stack++) {
				const struct spool_cell *cell =
					cell_of(stack, totals_sum(at, metric));
				uint64_t count;
				uint64_t bytes = totals_at_peak(sum, cell, &count);

				EQ(cell->live, model->sums[metric].bytes[stack]);
				EQ(cell->live_count, model->sums[metric].count[stack]);
				EQ(bytes, model->sums[metric].peak_bytes[stack]);
				EQ(count, model->sums[metric].peak_count[stack]);
				total += bytes;
			}
			EQ(total, sum->peak);
		}
	}
}

static void compare_live(void)
{
	uint64_t lives = 0;

	for (unsigned i = 0; i < MODEL_ENTRIES; i++) {
		const struct model_entry *entry = &run.model.entries[i];
		const struct spool_node *node;
		uint32_t id;

		if (entry->kind == NODE_FREE)
			continue;
		lives++;
		id = live_find(&run.spool, entry->kind, entry->pool, entry->ptr);
		OK(id);
		node = live_node(&run.spool, id);
		if (entry->kind == NODE_HELD) /* several may have had the same handle */
			continue;
		EQ(node->size, entry->size);
		EQ(node->stack, entry->stack);
		EQ(node->pool, entry->pool);
		EQ(node->owner, entry->owner);
		EQ(node->device, entry->device);
		EQ(node->space, entry->space);
		EQ(node->references, entry->references);
		EQ(node->mappings, entry->mappings);
		EQ(!!(node->flags & NODE_SEGMENT), entry->segment);
		EQ(!!(node->flags & NODE_FOREIGN), entry->foreign);
	}
	EQ(run.spool.header->live.count, lives);
}

static void compare_stacks(void)
{
	for (uint32_t i = 0; i < MODEL_STACKS; i++) {
		const struct spool_stack *row = spool_at(&run.spool, SPOOL_STACK, i);
		const struct model_stack *model = &run.model.stacks[i];

		EQ(row->allocations, model->allocations);
		EQ(row->bytes, model->bytes);
		EQ(row->frees, model->frees);
		EQ(row->freed, model->freed);
		EQ(row->frees_here, model->frees_here);
		EQ(row->freed_here, model->freed_here);
		EQ(row->lifetime_min, model->lifetime_min);
		EQ(row->lifetime_max, model->lifetime_max);
	}
}

static void compare_journal(void)
{
	struct journal_reader reader;
	struct event event;
	uint64_t seq = 0;

	EQ(journal_read(&reader, &run.spool), 0);
	for (; journal_next(&reader, &event); seq++) {
		const struct event *wanted = &run.events[seq];

		EQ(event.seq, seq);
		EQ(event.op, wanted->op);
		EQ(event.t, wanted->t);
		EQ(event.device, wanted->device);
		if (event.device >= 0) {
			EQ(event.allocated, wanted->allocated);
			EQ(event.reserved, wanted->reserved);
		}
		if (!event_is_memory(event.op))
			continue;
		EQ(event.ptr, wanted->ptr);
		EQ(event.size, wanted->size);
		EQ(event.pool, wanted->pool);
		EQ(event.space, wanted->space);
		EQ(event.stack, wanted->stack);
		EQ(event.flags, wanted->flags);
	}
	EQ(seq, run.model.events_n);
	EQ(reader.broken, 0);
	journal_read_end(&reader);
}

/* Peaks are points of the curve, or the moment behind its last one, which is drawn later. */
static void compare_curves(void)
{
	for (uint32_t i = 0; i < spool_count(&run.spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(&run.spool, i);
		unsigned points = timeline_points(&run.spool, scope);
		uint64_t top = scope->sums[METRIC_ALLOCATED].now;
		uint64_t high = scope->sums[METRIC_RESERVED].now;
		uint64_t t = 0;

		if (!scope->curve || (!points && !scope->allocations))
			continue;
		OK(points <= CURVE_POINTS);
		for (unsigned k = 0; k < points; k++) {
			const struct spool_point *point = timeline_point(&run.spool, scope, k);

			OK(point->top.t >= t && point->high.t >= t);
			OK(point->last.t >= point->top.t && point->last.t >= point->high.t);
			t = point->last.t;
			top = point->top.allocated > top ? point->top.allocated : top;
			high = point->high.reserved > high ? point->high.reserved : high;
		}
		EQ(top, scope->sums[METRIC_ALLOCATED].peak);
		EQ(high, scope->sums[METRIC_RESERVED].peak);
		OK(t <= run.spool.header->t);
	}
}

TEST(random_runs_equal_the_model)
{
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		start(seed);
		for (unsigned i = 0; i < STEPS; i++) {
			step();
			compare_sums();
			if (below(20) == 0) {
				compare_compositions();
				compare_live();
			}
		}
		compare_compositions();
		compare_live();
		compare_stacks();
		compare_journal();
		compare_curves();
		finish();
	}
}

TEST(a_long_run_keeps_its_peaks_in_the_curves)
{
	start(77);
	for (unsigned i = 0; i < 3000; i++) {
		run.t += i % 100 ? below(100000) : below(1ull << 34);
		step_enter();
		step_leave();
		if (i % 100 == 0)
			compare_curves();
	}
	compare_sums();
	compare_curves();
	finish();
}

/* Sums go on where events are stopped, and curves are drawn when they moved. */
TEST(curves_go_on_where_events_are_stopped)
{
	start(78);
	for (unsigned i = 0; i < 20; i++)
		step_enter();
	run.ledger.quiet = true;
	for (unsigned i = 0; i < 20; i++) {
		run.t += 1ull << 20;
		step_enter();
	}
	EQ(run.spool.header->t, run.t);
	compare_curves();
	run.ledger.quiet = false;
	journal_resync(&run.ledger.journal);
	step_enter();
	compare_curves();
	finish();
}

/* The last event is a birth; then recording of events is stopped, or goes on, and it is retagged.
 */
static void retag_across_stop(bool quiet_first)
{
	struct event event;
	uint32_t id;

	start(5);
	for (unsigned i = 0; i < 20; i++)
		step_enter();
	run.ledger.quiet = quiet_first;
	event = new_event();
	event.op = EVENT_ALLOC;
	event.ptr = 0x9990000;
	event.size = 512;
	ledger_enter(&run.ledger, &event, NODE_ADDRESS, 0, 0);
	run.ledger.quiet = !quiet_first;
	if (quiet_first)
		journal_resync(&run.ledger.journal);
	id = live_find(&run.spool, NODE_ADDRESS, 0, 0x9990000);
	OK(id);
	ledger_retag(&run.ledger, id, run.pools[1], &event);
	EQ(live_node(&run.spool, id)->pool, run.pools[1]);
	run.ledger.quiet = false;
	if (!quiet_first)
		journal_resync(&run.ledger.journal);
	for (unsigned i = 0; i < 20; i++) {
		event = new_event();
		event.op = EVENT_ALLOC;
		event.ptr = 0x8880000 + i * 512;
		event.size = 512;
		ledger_enter(&run.ledger, &event, NODE_ADDRESS, 0, 0);
	}
}

/* Whatever was told meanwhile: what comes behind is readable and has the sums of the ledger. */
static void last_event_is_right(void)
{
	const struct spool_scope *device = NULL;
	struct journal_reader reader;
	struct event event = { .seq = 0 };
	uint64_t count = 0;

	for (uint32_t i = 0; i < spool_count(&run.spool, SPOOL_SCOPE); i++) {
		if (totals_scope(&run.spool, i)->kind == SCOPE_DEVICE &&
		    totals_scope(&run.spool, i)->device == 0)
			device = totals_scope(&run.spool, i);
	}
	EQ(journal_read(&reader, &run.spool), 0);
	while (journal_next(&reader, &event)) {
		EQ(event.seq, count);
		count++;
	}
	EQ(reader.broken, 0);
	EQ(count, run.spool.header->seq);
	EQ(event.ptr, 0x8880000 + 19 * 512);
	OK(device);
	EQ(event.allocated, device->sums[METRIC_ALLOCATED].now);
	EQ(event.reserved, device->sums[METRIC_RESERVED].now);
	OK(run.ledger.journal.ring_events <= run.spool.header->seq);
	journal_read_end(&reader);
	finish();
}

TEST(retag_after_events_were_stopped)
{
	retag_across_stop(false);
	last_event_is_right();
}

TEST(retag_after_events_went_on)
{
	retag_across_stop(true);
	last_event_is_right();
}

static void sample(int device, uint64_t used, uint64_t t)
{
	used_enter(&run.ledger,
		   &(struct spool_used){ .t = t, .used = used, .device = (int16_t)device }, 0,
		   false);
}

TEST(used_keeps_its_own_peak)
{
	struct event event;

	start(1);
	sample(1, 1000, 5);
	sample(1, 3000, 6);
	sample(1, 3000, 7);
	sample(1, 2000, 8);
	EQ(totals_scope(&run.spool, 0)->sums[METRIC_USED].now, 2000);
	EQ(totals_scope(&run.spool, 0)->sums[METRIC_USED].peak, 3000);
	EQ(totals_scope(&run.spool, 0)->sums[METRIC_USED].peak_t, 6);
	ledger_retry(&run.ledger, 1);
	EQ(totals_scope(&run.spool, 0)->retries, 1);
	event = new_event();
	event.op = EVENT_ALLOC;
	event.ptr = 4096;
	event.size = 100;
	event.device = 1;
	event.pool = run.pools[1];
	ledger_enter(&run.ledger, &event, NODE_BLOCK, 0, 0);
	EQ(ledger_pool_sum(&run.ledger, 1, run.pools[1], METRIC_ALLOCATED), 100);
	EQ(ledger_pool_sum(&run.ledger, 1, run.pools[2], METRIC_ALLOCATED), 0);
	finish();
}

static void fail(uint64_t size, struct spool_oom *known)
{
	struct event event = new_event();

	event.op = EVENT_OOM;
	event.size = size;
	event.device = 1;
	event.pool = run.pools[1];
	ledger_oom(&run.ledger, &event, known);
}

/* Of many failures the first few and the latest, in the ring's order. */
TEST(failures_are_kept_bounded)
{
	enum { MANY = 100 };

	start(1);
	for (uint64_t i = 0; i < MANY; i++)
		fail(1 + i, &(struct spool_oom){ .refused = 2 + i });
	EQ(run.spool.header->ooms, MANY);
	EQ(spool_count(&run.spool, SPOOL_OOM), SPOOL_OOMS);
	EQ(totals_scope(&run.spool, 0)->ooms, MANY);
	for (unsigned i = 0; i < SPOOL_OOMS; i++) {
		const struct spool_oom *row = spool_at(&run.spool, SPOOL_OOM, i);
		uint64_t least = i < SPOOL_OOMS_FIRST ? 0 : MANY - SPOOL_OOMS + SPOOL_OOMS_FIRST;

		EQ(row->refused, row->size + 1);
		EQ(row->seq, row->size - 1);
		OK(row->seq >= least);
		if (i < SPOOL_OOMS_FIRST)
			EQ(row->seq, i);
		for (unsigned k = 0; k < i; k++)
			OK(((const struct spool_oom *)spool_at(&run.spool, SPOOL_OOM, k))->seq !=
			   row->seq);
	}
	finish();
}

TEST(a_failure_knows_the_sums_and_what_is_left)
{
	struct spool_oom known = { .refused = 500, .left = 100, .total = 10000 };
	struct event event;

	start(1);
	event = new_event();
	event.op = EVENT_ALLOC;
	event.ptr = 4096;
	event.size = 3000;
	event.device = 1;
	ledger_enter(&run.ledger, &event, NODE_ADDRESS, 0, 0);
	used_enter(&run.ledger, &(struct spool_used){ .t = run.t, .used = 3500, .device = 1 }, 0,
		   false);
	EQ(used_reserved(&run.ledger, 1), 3000);
	EQ(used_reserved(&run.ledger, 2), 0);
	/* At the refusal it held 200 more, which it has given back. */
	known.reserved = 3200;
	fail(700, &known);
	EQ(known.left, 300);
	EQ(known.allocated, 3000);
	EQ(known.reserved, 3000);
	EQ(known.allocations, 1);
	EQ(known.used, 3500);
	/* Without a refusal: by the sample before, and what came since. */
	event.ptr = 4 << 20;
	event.size = 3 << 20;
	ledger_enter(&run.ledger, &event, NODE_ADDRESS, 0, 0);
	known = (struct spool_oom){ .pool_reserved = 1 };
	fail(700, &known);
	EQ(known.used, 3500 + (4 << 20)); /* two granules of its own */
	EQ(known.left, 0);
	EQ(known.seq, 3);
	finish();
}

TEST(around_finds_what_holds_an_address)
{
	struct event event;

	start(1);
	for (unsigned i = 0; i < 4; i++) {
		event = new_event();
		event.op = EVENT_ALLOC;
		event.ptr = 0x7f0000000000u + i * 4ull * MIB2;
		event.size = MIB2;
		ledger_enter(&run.ledger, &event, NODE_ADDRESS, 0, 0);
	}
	EQ(ledger_around(&run.ledger, 0x7f0000000000u), 1);
	EQ(ledger_around(&run.ledger, 0x7f0000000000u + MIB2 - 1), 1);
	EQ(ledger_around(&run.ledger, 0x7f0000000000u + MIB2), 0);
	EQ(ledger_around(&run.ledger, 0x7f0000000000u + 8 * MIB2 + 5), 3);
	EQ(ledger_around(&run.ledger, 0), 0);
	finish();
}

/* memtrace_enable(0) may hide a release: the number comes again while the old memory is still
 * mapped. */
TEST(a_handle_given_again_keeps_the_older_mapping)
{
	struct event create = { .op = EVENT_RESERVE, .ptr = 0x77, .size = 4 * MIB2 };
	struct event map = { .ptr = 0x7e0000000000u, .size = 4 * MIB2 };
	struct recorder r;
	uint64_t before;

	OK(!recorder_open(&r, NULL, 1000, 1));
	create.pool = map.pool = intern_text(&r.intern, "handles");
	before = ledger_pool_sum(&r.ledger, 0, create.pool, METRIC_RESERVED);
	ledger_enter(&r.ledger, &create, NODE_HANDLE, 0, 0);
	vmm_map(&r.ledger, &map, 0x77);
	create = (struct event){
		.op = EVENT_RESERVE, .ptr = 0x77, .size = MIB2, .pool = create.pool
	};
	ledger_enter(&r.ledger, &create, NODE_HANDLE, 0, 0);
	EQ(ledger_pool_sum(&r.ledger, 0, create.pool, METRIC_RESERVED) - before, 5 * MIB2);
	map = (struct event){ .ptr = 0x7e0000000000u, .size = 4 * MIB2 };
	vmm_unmap(&r.ledger, &map);
	EQ(ledger_pool_sum(&r.ledger, 0, create.pool, METRIC_RESERVED) - before, MIB2);
	recorder_close(&r);
}
