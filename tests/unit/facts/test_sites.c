/* Names of call sites: who is named of a stack, and what never stands in a name. */
#include "check.h"

#include <stdarg.h>

#include "analyse/compare/run_totals.h"
#include "base/mem/arena.h"
#include "facts/sites.h"

enum { MOST = 32 };

static struct arena arena;

/* "P function|path" is a Python frame, "N function|path" a native one; "" for what is unknown. */
static struct site_frame frame_of(const char *text)
{
	struct site_frame frame;
	const char *bar = strrchr(text, '|');
	char function[512];

	snprintf(function, sizeof(function), "%.*s", (int)(bar - text - 2), text + 2);
	EQ(site_frame_read(&frame, text[0] == 'P', function, bar + 1, &arena), 0);
	return frame;
}

/* The site of the frames, innermost first; it must be that of the picked frames alone as well. */
static const char *site_of(const char *first, ...)
{
	static char name[SITE_LONGEST];
	char again[SITE_LONGEST];
	struct site_frame all[MOST];
	uint32_t frames[MOST];
	uint32_t kept[2];
	struct site_pick pick;
	size_t count = 0;
	size_t kept_n = 0;
	va_list texts;

	va_start(texts, first);
	for (const char *text = first; text; text = va_arg(texts, const char *)) {
		all[count] = frame_of(text);
		frames[count] = (uint32_t)count;
		count++;
	}
	va_end(texts);
	site_name(name, all, frames, count);
	pick = site_pick(all, frames, count);
	if (pick.inner != UINT32_MAX)
		kept[kept_n++] = pick.inner;
	if (pick.outer != UINT32_MAX)
		kept[kept_n++] = pick.outer;
	site_name(again, all, kept, kept_n);
	STR(again, name);
	return name;
}

#define C10 "N c10::cuda::CUDACachingAllocator::malloc(long)|/opt/torch/lib/libc10_cuda.so"
#define EMPTY "N at::detail::empty_generic(c10::Allocator*)|/opt/torch/lib/libtorch_cpu.so"
#define PYTHON "N _PyEval_EvalFrameDefault|/usr/bin/python3.12"
#define NN "|/opt/venv/lib/python3.12/site-packages/torch/nn/modules/"
#define CALL "P Module._call_impl" NN "module.py"

TEST(the_users_code_is_named)
{
	STR(site_of(C10, EMPTY, "P Block.attend|/home/u/train.py", "P main|/home/u/train.py", NULL),
	    "Block.attend (train.py)");
	STR(site_of(C10, EMPTY, PYTHON, "P Linear.forward" NN "linear.py", CALL,
		    "P Block.attend|/tmp/tmp1a2b/train.py", CALL, "P main|/tmp/tmp1a2b/train.py",
		    NULL),
	    "Linear.forward (linear.py) from Block.attend (train.py)");
	/* Any package that is no framework is code that somebody chose. */
	STR(site_of(C10, "P Linear.forward" NN "linear.py",
		    "P LlamaMLP.forward|/v/lib/python3.12/site-packages/transformers/m.py", CALL,
		    "P main|/home/u/train.py", NULL),
	    "Linear.forward (linear.py) from LlamaMLP.forward (m.py)");
}

TEST(a_library_of_operations_is_told)
{
	STR(site_of("N cuMemAlloc_v2|/lib/libcuda.so.1", "N |/opt/lib/libcublas.so.13",
		    "N at::cuda::f()|/opt/torch/lib/libtorch_cuda.so",
		    "P Linear.forward" NN "linear.py", "P step|train.py", NULL),
	    "libcublas.so.13 from step (train.py)");
	STR(site_of("N |/opt/lib/libcublas.so.13.2.1", "N cublasCreate_v2|/opt/lib/libcublas.so.13",
		    "N run|/home/u/prog", "N main|/home/u/prog", NULL),
	    "cublasCreate_v2 (libcublas.so.13) from run (prog)");
	STR(site_of("N |/opt/lib/libnccl.so.2", "N start_thread|/lib/libc.so.6", NULL),
	    "libnccl.so.2");
}

TEST(backward_has_its_operation)
{
	STR(site_of(C10, EMPTY,
		    "N at::native::layer_norm_backward_cuda(at::Tensor)|libtorch_cuda.so",
		    "N torch::autograd::generated::NativeLayerNormBackward0::apply(int)"
		    "|libtorch_cpu.so",
		    "N torch::autograd::Engine::thread_main(int)|libtorch_cpu.so",
		    "N |/lib/libc.so.6", NULL),
	    "at::native::layer_norm_backward_cuda (libtorch_cuda.so) from "
	    "NativeLayerNormBackward0 (libtorch_cpu.so)");
	STR(site_of(EMPTY, "N torch::autograd::generated::MmBackward0::apply(int)|libtorch_cpu.so",
		    "P backward|/v/site-packages/torch/autograd/__init__.py", "P train|train.py",
		    NULL),
	    "MmBackward0 (libtorch_cpu.so) from train (train.py)");
}

TEST(native_programs)
{
	STR(site_of("N cudaMalloc|libcudart.so.13", "N take|/tmp/x/leak", "N main|/tmp/x/leak",
		    "N __libc_start_main|libc.so.6", "N _start|/tmp/x/leak", NULL),
	    "take (leak)");
	/* The static runtime is a part of the program, and its insides have hashes for names. */
	STR(site_of("N libcudart_static_dd7c6bfd64e4|/x/leak", "N cudaMallocManaged|/x/leak",
		    "N take|/x/leak", "N main|/x/leak", NULL),
	    "take (leak)");
	STR(site_of("N cudaPool::take(int)|/x/leak", "N main|/x/leak", NULL),
	    "cudaPool::take (leak)");
	/* A stripped frame has only an offset, which the next build moves. */
	STR(site_of("N cudaMalloc|libcudart.so.13", "N |/x/leak", "N main|/x/leak", NULL),
	    "main (leak)");
	STR(site_of("N cudaMalloc|libcudart.so.13", "N |/x/leak", "N |libc.so.6", NULL), "leak");
	STR(site_of("N [not recorded]|", NULL), "[not recorded]");
	STR(site_of("N |", NULL), "[unknown]");
	STR(site_of("N malloc|libc.so.6", NULL), "malloc (libc.so.6)");
}

static const char *native(const char *function)
{
	char text[600];

	snprintf(text, sizeof(text), "N %s|/x/prog", function);
	return site_of(text, NULL);
}

TEST(what_compilers_number_is_gone)
{
	STR(native("grow.isra.0"), "grow (prog)");
	STR(native("grow.constprop.3.isra.1"), "grow (prog)");
	STR(native("grow.part.0.cold"), "grow (prog)");
	STR(native("grow.lto_priv.12"), "grow (prog)");
	STR(native("grow.llvm.1234567"), "grow (prog)");
	STR(native("f(int) [clone .isra.0]"), "f (prog)");
	STR(native("run()::{lambda(int)#2}::operator()(int) const"),
	    native("run()::{lambda(int)#7}::operator()(int) const"));
	STR(native("run()::$_0::operator()() const"), native("run()::$_4::operator()() const"));
	STR(native("void ns::fill<float, 4>(float*)"), "ns::fill<...> (prog)");
}

static const char *python(const char *function, const char *path)
{
	char text[600];

	snprintf(text, sizeof(text), "P %s|%s", function, path);
	return site_of(text, NULL);
}

TEST(what_generators_number_is_gone)
{
	STR(python("torch_dynamo_resume_in_forward_at_47", "/u/train.py"),
	    "torch_dynamo_resume_in_forward (train.py)");
	STR(python("__compiled_fn_3_1b2c", "/u/train.py"), "__compiled_fn (train.py)");
	STR(python("call", "/tmp/torchinductor_root/ab/cabcdef.py"), "call (torchinductor)");
	STR(python("triton_poi_fused_add_0", "/tmp/torchinductor_root/ab/cabcdef.py"),
	    "triton_poi_fused_add (torchinductor)");
	STR(python("forward", "<eval_with_key>.12"), "forward (torch.fx)");
	STR(python("f", "/tmp/ipykernel_42/123456.py"), "f (<ipython>)");
	STR(python("f", "<ipython-input-3-1a2b>"), "f (<ipython>)");
	STR(python("f", "/u/pkg/__init__.py"), "f (pkg/__init__.py)");
	STR(python("run.<locals>.<lambda>", "/u/a.py"), "run.<locals>.<lambda> (a.py)");
	STR(site_of("P _find_and_load|<frozen importlib._bootstrap>", "P main|/u/a.py", NULL),
	    "main (a.py)");
	STR(site_of("P Thread.run|/usr/lib/python3.12/threading.py", NULL),
	    "Thread.run (threading.py)");
	STR(site_of("P run|/usr/lib/python3.12/runpy.py", "P f|/u/a.py", NULL), "f (a.py)");
}

TEST(libraries_lose_their_versions)
{
	STR(site_of("N f|/x/libfoo.so.1.2.3", NULL), "f (libfoo.so.1)");
	STR(site_of("N f|/x/libfoo-1a2b3c4d.so.12", NULL), "f (libfoo.so.12)");
	STR(site_of("N f|/x/ext.cpython-312-x86_64-linux-gnu.so", NULL), "f (ext.so)");
	STR(site_of("N f|/x/libfoo.so", NULL), "f (libfoo.so)");
}

TEST(paths_stand_for_themselves)
{
	static const char *const paths[] = {
		"/home/u/train.py",
		"/home/u/pkg/__init__.py",
		"/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py",
		"/usr/lib/python3/dist-packages/torch/nn/functional.py",
		"/usr/lib/python3.11/threading.py",
		"/tmp/torchinductor_root/ab/cabcdef.py",
		"/tmp/ipykernel_42/123456.py",
		"<eval_with_key>.12",
		"<string>",
		"<frozen runpy>",
		"train.py",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct site_frame whole, cut;
		const char *path = site_path(true, paths[i], "/home/u");

		EQ(site_frame_read(&whole, true, "f", paths[i], &arena), 0);
		EQ(site_frame_read(&cut, true, "f", path, &arena), 0);
		STR(cut.where, whole.where);
		EQ(cut.kind, whole.kind);
		EQ(cut.installed, whole.installed);
		OK(strncmp(path, "/home", 5) && strncmp(path, "/opt", 4) &&
		   strncmp(path, "/tmp", 4));
	}
	STR(site_path(true, "/home/u/pkg/a.py", "/home/u"), "pkg/a.py");
	STR(site_path(true, "/home/user/a.py", "/home/u"), "a.py");
	STR(site_path(false, "/opt/x/libfoo.so.1", NULL), "libfoo.so.1");
	STR(site_path(false, "/v/lib/python3.12/site-packages/cupy/core.so", NULL),
	    "/site-packages/cupy/core.so");
}

TEST(the_line_is_in_the_users_source)
{
	struct site_frame all[4];
	const uint32_t frames[] = { 0, 1, 2, 3 };

	all[0] = frame_of(C10);
	all[1] = frame_of("P Linear.forward" NN "linear.py");
	all[2] = frame_of("P f|/v/lib/python3.12/site-packages/transformers/m.py");
	all[3] = frame_of("P main|/home/u/train.py");
	EQ(site_line(all, frames, 4), 3);
	EQ(site_line(all, frames, 3), UINT32_MAX);
}
