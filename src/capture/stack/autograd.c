/*
 * Finds Python stacks for allocations in PyTorch's backward passes, whose threads run no Python.
 *
 * Two stacks are recorded for such an allocation, in addition to its thread's own. The first is the
 * stack that called backward(): libtorch_python.so calls torch::autograd::Engine::execute through
 * the PLT, so that call reaches our function of that name, on the thread that called backward().
 * The second is the forward operator's stack: each node of the graph has a number, and while its
 * operator allocates, at::sequence_number::peek() on the forward thread returns that number plus 1.
 *
 * The second stack is wrong if an operator allocates nothing (a view): the thread's next allocation
 * is then taken for that operator's. The analysis checks that the operator's name fits the node.
 */
#include "capture/stack/stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/guest/debug_checks.h"
#include "capture/loader/loader.h"

/* Holds a std::vector<at::Tensor> (three words) or a std::shared_ptr<Node> (two). C++ returns both
 * through a hidden pointer, as C does for this struct because it has more than two words. */
struct returned {
	uint64_t words[3];
};

static HOT_DATA struct {
	_Atomic(void *) peek;      /* uint64_t at::sequence_number::peek() */
	_Atomic(void *) thread_id; /* uint64_t at::RecordFunction::currentThreadId() */
	_Atomic(void *) node;      /* std::shared_ptr<Node> torch::autograd::get_current_node() */
} pytorch;

typedef uint64_t number_fn(void);
typedef struct returned node_fn(void);

/* --- forward passes: the stack of the first allocation for each node number --- */

/* The stack of the first allocation for a node, in one word so that no thread reads it half
 * written. `thread` and `number` are the node's low bits, enough to tell another node's entry. */
union forward_slot {
	uint64_t word;
	struct {
		uint64_t thread : 9;
		uint64_t number : 28;
		uint64_t stack : 27;
	};
};

enum { SLOTS = 1 << 15 };

static _Atomic uint64_t forward[SLOTS];
static HOT_THREAD _Thread_local uint64_t last_peek;

/* A node's slot. Consecutive numbers have adjacent slots: a backward pass uses them in turn. */
static _Atomic uint64_t *function_slot(uint64_t thread, uint64_t number)
{
	return &forward[(number + thread * 0x9e3779b9u) % SLOTS];
}

/* Calls a function of PyTorch. It may call malloc, so debug builds allow that meanwhile. */
static uint64_t ask_number(number_fn *function)
{
	const char *path = watch_path(NULL);
	uint64_t number;

	watch_host("a function of PyTorch's");
	number = function();
	watch_path(path);
	return number;
}

HOT_CODE void autograd_forward(uint32_t stack)
{
	/* autograd_prepare() sets `peek` last: if it is set, all three functions are. */
	number_fn *peek = (number_fn *)atomic_load_explicit(&pytorch.peek, memory_order_acquire);
	number_fn *thread_id;
	union forward_slot slot = { .stack = stack };
	uint64_t next;
	uint64_t thread;

	if (!peek || !stack || slot.stack != stack)
		return;
	next = ask_number(peek);
	if (next == last_peek || !next || !record_stack(stack)->python)
		return;
	last_peek = next;
	thread_id = (number_fn *)atomic_load_explicit(&pytorch.thread_id, memory_order_relaxed);
	thread = ask_number(thread_id);
	slot.thread = thread;
	slot.number = next - 1;
	atomic_store_explicit(function_slot(thread, next - 1), slot.word, memory_order_relaxed);
}

/* Offsets in bytes into torch::autograd::Node, as libstdc++ and PyTorch 1.8 to 2.11 lay it out: a
 * vtable, a weak_ptr to itself, sequence_nr_, topological_nr_, has_parent_, thread_id_. */
enum { NODE_NUMBER = 24, NODE_TOPOLOGICAL = 32, NODE_THREAD = 48 };

static uint64_t word_at(uint64_t address, unsigned offset)
{
	uint64_t word;

	memcpy(&word, (const char *)(uintptr_t)address + offset, sizeof(word));
	return word;
}

/* False if a field of the node has an unusable value: AccumulateGrad's number is UINT64_MAX. */
static bool plausible(uint64_t node)
{
	return word_at(node, NODE_NUMBER) < 1ull << 48 && word_at(node, NODE_THREAD) < 1ull << 32 &&
	       word_at(node, NODE_TOPOLOGICAL) < 1ull << 48;
}

static uint32_t forward_of(uint64_t node)
{
	uint64_t thread = word_at(node, NODE_THREAD);
	uint64_t number = word_at(node, NODE_NUMBER);
	union forward_slot slot = { atomic_load_explicit(function_slot(thread, number),
							 memory_order_relaxed) };
	union forward_slot same = { .thread = thread, .number = number, .stack = slot.stack };

	return slot.word == same.word ? slot.stack : 0;
}

/* The stack of the forward operator whose gradient this thread computes, 0 if unknown. Dropping our
 * reference to the running node never frees the node, because the engine has another reference. */
static uint32_t forward_stack(void)
{
	node_fn *current = (node_fn *)atomic_load_explicit(&pytorch.node, memory_order_relaxed);
	const char *path;
	struct returned node;
	uint32_t stack = 0;

	if (!current)
		return 0;
	path = watch_path(NULL);
	watch_host("torch::autograd::get_current_node");
	node = current();
	watch_path(path);
	if (node.words[0] && plausible(node.words[0]))
		stack = forward_of(node.words[0]);
	/* Drops our reference. libstdc++'s control block is a vtable pointer, then a use count. */
	if (node.words[1])
		atomic_fetch_sub((_Atomic int *)(uintptr_t)(node.words[1] + 8), 1);
	return stack;
}

/* --- backward passes: the stacks that called backward() --- */

/* Stack numbers of the running calls of backward(): UINT32_MAX if unknown, 0 in a free slot. */
enum { PASSES = 64 };
static _Atomic uint32_t passes[PASSES];
static HOT_DATA _Atomic uint32_t under_way; /* number of running passes, with or without a slot */

/* The stack that called backward(), if it is the same for all running passes. Otherwise 0, because
 * the pass to which this thread belongs is not known. */
static uint32_t backward_stack(void)
{
	uint32_t found = 0;
	uint32_t seen = 0;

	for (unsigned i = 0; i < PASSES && seen < atomic_load(&under_way); i++) {
		uint32_t stack = atomic_load_explicit(&passes[i], memory_order_acquire);

		if (!stack)
			continue;
		if (stack == UINT32_MAX || (found && found != stack))
			return 0;
		found = stack;
		seen++;
	}
	return found;
}

HOT_CODE struct autograd_via autograd_via(void)
{
	struct autograd_via via = { 0, 0 };

	if (!atomic_load_explicit(&under_way, memory_order_relaxed))
		return via;
	via.backward = backward_stack();
	via.forward = forward_stack();
	return via;
}

/* Takes a slot for a backward pass. Passes that find no free slot share slot 0, without a stack. */
static void pass_begin(unsigned *slot, uint32_t stack)
{
	atomic_fetch_add(&under_way, 1);
	for (*slot = 1; *slot < PASSES; ++*slot) {
		uint32_t empty = 0;

		if (atomic_compare_exchange_strong(&passes[*slot], &empty, stack))
			return;
	}
	*slot = 0;
	atomic_store(&passes[0], UINT32_MAX);
}

static void pass_end(const unsigned *slot)
{
	atomic_store_explicit(&passes[*slot], 0, memory_order_release);
	atomic_fetch_sub(&under_way, 1);
}

static uint32_t calling_stack(void *caller)
{
	uint32_t stack = 0;

	if (record_continue() && !record_quiet())
		stack = stacks_capture(caller, NULL, false);
	return stack ? stack : UINT32_MAX;
}

void autograd_clear(void)
{
	if (atomic_load(&pytorch.peek))
		memset((void *)forward, 0, sizeof(forward));
	for (unsigned i = 0; i < PASSES; i++) {
		if (atomic_load(&passes[i]))
			atomic_store(&passes[i], UINT32_MAX);
	}
	last_peek = 0;
}

void autograd_prepare(void)
{
	void *handle;

	if (atomic_load_explicit(&pytorch.peek, memory_order_relaxed))
		return;
	handle = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
	if (!handle)
		return;
	atomic_store(&pytorch.thread_id,
		     resolve_dlsym(handle, "_ZN2at14RecordFunction15currentThreadIdEv"));
	atomic_store(&pytorch.node,
		     resolve_dlsym(handle, "_ZN5torch8autograd16get_current_nodeEv"));
	if (atomic_load(&pytorch.thread_id) && atomic_load(&pytorch.node))
		atomic_store(&pytorch.peek,
			     resolve_dlsym(handle, "_ZN2at15sequence_number4peekEv"));
	resolve_dlclose(handle);
}

/* The mangled name of torch::autograd::Engine::execute(edges, tensors, keep_graph, create_graph,
 * accumulate_grad, outputs), unchanged from PyTorch 1.8 to 2.11. */
#define EXECUTE \
	_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_
#define NAME_OF(symbol) #symbol
#define NAME(symbol) NAME_OF(symbol)

typedef struct returned execute_fn(void *engine, const void *roots, const void *inputs, bool keep,
				   bool create, bool accumulate, const void *outputs);

EXPORT execute_fn EXECUTE;

/* PyTorch's own execute(), as the dynamic linker would find it for the first caller; or NULL. */
static execute_fn *execute_real(void *caller)
{
	static _Atomic(void *) known;
	void *real = atomic_load_explicit(&known, memory_order_relaxed);

	if (!real) {
		real = resolve_from(NAME(EXECUTE), caller);
		atomic_store_explicit(&known, real, memory_order_relaxed);
	}
	return (execute_fn *)real;
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are PyTorch's. */
struct returned EXECUTE(void *engine, const void *roots, const void *inputs, bool keep, bool create,
			bool accumulate, const void *outputs) {
	execute_fn *real = execute_real(CALLER);
	int saved = errno;

	if (!real)
		return (struct returned){ { 0, 0, 0 } }; /* an empty vector: no gradients */
	if (!record_on())
		return real(engine, roots, inputs, keep, create, accumulate, outputs);

	/* The cleanup also runs when an exception, thrown by a failing node, passes through. */
	__attribute__((cleanup(pass_end))) unsigned slot = 0;
	pass_begin(&slot, calling_stack(CALLER));
	errno = saved;
	return real(engine, roots, inputs, keep, create, accumulate, outputs);
}
