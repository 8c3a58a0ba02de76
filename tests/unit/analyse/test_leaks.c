/* Leaks and suppressions: what libraries hold on purpose is none, and globs fit what they say. */
#include "check.h"

#include <fcntl.h>

#include "analyse/findings/leaks.h"
#include "analyse/input/error.h"
#include "analyse/trace/trace.h"

enum { MODEL, WORKSPACE, NCCL, CALLED_BACK, FREED, STACKS };

static struct trace_module modules[] = {
	{ .path = "/opt/lib/libnccl.so.2" },
	{ .path = "/home/u/train" },
};

static struct trace_frame frames[] = {
	{ .function = "Net.forward",
	  .file = "/home/u/net.py",
	  .line = 12,
	  .language = TRACE_PYTHON,
	  .module = UINT32_MAX },
	{ .function = "at::cuda::setWorkspaceForHandle(cublasContext*)", .module = UINT32_MAX },
	{ .function = NULL, .offset = 16, .module = 0 },
	{ .function = "load(char const*)", .module = 1 },
};

static uint32_t frames_of[STACKS][2] = { { 3, 0 }, { 1, 0 }, { 2, 0 }, { 0, 2 }, { 3, 3 } };
static struct trace_stack stacks[STACKS];
static struct trace_site sites[2] = { { .site = "Net.forward (net.py)", .space = "device" },
				      { .site = "load (train)", .space = "pinned" } };
static uint32_t stacks_of[2][4] = { { MODEL, WORKSPACE, NCCL, CALLED_BACK }, { FREED } };
static uint32_t site_of[STACKS] = { 0, 0, 0, 0, 1 };
static struct trace trace;
static struct leaks leaks;

static void make(void)
{
	static const uint64_t live[STACKS] = { 100, 2000, 30000, 400000, 0 };

	for (uint32_t i = 0; i < STACKS; i++)
		stacks[i] = (struct trace_stack){ .frames = frames_of[i],
						  .frames_n = 2,
						  .allocations = 5,
						  .frees = live[i] ? 3 : 5,
						  .live_bytes = live[i],
						  .live_count = live[i] ? 2 : 0 };
	sites[0].stacks = stacks_of[0];
	sites[0].stacks_n = 4;
	sites[1].stacks = stacks_of[1];
	sites[1].stacks_n = 1;
	trace = (struct trace){ .path = "t.json",
				.modules = modules,
				.modules_n = 2,
				.frames = frames,
				.frames_n = 4,
				.stacks = stacks,
				.stacks_n = STACKS,
				.sites = sites,
				.sites_n = 2,
				.site_of = site_of };
}

TEST(what_libraries_hold_is_no_leak)
{
	make();
	leaks_find(&leaks, &trace, NULL);
	EQ(leaks.count, 1);
	EQ(leaks.list[0].site, 0);
	EQ(leaks.list[0].stack, CALLED_BACK); /* Python that NCCL called is the program's */
	EQ(leaks.list[0].bytes, 400100);
	EQ(leaks.list[0].count, 4);
	EQ(leaks.list[0].allocations, 10);
	EQ(leaks.list[0].frees, 6);
	EQ(leaks.bytes, 400100);
	EQ(leaks.blocks, 4);
	EQ(leaks.held, 32000);
	STR(leaks_held(&trace, WORKSPACE), "cuBLAS workspace");
	STR(leaks_held(&trace, NCCL), "NCCL buffers");
	STR(leaks_held(&trace, MODEL), NULL);
	leaks_clear(&leaks);
}

/* --- suppressions --- */

static struct suppressions suppressions;

static int read_text(const char *text)
{
	char path[] = "/tmp/memtrace-test-XXXXXX";
	int fd = mkstemp(path);
	int error;

	OK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	error = suppressions_read(&suppressions, path);
	unlink(path);
	return error;
}

TEST(a_file_of_patterns_is_read)
{
	EQ(read_text("# known\n\n  Net.* (net.py)  # with its reason\n\tfoo#bar\r\n#\nlast"), 0);
	EQ(suppressions.count, 3);
	STR(suppressions.list[0].pattern, "Net.* (net.py)");
	EQ(suppressions.list[0].line, 3);
	STR(suppressions.list[1].pattern, "foo#bar");
	STR(suppressions.list[2].pattern, "last");
	EQ(suppressions.list[2].line, 6);
	suppressions_clear(&suppressions);
	EQ(read_text(""), 0);
	EQ(suppressions.count, 0);
	OK(suppressions_read(&suppressions, "/nowhere/at/all"));
	STR(err_text(), "/nowhere/at/all: No such file or directory");
}

TEST(patterns_fit_sites_frames_functions_files_and_modules)
{
	static const struct {
		const char *pattern;
		uint32_t stack;
		bool fits;
	} rows[] = {
		{ "Net.forward (net.py)", MODEL, true }, /* the site */
		{ "Net.forward (net.py:12)", MODEL, true },
		{ "Net.*", MODEL, true },
		{ "net.py", MODEL, true },
		{ "/home/u/*.py", MODEL, true },
		{ "load(*", MODEL, true },
		{ "train", MODEL, true },
		{ "libnccl*", NCCL, true },
		{ "[mno]et.py", MODEL, true },
		{ "Net", MODEL, false }, /* not the whole of anything */
		{ "et.py", MODEL, false },
		{ "libnccl*", MODEL, false },
		{ "Net.*", FREED, false },
	};

	make();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EQ(read_text(rows[i].pattern), 0);
		EQ(suppressions_fit(&suppressions, &trace, rows[i].stack), rows[i].fits);
		EQ(suppressions.list[0].used, rows[i].fits);
		suppressions_clear(&suppressions);
	}
}

TEST(what_is_suppressed_is_left_out_and_counted)
{
	make();
	EQ(read_text("load(*\nnobody\n"), 0);
	leaks_find(&leaks, &trace, &suppressions);
	EQ(leaks.bytes, 400000);
	EQ(leaks.suppressed, 100);
	EQ(leaks.held, 32000);
	EQ(suppressions.list[0].used, 1);
	EQ(suppressions.list[1].used, 0);
	leaks_clear(&leaks);
	suppressions_clear(&suppressions);
}
