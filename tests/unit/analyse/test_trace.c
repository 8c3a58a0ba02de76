/* The reader of traces: the example of the format field by field, and what broken files get. */
#include "check.h"

#include <fcntl.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"

static char directory[] = "/tmp/memtrace-test-XXXXXX";

/* The example, from the tree that the tests are run in, NUL-terminated. */
static char *example(size_t *length)
{
	static char text[16384];
	char path[4096];
	const char *top = getenv("TOP");
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/tests/data/example.json", top ? top : ".");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		SKIP("tests/data/example.json is not here");
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n] = '\0';
	*length = (size_t)n;
	return text;
}

/* A file with the text in a directory of its own, which remove_all() takes away. */
static const char *file_of(const char *name, const char *text, size_t length)
{
	static char path[4096];
	int fd;

	if (strstr(directory, "XXXXXX"))
		OK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	OK(fd >= 0 && write(fd, text, length) == (ssize_t)length);
	close(fd);
	return path;
}

static void remove_all(void)
{
	static const char *const names[] = { "t.json", "t.spool" };
	char path[4096];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

/* The example with one text in the place of another. */
static const char *changed(const char *from, const char *to)
{
	size_t length;
	char *text = example(&length);
	char *at = strstr(text, from);
	static char other[20000];

	OK(at);
	snprintf(other, sizeof(other), "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	return file_of("t.json", other, strlen(other));
}

static void open_example(struct trace *trace)
{
	size_t length;
	char *text = example(&length);

	EQ(trace_open(trace, file_of("t.json", text, length)), 0);
}

TEST(process_and_environment)
{
	struct trace trace;

	open_example(&trace);
	STR(trace.schema, "memtrace/1");
	EQ(trace.process.pid, 4242);
	EQ(trace.process.ppid, 4200);
	STR(trace.process.host, "node7");
	EQ(trace.process.rank, 0);
	EQ(trace.process.world_size, 1);
	EQ(trace.process.command_n, 2);
	STR(trace.process.command[0], "python");
	STR(trace.process.command[1], "train.py");
	STR(trace.process.cwd, "/home/u");
	STR(trace.process.start_time, "2026-11-21T02:03:04.123456789Z");
	EQ(trace.process.duration_ns, 81234567);
	EQ(trace.process.exit, TRACE_EXIT);
	OK(trace.process.status == TRACE_NONE && trace.process.signal == TRACE_NONE);
	STR(trace.environment.memtrace, "1.0.0");
	EQ(trace.environment.cuda_driver, 13000);
	EQ(trace.environment.cuda_runtime, 13000);
	STR(trace.environment.torch, "2.11.0");
	STR(trace.environment.python, "3.12.3");
	EQ(trace.environment.settings_n, 2);
	STR(trace.environment.settings[1].name, "PYTORCH_ALLOC_CONF");
	STR(trace.environment.settings[1].value, NULL);
	EQ(trace.environment.devices_n, 1);
	STR(trace.environment.devices[0].uuid, "GPU-...");
	EQ(trace.environment.devices[0].total_bytes, 150109880320);
	EQ(trace.capture.hooks_n, 4);
	STR(trace.capture.hooks[2].name, "procaddress");
	STR(trace.capture.hooks[2].value, "41");
	STR(trace.capture.stacks, "python,native");
	EQ(trace.capture.events_recorded, 11);
	EQ(trace.capture.events_dropped, 0);
	EQ(trace.capture.truncated, 0);
	EQ(trace.capture.ns_per_event, 180);
	EQ(trace.capture.notes_n, 0);
	trace_close(&trace);
	remove_all();
}

TEST(summary)
{
	const struct trace_device *device;
	struct trace trace;

	open_example(&trace);
	EQ(trace.summary.devices_n, 1);
	device = trace_device(&trace, 0);
	OK(device && !trace_device(&trace, 1));
	STR(device->name, "NVIDIA H200");
	EQ(device->total_bytes, 150109880320);
	EQ(device->allocated.peak_bytes, 71303168);
	EQ(device->allocated.peak_t, 70123456);
	EQ(device->allocated.exit_bytes, 67108864);
	EQ(device->reserved.peak_bytes, 75497472);
	EQ(device->used.exit_bytes, 671088640);
	STR(device->used.source, "nvml");
	EQ(device->allocations, 10);
	EQ(device->frees, 1);
	EQ(device->ooms, 1);
	EQ(device->retries, 0);
	EQ(device->pools_n, 1);
	STR(device->pools[0].name, "torch");
	EQ(device->pools[0].allocated.exit_bytes, 67108864);
	EQ(device->pools[0].allocations, 10);
	EQ(device->owners_n, 1);
	STR(device->owners[0].name, "libc10_cuda.so");
	OK(device->owners[0].allocated.peak_bytes == TRACE_NONE);
	EQ(device->owners[0].reserved.peak_t, 70100000);
	EQ(trace.summary.spaces_n, 1);
	STR(trace.summary.spaces[0].space, "pinned");
	EQ(trace.summary.spaces[0].allocated.peak_bytes, 0);
	trace_close(&trace);
	remove_all();
}

TEST(peaks_stacks_and_sites)
{
	const struct trace_peak *peak;
	struct trace trace;

	open_example(&trace);
	peak = trace_peak(&trace, 0, NULL, TRACE_ALLOCATED);
	OK(peak && !trace_peak(&trace, 0, "torch", TRACE_ALLOCATED));
	EQ(peak->bytes, 71303168);
	EQ(peak->stacks_n, 2);
	EQ(peak->stacks[0].stack, 1);
	EQ(peak->stacks[0].bytes, 33554432);
	EQ(peak->stacks[1].count, 9);
	EQ(trace.modules_n, 1);
	STR(trace.modules[0].path, "/opt/torch/lib/libc10_cuda.so");
	EQ(trace.modules[0].base, 0x7f28f0000000);
	EQ(trace.frames_n, 2);
	EQ(trace.frames[0].language, TRACE_PYTHON);
	STR(trace.frames[0].function, "Net.forward");
	STR(trace.frames[0].file, "/home/u/train.py");
	EQ(trace.frames[0].line, 12);
	EQ(trace.frames[0].module, UINT32_MAX);
	EQ(trace.frames[1].language, TRACE_NATIVE);
	EQ(trace.frames[1].module, 0);
	EQ(trace.frames[1].offset, 0x1a2b3c);
	STR(trace.frames[1].file, NULL);
	EQ(trace.stacks_n, 2);
	EQ(trace.stacks[1].frames_n, 2);
	EQ(trace.stacks[1].frames[0], 1);
	EQ(trace.stacks[1].entries_n, 1);
	EQ(trace.stacks[1].entries[0], 1);
	STR(trace.stacks[0].owner, "libc10_cuda.so");
	EQ(trace.stacks[0].frees_here, 1);
	EQ(trace.stacks[0].live_bytes, 33554432);
	EQ(trace.stacks[1].peak_count, 1);
	OK(trace.stacks[1].lifetime_min_ns == TRACE_NONE);
	EQ(trace.threads_n, 1);
	STR(trace_thread(&trace, 4242)->name, "python");
	OK(trace_thread(&trace, 4242)->main && !trace_thread(&trace, 1));
	EQ(trace.sites_n, 1);
	STR(trace.sites[0].site, "Net.forward (train.py)");
	STR(trace.sites[0].space, "device");
	EQ(trace.sites[0].live_bytes, 67108864);
	EQ(trace.sites[0].lifetime_min_ns, 9000000);
	EQ(trace.site_of[0], 0);
	EQ(trace.site_of[1], 0);
	trace_close(&trace);
	remove_all();
}

TEST(phases_and_timeline)
{
	const struct trace_curve *curve;
	struct trace trace;

	open_example(&trace);
	EQ(trace.phases_n, 1);
	STR(trace.phases[0].name, "fwd");
	STR(trace.phases[0].domain, NULL);
	EQ(trace.phases[0].thread, 4242);
	EQ(trace.phases[0].start, 69000000);
	EQ(trace.phases[0].end, 70200000);
	EQ(trace.phases[0].allocated.peak_bytes, 71303168);
	EQ(trace.phases[0].reserved.start_bytes, 20971520);
	STR(trace.phases[0].color, "#00ff00");
	STR(trace.phases[0].payload, "3");
	STR(trace.phases[0].category, NULL);
	EQ(trace.phases[0].allocations.bytes, 54525952);
	EQ(trace.phases[0].kept.count, 9);
	EQ(trace.phases[0].devices_n, 0);
	curve = trace_curve(&trace, 0, NULL);
	OK(curve && curve->t_n == 3);
	EQ(curve->allocated[2], 71303168);
	OK(curve->used[0] == TRACE_NONE);
	EQ(curve->used[2], 671088640);
	EQ(trace_curve_at(curve, curve->reserved, 70123456), 75497472);
	EQ(trace_curve_at(curve, curve->reserved, 70123455), 20971520);
	EQ(trace_curve_at(curve, curve->reserved, UINT64_MAX), 75497472);
	trace_close(&trace);
	remove_all();
}

TEST(events)
{
	struct event event;
	struct trace trace;

	open_example(&trace);
	EQ(trace_next(&trace, &event), 1);
	EQ(event.seq, 0);
	EQ(event.t, 60000000);
	EQ(event.op, EVENT_RESERVE);
	EQ(event.device, 0);
	EQ(event.space, SPACE_DEVICE);
	STR(trace_text(&trace, event.pool), "torch");
	EQ(event.ptr, 0x7f28f0800000);
	EQ(event.size, 20971520);
	EQ(event.stack, 0);
	EQ(event.thread, 4242);
	EQ(event.stream, 0);
	STR(trace_text(&trace, event.api), "cudaMalloc");
	EQ(event.allocated, 0);
	EQ(event.reserved, 20971520);
	EQ(trace_next(&trace, &event), 1);
	EQ(event.op, EVENT_ALLOC);
	STR(trace_text(&trace, event.api), "torch");
	EQ(trace_next(&trace, &event), 1);
	EQ(event.op, EVENT_PUSH);
	STR(trace_text(&trace, event.name), "fwd");
	EQ(event.device, NO_DEVICE);
	EQ(event.space, SPACES);
	EQ(event.stack, UINT32_MAX);
	OK(event.allocated == TRACE_NONE);
	EQ(trace_next(&trace, &event), 1);
	EQ(event.op, EVENT_OOM);
	EQ(event.ptr, 0);
	EQ(event.size, 140737488355328);
	STR(trace_text(&trace, event.error), "out of memory");
	EQ(trace_next(&trace, &event), 0);
	EQ(trace_next(&trace, &event), 0);
	trace_close(&trace);
	remove_all();
}

TEST(events_of_one_kind)
{
	struct event event;
	struct trace trace;

	open_example(&trace);
	EQ(trace_next_of(&trace, EVENT_OOM, &event), 1);
	EQ(event.seq, 3);
	EQ(trace_next_of(&trace, EVENT_OOM, &event), 0);
	trace_close(&trace);
	open_example(&trace);
	EQ(trace_next_of(&trace, EVENT_POP, &event), 0);
	trace_close(&trace);
	remove_all();
}

TEST(lines_that_matter)
{
	uint32_t frames[4];
	struct trace trace;
	char text[100];

	open_example(&trace);
	EQ(trace_line(&trace, 1), 0); /* not c10's, which is innermost */
	EQ(trace_lines(&trace, 1, frames, 4), 1);
	EQ(frames[0], 0);
	trace_frame_text(&trace, 0, text, sizeof(text));
	STR(text, "Net.forward (train.py:12)");
	trace_frame_text(&trace, 1, text, sizeof(text));
	STR(text, "at::cuda::getCurrentCUDABlasHandle (libc10_cuda.so)");
	trace_frame_text(&trace, 1, text, 12);
	STR(text, "at::cuda::g");
	EQ(trace_line(&trace, 99), UINT32_MAX);
	trace_close(&trace);
	remove_all();
}

/* What one stack of PyTorch shows: frames of every kind, and which of them is the user's. */
TEST(own_code_comes_first)
{
	struct trace_module modules[] = {
		{ .path = "/opt/torch/lib/libc10_cuda.so" },
		{ .path = "/opt/torch/lib/libtorch_cuda.so" },
		{ .path = "/usr/bin/python3.12" },
		{ .path = "/usr/lib/libcublas.so.13" },
		{ .path = "/home/u/train" },
	};
	struct trace_frame frames[] = {
		{ .function = "c10::alloc", .module = 0 },
		{ .function = "at::empty", .module = 1 },
		{ .function = "_PyEval_EvalFrameDefault", .module = 2 },
		{ .function = "Linear.forward",
		  .file = "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py",
		  .line = 125,
		  .module = UINT32_MAX,
		  .language = TRACE_PYTHON },
		{ .function = "Net.forward",
		  .file = "net/__init__.py",
		  .line = 7,
		  .module = UINT32_MAX,
		  .language = TRACE_PYTHON },
		{ .function = "main",
		  .file = "train.py",
		  .line = 30,
		  .module = UINT32_MAX,
		  .language = TRACE_PYTHON },
		{ .function = "cublasCreate_v2", .module = 3 },
		{ .function = "main", .module = 4 },
		{ .function = "_start", .module = 4 },
	};
	uint32_t torch[] = { 0, 1, 2, 3, 4, 5 };
	uint32_t package[] = { 0, 2, 3 };
	uint32_t plain[] = { 6, 7, 8 };
	uint32_t inside[] = { 0, 1 };
	struct trace_stack stacks[] = {
		{ .frames = torch, .frames_n = 6 },
		{ .frames = package, .frames_n = 3 },
		{ .frames = plain, .frames_n = 3 },
		{ .frames = inside, .frames_n = 2 },
		{ .frames = NULL },
	};
	struct trace trace = { .frames = frames,
			       .frames_n = 9,
			       .stacks = stacks,
			       .stacks_n = 5,
			       .modules = modules,
			       .modules_n = 5 };
	uint32_t shown[4];
	char text[100];

	EQ(trace_line(&trace, 0), 4);
	EQ(trace_lines(&trace, 0, shown, 4), 3);
	EQ(shown[0], 3);
	EQ(shown[1], 4);
	EQ(shown[2], 5);
	EQ(trace_lines(&trace, 0, shown, 1), 1);
	EQ(shown[0], 4);
	trace_frame_text(&trace, 4, text, sizeof(text));
	STR(text, "Net.forward (net/__init__.py:7)");
	EQ(trace_line(&trace, 1), 3);
	EQ(trace_line(&trace, 2), 7);
	EQ(trace_lines(&trace, 2, shown, 4), 2);
	EQ(trace_line(&trace, 3), 1);
	EQ(trace_lines(&trace, 3, shown, 4), 1);
	EQ(shown[0], 1);
	EQ(trace_line(&trace, 4), UINT32_MAX);
	EQ(trace_lines(&trace, 4, shown, 4), 0);
	OK(trace_frame_internal(&trace, &frames[8]));
}

static void named(const char *function, const char *wanted)
{
	struct trace_frame frame = { .function = function, .module = UINT32_MAX };
	struct trace trace = { .frames = &frame, .frames_n = 1 };
	char text[200];

	trace_frame_text(&trace, 0, text, sizeof(text));
	STR(text, wanted);
}

TEST(names_are_shortened)
{
	named("main", "main");
	named("void at::f<float, 4>(at::Tensor const&) const", "at::f<...>");
	named("A::B<C<int> >::operator()(int, long) const", "A::B<...>::operator()");
	named("std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <...>");
	named("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
	named("f(int)::{lambda(int)#1}::operator()(int) const [clone .isra.0]",
	      "f::{lambda#1}::operator()");
	named("operator new(unsigned long)", "operator new");
	named("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>");
	named("[not recorded]", "[not recorded]");
	named("broken<<<((", "broken<...>");
	named(NULL, "0x0");
}

/* Whatever is missing at the end, the file is refused in words, at open or at the events. */
TEST(every_truncation_is_refused)
{
	size_t length;
	char *text = example(&length);

	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		length--;
	for (size_t i = 0; i < length; i++) {
		const char *path = file_of("t.json", text, i);
		struct event event;
		struct trace trace;
		int more = trace_open(&trace, path);

		if (!more) {
			while ((more = trace_next(&trace, &event)) == 1)
				;
			trace_close(&trace);
		}
		OK(more < 0);
		OK(strstr(err_text(), i ? "truncated" : "is empty") || i < 2);
		OK(trace_open(&trace, path) < 0);
	}
	remove_all();
}

TEST(a_spool_beside_it_is_named)
{
	struct trace trace;
	size_t length;
	char *text = example(&length);

	file_of("t.spool", "MEMTRACE", 8);
	OK(trace_open(&trace, file_of("t.json", text, 400)) < 0);
	OK(strstr(err_text(), "truncated: it ends at byte 400, inside \"environment\""));
	OK(strstr(err_text(), "memtrace recover /tmp/memtrace-test-"));
	remove_all();
}

static void refused(const char *path, const char *wanted)
{
	struct event event;
	struct trace trace;
	int error = trace_open(&trace, path);

	if (!error) {
		while ((error = trace_next(&trace, &event)) == 1)
			;
		trace_close(&trace);
	}
	if (error >= 0 || !strstr(err_text(), wanted))
		printf("# wanted: %s\n# is: %s\n", wanted, err_text());
	OK(error < 0 && strstr(err_text(), wanted));
}

TEST(other_files_are_refused)
{
	refused("/nowhere/t.json", "/nowhere/t.json: No such file or directory");
	refused("/tmp", "/tmp: is a directory");
	refused(file_of("t.json", "", 0), "is empty");
	refused(file_of("t.json", "hello\n", 6),
		"neither a memtrace trace (JSON) nor a memtrace spool");
	refused(file_of("t.json",
			"\x7f"
			"ELF\1\1",
			6),
		"neither a memtrace trace");
	refused(file_of("t.json", "\x1f\x8b\x08\x00\x00", 5), "truncated: it ends at byte 0");
	refused(file_of("t.json", "\x1f\x8b\x09\x00\x00", 5), "the gzip data is corrupt");
	refused(file_of("t.json", "[1,2,3]", 7), "neither a memtrace trace");
	refused(file_of("t.json", "{}", 2), "JSON, but not a memtrace trace");
	refused(file_of("t.json", "{\"a\":[]}", 8), "JSON, but not a memtrace trace");
	refused(file_of("t.json", "{\"schema\":\"memtrace/1\"}", 23), "has no \"events\"");
	refused(file_of("t.json", "{\"schema\":7,\"events\":[]}", 24),
		"\"schema\" must be a string");
	refused(file_of("t.spool", "MEMTRACE", 8), "too short for a spool");
	remove_all();
}

TEST(other_schemas_are_refused)
{
	refused(changed("memtrace/1", "memtrace/2"),
		"written by a newer memtrace version (schema memtrace/2,");
	refused(changed("memtrace/1", "memtrace-report/1"),
		"contains memtrace-report/1, not a trace");
	remove_all();
}

TEST(positions_out_of_range_are_refused)
{
	refused(changed("\"module\":0", "\"module\":1"),
		"frames[1] refers to modules[1], but there are only 1");
	refused(changed("{\"frames\":[1,0]", "{\"frames\":[1,2]"),
		"stacks[1] refers to frames[2], but there are only 2");
	refused(changed("\"entries\":[1]", "\"entries\":[2]"),
		"stacks[1] refers to its frames[2], but there are only 2");
	refused(changed("\"stacks\":[0,1]", "\"stacks\":[0,4294967294]"),
		"sites[0] refers to stacks[4294967294], but there are only 2");
	refused(changed("{\"stack\":1,", "{\"stack\":9,"),
		"peaks[0] refers to stacks[9], but there are only 2");
	refused(changed("{\"stack\":1,", "{"), "peaks[0] refers to stacks[");
	refused(changed("\"stack\":0,\"thread\"", "\"stack\":2,\"thread\""),
		"an event refers to stacks[2], but there are only 2 stacks");
	refused(changed("\"allocated\":[0,20971520", "\"allocated\":[20971520"),
		"different lengths");
	remove_all();
}

TEST(wrong_types_are_refused)
{
	refused(changed("\"pid\":4242", "\"pid\":\"4242\""),
		"\"pid\" must be an integer from 0 to 1844674");
	refused(changed("\"pid\":4242", "\"pid\":-1"),
		"\"pid\" must be an integer from 0 to 1844674");
	refused(changed("\"pid\":4242", "\"pid\":1.5"),
		"\"pid\" must be an integer from 0 to 1844674");
	refused(changed("\"pid\":4242", "\"pid\":18446744073709551616"), "\"pid\" must be");
	refused(changed("\"line\":12", "\"line\":4294967296"), "\"line\" must be");
	refused(changed("\"host\":\"node7\"", "\"host\":[]"), "\"host\" must be a string");
	refused(changed("\"truncated\":false", "\"truncated\":0"),
		"\"truncated\" must be true or false");
	refused(changed("\"base\":\"0x7f28f0000000\"", "\"base\":\"7f\""),
		"\"base\" must be a string \"0x");
	refused(changed("\"modules\":[", "\"modules\":{\"a\":["), "\"modules\" must be an array");
	refused(changed("\"ptr\":null", "\"ptr\":\"0xzz\""),
		"an address in an event must be hexadecimal");
	refused(changed("\"op\":\"oom\"", "\"op\":3"), "\"op\" in an event must be a string");
	refused(changed("\n{\"seq\":3,\"t\":81000000,\"op\"", "7,{\"seq\":3,\"op\""),
		"an event must be an object");
	remove_all();
}

/* What a later memtrace/1 may add is passed over. */
TEST(unknown_keys_are_ignored)
{
	struct event event;
	struct trace trace;
	int events = 0;

	EQ(trace_open(&trace, changed("\"ppid\":4200", "\"new\":{\"a\":[{},1]},\"ppid\":4200")), 0);
	EQ(trace.process.ppid, 4200);
	trace_close(&trace);
	EQ(trace_open(&trace, changed("{\"seq\":0", "{\"new\":[[{}]],\"seq\":0")), 0);
	EQ(trace_next(&trace, &event), 1);
	EQ(event.size, 20971520);
	trace_close(&trace);
	EQ(trace_open(&trace, changed("\n]}", "\n],\"later\":[1,2,3]}")), 0);
	while (trace_next(&trace, &event) == 1)
		events++;
	EQ(events, 4);
	trace_close(&trace);
	EQ(trace_open(&trace, changed("\"op\":\"oom\"", "\"op\":\"novel\"")), 0);
	while (trace_next(&trace, &event) == 1)
		;
	EQ(event.op, EVENT_OPS);
	trace_close(&trace);
	remove_all();
}

TEST(numbers_are_exact)
{
	struct trace trace;

	EQ(trace_open(&trace, changed("\"bytes\":71303168,\"stacks\"",
				      "\"bytes\":9007199254740993,\"stacks\"")),
	   0);
	EQ(trace.peaks[0].bytes, 9007199254740993);
	trace_close(&trace);
	EQ(trace_open(&trace, changed("\"total_bytes\":150109880320}]",
				      "\"total_bytes\":18446744073709551614}]")),
	   0);
	OK(trace.environment.devices[0].total_bytes == UINT64_MAX - 1);
	trace_close(&trace);
	remove_all();
}

TEST(copies_are_the_lines_themselves)
{
	static char buffer[4096];
	size_t length;
	const char *text = strstr(example(&length), "\n{\"seq\":0");
	char copy[4096];
	struct trace trace;
	struct out out;
	int fd = fileno(tmpfile());

	open_example(&trace);
	out_init(&out, fd, buffer, sizeof(buffer));
	while (trace_copy(&trace, &out) == 1)
		out_text(&out, ",\n");
	EQ(out_flush(&out), 0);
	EQ(pread(fd, copy, sizeof(copy), 0) > 0, 1);
	MEM(copy, text + 1, strlen(text + 1) - 4); /* all but the end of the document */
	trace_close(&trace);
	remove_all();
}

/* 100,000 stacks of 40 frames fit into little memory. */
TEST(many_stacks)
{
	FILE *file = fopen(file_of("t.json", "", 0), "w");
	struct trace trace;
	size_t bytes = 0;
	char path[4096];

	fprintf(file, "{\"schema\":\"memtrace/1\",\"frames\":[");
	for (int i = 0; i < 5000; i++)
		fprintf(file,
			"%s{\"language\":\"python\",\"function\":\"f%d\",\"file\":\"/a/"
			"b.py\",\"line\":%d}",
			i ? "," : "", i, i);
	fprintf(file, "],\"stacks\":[");
	for (int i = 0; i < 100000; i++) {
		fprintf(file, "%s{\"frames\":[", i ? "," : "");
		for (int k = 0; k < 40; k++)
			fprintf(file, "%s%d", k ? "," : "", (i * 7 + k) % 5000);
		fprintf(file, "]}");
	}
	fprintf(file, "],\"events\":[]}");
	fclose(file);
	snprintf(path, sizeof(path), "%s/t.json", directory);
	EQ(trace_open(&trace, path), 0);
	EQ(trace.stacks_n, 100000);
	for (size_t i = 0; i < trace.stacks_n; i++)
		bytes += sizeof(trace.stacks[i]) + trace.stacks[i].frames_n * sizeof(uint32_t);
	OK(bytes < 100 << 20);
	EQ(trace.stacks[99999].frames[39], (99999 * 7 + 39) % 5000);
	trace_close(&trace);
	remove_all();
}
