/*
 * Categories against brute force: random events of stacks whose meaning is known, each block's
 * category found again by looking at all events between its birth and its end.
 */
#include "check.h"

#include "analyse/categories/categories.h"
#include "unit/chance.h"

enum { EVENTS = 3000, PLACES = 40, DEVICES = 2, TRACKS = DEVICES + 1 };

/* What the stacks are, and their frames. */
enum { OPERATOR, MODULE, BACKWARD, OPTIMIZER, WEIGHTS, WORKSPACE, PLAIN, STACKS };
enum { MAIN = 1, AUTOGRAD, LOADER };

static struct trace_module modules[] = { { .path = "/x/libtorch_cpu.so" },
					 { .path = "/x/libcublas.so.13" },
					 { .path = "/x/libuser.so" } };
static struct trace_frame frames[] = {
	[OPERATOR] = { .function = "at::_ops::addmm::call(at::Tensor const&)", .module = 0 },
	[MODULE] = { .function = "Module._call_impl",
		     .file = "/x/torch/nn/modules/module.py",
		     .module = UINT32_MAX,
		     .language = TRACE_PYTHON },
	[BACKWARD] = { .function = "torch::autograd::Engine::thread_main(int)", .module = 0 },
	[OPTIMIZER] = { .function = "AdamW.step",
			.file = "/x/torch/optim/adamw.py",
			.module = UINT32_MAX,
			.language = TRACE_PYTHON },
	[WEIGHTS] = { .function = "Module._apply",
		      .file = "/x/torch/nn/modules/module.py",
		      .module = UINT32_MAX,
		      .language = TRACE_PYTHON },
	[WORKSPACE] = { .function = "cublasCreate_v2", .module = 1 },
	[PLAIN] = { .function = "work", .module = 2 },
};
static uint32_t lists[STACKS][2] = {
	{ OPERATOR },
	{ OPERATOR, MODULE },
	{ OPERATOR, BACKWARD },
	{ OPERATOR, OPTIMIZER },
	{ OPERATOR, WEIGHTS },
	{ WORKSPACE, OPERATOR },
	{ PLAIN },
};
static const size_t depths[STACKS] = { 1, 2, 2, 2, 2, 2, 1 };

static struct trace_stack stacks[STACKS];
static struct trace_thread threads[] = {
	{ .thread = MAIN, .name = "python3", .main = true },
	{ .thread = AUTOGRAD, .name = "pt_autograd_0" },
	{ .thread = LOADER, .name = "loader" },
};
static struct trace_device devices[DEVICES];
static struct trace_space spaces[] = { { .space = "cpu" } };
static struct trace_curve curves[DEVICES];
static uint64_t curve_t[DEVICES][EVENTS], curve_allocated[DEVICES][EVENTS];
static uint32_t site_of[STACKS];
static struct trace trace;
static struct event events[EVENTS];
static struct rules rules;
static uint64_t chance;

static void make_trace(void)
{
	memset(&trace, 0, sizeof(trace));
	for (uint32_t i = 0; i < STACKS; i++) {
		stacks[i] = (struct trace_stack){ .number = i,
						  .frames = lists[i],
						  .frames_n = depths[i],
						  .via_stack = UINT32_MAX };
		site_of[i] = UINT32_MAX;
	}
	for (int i = 0; i < DEVICES; i++) {
		devices[i] = (struct trace_device){ .device = i };
		curves[i] = (struct trace_curve){ .device = i,
						  .t = curve_t[i],
						  .allocated = curve_allocated[i] };
	}
	trace.path = "t.json";
	trace.modules = modules;
	trace.modules_n = 3;
	trace.frames = frames;
	trace.frames_n = STACKS;
	trace.stacks = stacks;
	trace.stacks_n = STACKS;
	trace.site_of = site_of;
	trace.threads = threads;
	trace.threads_n = 3;
	trace.summary.devices = devices;
	trace.summary.devices_n = DEVICES;
	trace.summary.spaces = spaces;
	trace.summary.spaces_n = 1;
	trace.timeline = curves;
	trace.timeline_n = DEVICES;
}

/* Mostly what belongs together, now and then anything. */
static void choose_doing(struct event *event, unsigned regime)
{
	static const uint32_t forward[] = { OPERATOR, MODULE, MODULE, WEIGHTS, WORKSPACE, PLAIN };
	static const uint32_t backward[] = { BACKWARD, BACKWARD, OPERATOR, MODULE, WORKSPACE };

	event->thread = regime == 1 ? AUTOGRAD : MAIN;
	event->stack = regime == 0   ? forward[chance_below(&chance, 6)]
		       : regime == 1 ? backward[chance_below(&chance, 5)]
				     : OPTIMIZER;
	if (chance_one_in(&chance, 15))
		event->thread = LOADER;
	if (chance_one_in(&chance, 40))
		event->stack = (uint32_t)chance_below(&chance, STACKS);
}

static void make_events(void)
{
	struct {
		bool live;
		struct event event;
	} places[PLACES] = { 0 };
	uint64_t allocated[TRACKS] = { 0 };
	unsigned regime = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		size_t at = chance_below(&chance, PLACES);
		struct event *event = &events[i];
		unsigned track = (unsigned)(at % TRACKS);

		regime = chance_one_in(&chance, 25) ? (regime + 1) % 3 : regime;
		*event = (struct event){
			.op = places[at].live ? EVENT_FREE : EVENT_ALLOC,
			.ptr = 4096 * (1 + at),
			.size = places[at].live ? places[at].event.size : 1024 + i,
			.space = track < DEVICES ? SPACE_DEVICE : SPACE_CPU,
			.device = (int16_t)(track < DEVICES ? (int)track : NO_DEVICE),
			.seq = i,
			.t = (i ? events[i - 1].t : 0) + 1 + chance_below(&chance, 3),
		};
		choose_doing(event, regime);
		places[at].live = !places[at].live;
		places[at].event = *event;
		allocated[track] += event->op == EVENT_ALLOC ? event->size : 0 - event->size;
		event->allocated = event->reserved =
			track < DEVICES ? allocated[track] : TRACE_NONE;
	}
}

/* --- brute force --- */

static struct told {
	unsigned track;
	uint8_t stage;
	bool inside, in_pass, in_step; /* behind the event, on its track */
	uint32_t passes, steps;
} told[EVENTS];

static unsigned track_of(const struct event *event)
{
	return event->device < 0 ? DEVICES : (unsigned)event->device;
}

static uint8_t stage_of(const struct event *event)
{
	bool inside = event->thread == AUTOGRAD || event->stack == BACKWARD;

	switch (event->stack) {
	case MODULE:
		return inside ? STAGE_RECOMPUTE : STAGE_FORWARD;
	case OPTIMIZER:
		return STAGE_OPTIMIZER;
	default:
		return inside ? STAGE_BACKWARD : STAGE_FORWARD;
	}
}

/* Did the loader ever do a part of training before that? */
static bool loader_trains(size_t i)
{
	for (size_t k = 0; k <= i; k++) {
		if (events[k].thread == LOADER && stage_of(&events[k]) != STAGE_FORWARD)
			return true;
	}
	return false;
}

static void tell_events(void)
{
	struct told now[TRACKS] = { 0 };

	for (size_t i = 0; i < EVENTS; i++) {
		const struct event *event = &events[i];
		struct told *at = &now[track_of(event)];
		bool trains =
			event->thread == MAIN || (event->thread == LOADER && loader_trains(i));
		bool was_in_pass = at->in_pass;
		bool was_in_step = at->in_step;

		at->track = track_of(event);
		at->stage = stage_of(event);
		at->inside = event->thread == AUTOGRAD || event->stack == BACKWARD;
		at->in_pass = at->inside || (was_in_pass && !trains);
		at->in_step = at->stage == STAGE_OPTIMIZER || (was_in_step && !trains);
		at->passes += at->in_pass && !was_in_pass;
		at->steps += at->in_step && !was_in_step;
		told[i] = *at;
	}
}

/* The free of an allocation; EVENTS for none. */
static size_t free_of(size_t alloc)
{
	size_t i = alloc + 1;

	while (i < EVENTS && (events[i].op != EVENT_FREE || events[i].ptr != events[alloc].ptr))
		i++;
	return i;
}

/* The last event of the track up to `end`, itself included. */
static size_t last_of(unsigned track, size_t end)
{
	size_t i = end < EVENTS ? end : EVENTS - 1;

	while (told[i].track != track)
		i--;
	return i;
}

static bool in_same_stage(size_t alloc, size_t end)
{
	size_t last = last_of(told[alloc].track, end);

	switch ((enum stage)told[alloc].stage) {
	case STAGE_FORWARD:
		return told[last].passes == told[alloc].passes;
	case STAGE_RECOMPUTE:
		for (size_t i = alloc + 1; i <= last; i++) {
			if (told[i].track == told[alloc].track && told[i].stage == STAGE_BACKWARD)
				return false;
		}
		return true;
	case STAGE_BACKWARD:
		return told[last].passes == told[alloc].passes && told[last].in_pass;
	default:
		return told[last].steps == told[alloc].steps && told[last].in_step;
	}
}

static uint64_t allocations_between(size_t alloc, size_t end)
{
	uint64_t count = 0;

	for (size_t i = alloc + 1; i < end && i < EVENTS; i++)
		count += events[i].op == EVENT_ALLOC && told[i].track == told[alloc].track;
	return count;
}

/* Of the stack's blocks that were freed: bytes that outlived their stage less those that did not.
 */
static int64_t kept_of(uint32_t stack)
{
	int64_t kept = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		size_t end = free_of(i);

		if (events[i].op != EVENT_ALLOC || events[i].stack != stack || end == EVENTS)
			continue;
		kept += in_same_stage(i, end) ? -(int64_t)events[i].size : (int64_t)events[i].size;
	}
	return kept;
}

static enum category category_of(size_t alloc)
{
	size_t end = free_of(alloc);
	size_t last = last_of(told[alloc].track, EVENTS - 1);
	bool soon = in_same_stage(alloc, end);
	uint64_t allocations = allocations_between(alloc, end);

	if (end == EVENTS)
		soon = soon && told[last].passes && kept_of(events[alloc].stack) < 0;
	if (events[alloc].stack == WORKSPACE)
		return CATEGORY_WORKSPACES;
	switch ((enum stage)told[alloc].stage) {
	case STAGE_OPTIMIZER:
		return soon ? CATEGORY_TEMPORARIES : CATEGORY_OPTIMIZER;
	case STAGE_BACKWARD:
		return soon ? CATEGORY_TEMPORARIES : CATEGORY_GRADIENTS;
	case STAGE_RECOMPUTE:
		return soon ? CATEGORY_TEMPORARIES : CATEGORY_ACTIVATIONS;
	default:
		break;
	}
	if (events[alloc].stack == WEIGHTS)
		return soon && allocations < 16 ? CATEGORY_TEMPORARIES : CATEGORY_PARAMETERS;
	if (events[alloc].stack == PLAIN)
		return allocations < 16 && (end < EVENTS || soon) ? CATEGORY_TEMPORARIES
								  : CATEGORY_OTHER;
	return soon ? CATEGORY_TEMPORARIES : CATEGORY_ACTIVATIONS;
}

/* --- the tests --- */

static size_t peak_of(unsigned track, uint64_t *bytes)
{
	uint64_t now = 0;
	size_t best = 0;

	*bytes = 0;
	for (size_t i = 0; i < EVENTS; i++) {
		if (told[i].track != track)
			continue;
		now += events[i].op == EVENT_ALLOC ? events[i].size : 0 - events[i].size;
		if (now > *bytes) {
			*bytes = now;
			best = i;
		}
	}
	return best;
}

/* What a track held behind event `at`, by category. */
static void held_at(unsigned track, size_t at, uint64_t *sums)
{
	memset(sums, 0, CATEGORIES * sizeof(*sums));
	for (size_t i = 0; i <= at; i++) {
		if (events[i].op == EVENT_ALLOC && told[i].track == track && free_of(i) > at)
			sums[category_of(i)] += events[i].size;
	}
}

static void compare_place(const struct categories *categories, unsigned track)
{
	const struct categories_place *place =
		track < DEVICES ? categories_place(categories, (int)track, NULL, "device")
				: categories_place(categories, NO_DEVICE, NULL, "cpu");
	uint64_t bytes;
	size_t peak = peak_of(track, &bytes);
	uint64_t sums[CATEGORIES];
	uint64_t whole = 0;

	OK(place);
	OK(place->peak_exact && place->exit_exact);
	EQ(place->peak_bytes, bytes);
	held_at(track, peak, sums);
	for (size_t k = 0; k < CATEGORIES; k++) {
		EQ(place->peak[k].bytes, sums[k]);
		whole += place->peak[k].bytes;
	}
	EQ(whole, bytes);
	held_at(track, EVENTS - 1, sums);
	for (size_t k = 0; k < CATEGORIES; k++)
		EQ(place->exit[k].bytes, sums[k]);
}

static void compare_curve(const struct categories *categories, unsigned track)
{
	const struct categories_place *place =
		categories_place(categories, (int)track, NULL, "device");
	uint64_t sums[CATEGORIES];

	OK(place->points > 0);
	EQ(place->t[place->points - 1], curve_t[track][curves[track].t_n - 1]);
	for (size_t p = 0; p < place->points; p += 1 + chance_below(&chance, 40)) {
		size_t at = 0;

		while (at + 1 < EVENTS && events[at + 1].t <= place->t[p])
			at++;
		held_at(track, at, sums);
		for (size_t k = 0; k < CATEGORIES; k++)
			EQ(place->bytes[k * place->points + p], sums[k]);
	}
}

static void make_curves(void)
{
	for (unsigned i = 0; i < DEVICES; i++) {
		curves[i].t_n = 0;
		for (size_t k = 0; k < EVENTS; k++) {
			if (told[k].track != i)
				continue;
			curve_t[i][curves[i].t_n] = events[k].t;
			curve_allocated[i][curves[i].t_n++] = events[k].allocated;
		}
		curves[i].allocated_n = curves[i].t_n;
		devices[i].allocated.peak_bytes = TRACE_NONE;
		devices[i].allocated.exit_bytes = TRACE_NONE;
	}
	spaces[0].allocated.peak_bytes = spaces[0].allocated.exit_bytes = TRACE_NONE;
}

TEST(every_block_has_the_category_of_its_life)
{
	EQ(rules_read_text(&rules, NULL, NULL), 0);
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct categories categories;
		size_t alloc = 0;

		chance = seed;
		make_trace();
		make_events();
		tell_events();
		make_curves();
		categories_start(&categories, &trace, &rules);
		categories.keep_allocs = true;
		for (size_t i = 0; i < EVENTS; i++)
			categories_event(&categories, &events[i]);
		categories_end(&categories);
		for (size_t i = 0; i < EVENTS; i++) {
			if (events[i].op == EVENT_ALLOC)
				EQ(categories.of_alloc[alloc++], category_of(i));
		}
		EQ(categories.allocs_n, alloc);
		for (unsigned i = 0; i < TRACKS; i++)
			compare_place(&categories, i);
		for (unsigned i = 0; i < DEVICES; i++)
			compare_curve(&categories, i);
		categories_clear(&categories);
	}
	rules_clear(&rules);
}
