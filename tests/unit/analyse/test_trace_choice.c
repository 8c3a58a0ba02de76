/* The reader's choice: frames of one kind, rows by what was asked for; and whose code is whose. */
#include "check.h"

#include "analyse/trace/trace.h"

enum { OWN, OTHER, TORCH, NATIVE, CUBLAS, NAMED, FRAMES };

static struct trace_module modules[] = {
	{ .path = "/opt/torch/lib/libc10_cuda.so" },
	{ .path = "/usr/lib/libcublas.so.13" },
};

static const struct trace_frame code[FRAMES] = {
	[OWN] = { TRACE_PYTHON, "Net.forward", NULL, UINT32_MAX, 0, "/home/u/train.py", 12, false },
	[OTHER] = { TRACE_PYTHON, "Net.forward", NULL, UINT32_MAX, 0, "/home/u/train.py", 13,
		    false },
	[TORCH] = { TRACE_PYTHON, "Linear.forward", NULL, UINT32_MAX, 0,
		    "/v/lib/python3.12/site-packages/torch/nn/modules/linear.py", 125, false },
	[NATIVE] = { TRACE_NATIVE, "c10::alloc()", "_Z", 0, 0x10, NULL, 0, false },
	[CUBLAS] = { TRACE_NATIVE, NULL, NULL, 1, 0x5b45ee, NULL, 0, false },
	[NAMED] = { TRACE_NATIVE, "[not recorded]", NULL, UINT32_MAX, 0, NULL, 0, false },
};

/* A trace of its own for each test: choosing changes it. */
static struct {
	struct trace trace;
	struct trace_frame frames[FRAMES];
	struct trace_stack stacks[5];
	struct trace_site sites[2];
	uint32_t lists[5][4], entries[5][2], site_of[5];
} made;

static void add(unsigned i, const uint32_t *frames, size_t count, uint32_t site)
{
	memcpy(made.lists[i], frames, count * sizeof(*frames));
	made.stacks[i] = (struct trace_stack){
		.number = i,
		.frames = made.lists[i],
		.frames_n = count,
		.allocations = 1,
		.bytes = (uint64_t)1 << i,
		.live_bytes = (uint64_t)1 << i,
		.peak_bytes = (uint64_t)1 << i,
		.lifetime_min_ns = TRACE_NONE,
		.lifetime_max_ns = TRACE_NONE,
	};
	made.site_of[i] = site;
}

static struct trace *make(void)
{
	memset(&made, 0, sizeof(made));
	memcpy(made.frames, code, sizeof(code));
	add(0, (uint32_t[]){ NATIVE, TORCH, OWN }, 3, 0);
	add(1, (uint32_t[]){ NATIVE, CUBLAS, TORCH, OTHER }, 4, 0);
	add(2, (uint32_t[]){ CUBLAS }, 1, 1);
	add(3, (uint32_t[]){ NAMED }, 1, 1);
	add(4, (uint32_t[]){ TORCH, OWN }, 2, 0);
	made.entries[1][0] = 2;
	made.entries[1][1] = 3;
	made.stacks[1].entries = made.entries[1];
	made.stacks[1].entries_n = 2;
	made.stacks[2].owner = "libcublas.so.13";
	made.sites[0] =
		(struct trace_site){ .site = "Linear.forward (linear.py)", .space = "device" };
	made.sites[1] =
		(struct trace_site){ .site = "+0x5b45ee (libcublas.so.13)", .space = "device" };
	made.trace = (struct trace){ .path = "t",
				     .modules = modules,
				     .modules_n = 2,
				     .frames = made.frames,
				     .frames_n = FRAMES,
				     .stacks = made.stacks,
				     .stacks_n = 5,
				     .sites = made.sites,
				     .sites_n = 2,
				     .site_of = made.site_of };
	return &made.trace;
}

static const struct trace_site *site_named(const struct trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->sites_n; i++) {
		if (!strcmp(trace->sites[i].site, name))
			return &trace->sites[i];
	}
	return NULL;
}

/* Nothing is lost, whatever the rows are. */
static void sums_stay(const struct trace *trace)
{
	uint64_t bytes = 0;
	size_t stacks = 0;

	for (size_t i = 0; i < trace->sites_n; i++) {
		bytes += trace->sites[i].live_bytes;
		EQ(trace->sites[i].live_bytes, trace->sites[i].peak_bytes);
		for (size_t k = 0; k < trace->sites[i].stacks_n; k++)
			EQ(trace->site_of[trace->sites[i].stacks[k]], i);
		stacks += trace->sites[i].stacks_n;
	}
	EQ(bytes, 31);
	EQ(stacks, 5);
}

TEST(python_frames_only)
{
	struct trace *trace = make();

	trace_choose(trace, TRACE_STACKS_PYTHON, TRACE_BY_SITE);
	EQ(trace->stacks[1].frames_n, 2);
	EQ(trace->stacks[1].frames[0], TORCH);
	EQ(trace->stacks[1].entries_n, 2);
	EQ(trace->stacks[1].entries[0], 0); /* moved with its frame */
	EQ(trace->stacks[1].entries[1], 1);
	STR(trace->frames[trace->stacks[2].frames[0]].function, "[no Python frames]");
	EQ(trace->stacks[3].frames[0], NAMED);
	EQ(site_named(trace, "Net.forward (train.py)")->bytes, 1 + 2 + 16);
	EQ(site_named(trace, "[no Python frames]")->bytes, 4);
	EQ(site_named(trace, "[not recorded]")->bytes, 8);
	sums_stay(trace);
	arena_clear(&trace->arena);
}

TEST(native_frames_only)
{
	struct trace *trace = make();

	trace_choose(trace, TRACE_STACKS_NATIVE, TRACE_BY_SITE);
	EQ(trace->stacks[0].frames_n, 1);
	EQ(trace->stacks[1].frames_n, 2);
	EQ(trace->stacks[1].entries_n, 0);
	STR(trace->frames[trace->stacks[4].frames[0]].function, "[no native frames]");
	EQ(site_named(trace, "c10::alloc (libc10_cuda.so)")->bytes, 1);
	EQ(site_named(trace, "0x5b45ee in libcublas.so.13")->bytes, 2 + 4);
	EQ(site_named(trace, "[no native frames]")->bytes, 16);
	sums_stay(trace);
	arena_clear(&trace->arena);
}

/* The same frame ever more coarsely. */
TEST(rows)
{
	static const struct {
		enum trace_by by;
		const char *name;
		uint64_t bytes;
		size_t count;
	} wanted[] = {
		{ TRACE_BY_LINE, "Net.forward (train.py:12)", 1 + 16, 4 },
		{ TRACE_BY_LINE, "Net.forward (train.py:13)", 2, 4 },
		{ TRACE_BY_FUNCTION, "Net.forward (train.py)", 1 + 2 + 16, 3 },
		{ TRACE_BY_MODULE, "train.py", 1 + 2 + 16, 3 },
		{ TRACE_BY_MODULE, "libcublas.so.13", 4, 3 },
		{ TRACE_BY_STACK, "Net.forward (train.py:13)", 2, 5 },
		{ TRACE_BY_OWNER, "libcublas.so.13", 4, 2 },
		{ TRACE_BY_OWNER, "[unknown owner]", 1 + 2 + 8 + 16, 2 },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct trace *trace = make();

		trace_choose(trace, TRACE_STACKS_MERGED, wanted[i].by);
		EQ(trace->sites_n, wanted[i].count);
		OK(site_named(trace, wanted[i].name));
		EQ(site_named(trace, wanted[i].name)->bytes, wanted[i].bytes);
		sums_stay(trace);
		arena_clear(&trace->arena);
	}
}

/* Stacks that differ in native frames alone are one in Python's view. */
TEST(views_that_look_alike_are_one_row)
{
	struct trace *trace = make();

	trace_choose(trace, TRACE_STACKS_PYTHON, TRACE_BY_STACK);
	EQ(trace->sites_n, 4);
	EQ(site_named(trace, "Net.forward (train.py:12)")->stacks_n, 2);
	sums_stay(trace);
	arena_clear(&trace->arena);
}

TEST(spaces_stay_apart)
{
	struct trace *trace = make();

	made.sites[1].space = "pinned";
	made.site_of[4] = 1;
	trace_choose(trace, TRACE_STACKS_MERGED, TRACE_BY_FUNCTION);
	EQ(trace->sites_n, 4);
	sums_stay(trace);
	arena_clear(&trace->arena);
}

TEST(places)
{
	EQ(place_kind("/home/u/train.py"), PLACE_OWN);
	EQ(place_kind("train.py"), PLACE_OWN);
	EQ(place_kind("/home/u/lib/python_tools/train.py"), PLACE_OWN);
	EQ(place_kind("/v/lib/python3.12/site-packages/torch/nn/modules/linear.py"),
	   PLACE_FRAMEWORK);
	EQ(place_kind("/usr/lib/python3/dist-packages/torch/optim/adam.py"), PLACE_FRAMEWORK);
	EQ(place_kind("/v/lib/python3.12/site-packages/mymodel/net.py"), PLACE_PACKAGE);
	EQ(place_kind("/v/lib/python3.12/site-packages/torchmodels/net.py"), PLACE_PACKAGE);
	EQ(place_kind("/usr/lib/python3.11/threading.py"), PLACE_FRAMEWORK);
	EQ(place_kind("<frozen importlib._bootstrap>"), PLACE_FRAMEWORK);
	EQ(place_kind("<stdin>"), PLACE_OWN);
	EQ(place_kind("<string>"), PLACE_PACKAGE);
	EQ(place_kind("/home/u/a<b.py"), PLACE_OWN);
}
