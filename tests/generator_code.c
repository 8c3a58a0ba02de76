/* The made-up program's code: modules with build-ids, native and Python frames, call stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator.h"

enum { DEPTH = 64, FILES = 97, MODULES = 9 };

static const char *const modules[MODULES] = {
	"/usr/local/cuda/lib64/libcudart.so.13",
	"/opt/torch/lib/libc10_cuda.so",
	"/opt/torch/lib/libtorch_cuda.so",
	"/opt/torch/lib/libtorch_cpu.so",
	"/opt/torch/lib/libtorch_python.so",
	"/usr/local/cuda/lib64/libcublas.so.13",
	"/opt/nvidia/nccl/lib/libnccl.so.2",
	"/usr/bin/python3.12",
	"/home/user/model/_C.cpython-312-x86_64-linux-gnu.so",
};

enum module {
	CUDART,
	C10_CUDA,
	TORCH_CUDA,
	TORCH_CPU,
	TORCH_PYTHON,
	CUBLAS,
	NCCL,
	PYTHON,
	EXTENSION
};

struct native {
	enum module module;
	const char *function;
};

static const struct native allocating[] = {
	{ CUDART, "cudaMalloc" },
	{ C10_CUDA, "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc("
		    "signed char, unsigned long, CUstream_st*)" },
	{ C10_CUDA, "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate("
		    "unsigned long)" },
	{ TORCH_CUDA, "at::detail::empty_cuda(c10::ArrayRef<long>, c10::ScalarType, "
		      "std::optional<c10::Device>, std::optional<c10::MemoryFormat>)" },
};

static const struct native asking[] = {
	{ TORCH_CPU, "at::_ops::empty_memory_format::redispatch(c10::DispatchKeySet, "
		     "c10::ArrayRef<c10::SymInt>)" },
	{ TORCH_CUDA,
	  "at::native::structured_addmm_out_cuda::impl(at::Tensor const&, at::Tensor const&)" },
	{ TORCH_CPU,
	  "at::_ops::addmm::call(at::Tensor const&, at::Tensor const&, at::Tensor const&)" },
	{ TORCH_CPU,
	  "torch::autograd::VariableType::(anonymous namespace)::addmm(c10::DispatchKeySet)" },
	{ TORCH_PYTHON, "torch::autograd::THPVariable_linear(_object*, _object*, _object*)" },
	{ PYTHON, "cfunction_call" },
	{ PYTHON, "_PyEval_EvalFrameDefault" },
};

/* The autograd thread has no Python. */
static const struct native backward[] = {
	{ TORCH_CPU, "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)" },
	{ TORCH_CPU,
	  "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)" },
	{ TORCH_CPU, "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::"
		     "GraphTask>&)" },
	{ TORCH_CPU, "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::"
		     "GraphTask> const&)" },
	{ TORCH_PYTHON, "torch::autograd::python::PythonEngine::thread_init(int)" },
};

struct python {
	const char *function, *file;
	unsigned line;
};

static const struct python outer[] = {
	{ "Module._call_impl", "/opt/torch/nn/modules/module.py", 1786 },
	{ "Module._wrapped_call_impl", "/opt/torch/nn/modules/module.py", 1775 },
	{ "Transformer.forward", "/home/user/model/transformer.py", 88 },
	{ "Module._call_impl", "/opt/torch/nn/modules/module.py", 1786 },
	{ "train_step", "/home/user/train.py", 141 },
	{ "train_epoch", "/home/user/train.py", 187 },
	{ "main", "/home/user/train.py", 231 },
	{ "<module>", "/home/user/train.py", 245 },
};

/* How a role's own frame is called, and in which file (%02u: one of FILES). */
static const struct {
	const char *function, *file;
	unsigned weight; /* its part of all stacks */
} roles[ROLES] = {
	[ROLE_PARAMETER] = { "Linear.__init__", "/home/user/model/layers_%02u.py", 2 },
	[ROLE_OPTIMIZER] = { "AdamW._init_group", "/opt/torch/optim/adamw_%02u.py", 2 },
	[ROLE_ACTIVATION] = { "Block.forward", "/home/user/model/layers_%02u.py", 8 },
	[ROLE_TEMPORARY] = { "attention", "/home/user/model/attention_%02u.py", 4 },
	[ROLE_GRADIENT] = { NULL, NULL, 3 },
	[ROLE_BATCH] = { "Tensor.to", "/home/user/data.py", 0 },
	[ROLE_PINNED] = { "pin_memory", "/opt/torch/utils/data/_utils/pin_memory.py", 0 },
	[ROLE_LEAK] = { "log_metrics", "/home/user/metrics.py", 0 },
	[ROLE_GROWTH] = { "Cache.append", "/home/user/model/cache.py", 0 },
	[ROLE_CUBLAS] = { "warm_up", "/home/user/train.py", 0 },
	[ROLE_NCCL] = { "init_process_group", "/opt/torch/distributed/distributed_c10d.py", 0 },
};

struct making {
	struct intern *intern;
	uint32_t module[MODULES];
	uint32_t frames[DEPTH];
	unsigned native, python;
};

static void make_modules(struct making *making)
{
	for (unsigned i = 0; i < MODULES; i++) {
		uint64_t base = 0x7f2a00000000u + i * 0x20000000ull;
		char build_id[41];

		for (unsigned k = 0; k < 40; k++)
			build_id[k] = "0123456789abcdef"[(i * 7 + k * 5 + k * i) & 15];
		build_id[40] = '\0';
		making->module[i] = intern_module(
			making->intern, &(struct spool_module){
						.base = base,
						.low = base,
						.high = base + 0x10000000,
						.path = intern_text(making->intern, modules[i]),
						.build_id = intern_text(making->intern, build_id),
					});
	}
}

static void add_native(struct making *making, enum module module, const char *function,
		       unsigned variant)
{
	uint64_t offset = 0x10000 + hash_bytes(function, strlen(function)) % 0x800000;
	struct spool_frame frame = {
		.language = FRAME_NATIVE,
		.module = making->module[module],
		.offset = offset + variant % 64 * 37,
		.function = intern_text(making->intern, function),
	};

	making->frames[making->native++] = intern_frame(making->intern, &frame);
}

static void add_python(struct making *making, const char *function, const char *file, unsigned line)
{
	struct spool_frame frame = {
		.language = FRAME_PYTHON,
		.function = intern_text(making->intern, function),
		.file = intern_text(making->intern, file),
		.line = line,
	};

	making->frames[making->native + making->python++] = intern_frame(making->intern, &frame);
}

static void add_natives(struct making *making, const struct native *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_native(making, list[i].module, list[i].function, 0);
}

/* Frames from the allocation outwards; `i` tells the stacks of one role apart. */
static void make_frames(struct making *making, enum role role, unsigned i, bool pool)
{
	char file[128];
	unsigned depth = i % 5;

	making->native = making->python = 0;
	if (role == ROLE_CUBLAS) {
		add_native(making, CUBLAS, "cublasCreate_v2", i);
	} else if (role == ROLE_NCCL) {
		add_native(making, NCCL, "ncclCommInitRankConfig", i);
	} else if (role == ROLE_PINNED) {
		add_native(making, CUDART, "cudaHostAlloc", 0);
		add_native(making, TORCH_CUDA, "at::cuda::CachingHostAllocator_recordEvent", i);
	} else if (pool) {
		add_natives(making, allocating, sizeof(allocating) / sizeof(allocating[0]));
	} else {
		add_native(making, CUDART, "cudaMalloc", 0);
		add_native(making, EXTENSION, "allocate_tensor(unsigned long, int)", i);
	}
	if (role == ROLE_GRADIENT) {
		add_native(making, TORCH_CUDA, "at::native::gradient_kernel(at::TensorIterator&)",
			   i);
		add_native(making, TORCH_CPU, "at::_ops::redispatch(c10::DispatchKeySet)", i / 64);
		add_native(making, TORCH_CPU, "torch::autograd::VariableType::apply()", i / 4096);
		add_natives(making, backward, sizeof(backward) / sizeof(backward[0]));
		return;
	}
	add_natives(making, asking, sizeof(asking) / sizeof(asking[0]));
	snprintf(file, sizeof(file), roles[role].file, i % FILES);
	add_python(making, roles[role].function, file, 20 + i / FILES);
	for (unsigned k = 0; k < depth; k++)
		add_python(making, "Sequential.forward", "/opt/torch/nn/modules/container.py",
			   244 + k);
	for (size_t k = 0; k < sizeof(outer) / sizeof(outer[0]); k++)
		add_python(making, outer[k].function, outer[k].file, outer[k].line);
}

static const char *owner_of(enum role role, bool pool)
{
	if (role == ROLE_CUBLAS)
		return "libcublas.so.13";
	if (role == ROLE_NCCL)
		return "libnccl.so.2";
	return pool ? "libc10_cuda.so" : "_C.cpython-312-x86_64-linux-gnu.so";
}

static uint32_t make_stack(struct making *making, enum role role, unsigned i, bool pool)
{
	struct hash128 hash = { HASH_C, HASH_D };
	uint64_t words[DEPTH];

	make_frames(making, role, i, pool);
	for (unsigned k = 0; k < making->native + making->python; k++)
		words[k] = making->frames[k];
	hash = hash_words(hash, words, making->native + making->python);
	return intern_stack(making->intern, hash,
			    &(struct intern_steps){
				    .frames = making->frames,
				    .native = (uint16_t)making->native,
				    .python = (uint16_t)making->python,
				    .owner = intern_text(making->intern, owner_of(role, pool)),
			    });
}

void code_make(struct code *code, struct intern *intern, unsigned wanted, bool pool)
{
	struct making making = { .intern = intern };
	unsigned weights = 0;

	make_modules(&making);
	for (unsigned role = 0; role < ROLES; role++)
		weights += roles[role].weight;
	for (unsigned role = 0; role < ROLES; role++) {
		uint64_t part = (uint64_t)wanted * roles[role].weight / weights;

		code->count[role] = part ? (unsigned)part : 1;
		code->stacks[role] = calloc(code->count[role], sizeof(uint32_t));
		for (unsigned i = 0; code->stacks[role] && i < code->count[role]; i++)
			code->stacks[role][i] = make_stack(&making, role, i, pool);
	}
}

void code_clear(struct code *code)
{
	for (unsigned role = 0; role < ROLES; role++)
		free(code->stacks[role]);
}
