/*
 * A small model of PyTorch's autograd, under PyTorch's own names: operators that make nodes with
 * numbers of their thread, and an engine that runs their derivatives on a thread without Python.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXECUTE \
	_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EE\
bbbS7_
#define MM _ZN2at4_ops2mm4callERKNS_6TensorES4_
#define MM_BACKWARD _ZN5torch8autograd9generated11MmBackward05applyEOSt6vectorIN2at6TensorESaIS5_EE
#define VIEW_BACKWARD \
	_ZN5torch8autograd9generated13ViewBackward05applyEOSt6vectorIN2at6TensorESaIS5_EE
#define ACCUMULATE _ZN5torch8autograd14AccumulateGrad5applyEOSt6vectorIN2at6TensorESaIS4_EE
#define NODE_NOW _ZN5torch8autograd16get_current_nodeEv

struct returned {
	uint64_t words[3];
};

/* What std::shared_ptr points to beside the node; the counts are checked at the end. */
struct control {
	void *table;
	int owners, weak;
};

struct node {
	void *table, *self[2];
	uint64_t number, topological;
	bool has_parent;
	uint64_t thread;
	struct control control;
	void (*apply)(int64_t size);
	int64_t size;
};

/* Of libc10_cuda.c. */
void block(int64_t size);

uint64_t _ZN2at15sequence_number4peekEv(void);
uint64_t _ZN2at14RecordFunction15currentThreadIdEv(void);
struct returned NODE_NOW(void);
struct returned EXECUTE(void *engine, const void *roots, const void *inputs, bool keep, bool create,
			bool accumulate, const void *outputs);
void MM_BACKWARD(int64_t size);
void VIEW_BACKWARD(int64_t size);
void ACCUMULATE(int64_t size);
void MM(int64_t size);
void view(int64_t size);
void empty(int64_t size);
void parameter(int64_t size);
int owners(void);

static _Thread_local uint64_t next_number;
static _Thread_local struct node *current;
static struct node graph[64];
static int nodes;

uint64_t _ZN2at15sequence_number4peekEv(void)
{
	return next_number;
}

uint64_t _ZN2at14RecordFunction15currentThreadIdEv(void)
{
	static _Thread_local uint64_t mine;
	static uint64_t last;

	if (!mine)
		mine = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return mine;
}

struct returned NODE_NOW(void) {
	struct returned none = { { 0, 0, 0 } };

	if (!current)
		return none;
	__atomic_fetch_add(&current->control.owners, 1, __ATOMIC_RELAXED);
	return (struct returned){ { (uint64_t)current, (uint64_t)&current->control, 0 } };
}

static void
node(void (*apply)(int64_t), int64_t size, uint64_t number)
{
	graph[nodes++] = (struct node){
		.number = number,
		.thread = _ZN2at14RecordFunction15currentThreadIdEv(),
		.control.owners = 1,
		.apply = apply,
		.size = size,
	};
}

void MM_BACKWARD(int64_t size)
{
	block(size + 1);
}

void VIEW_BACKWARD(int64_t size)
{
	block(size + 1);
}

void ACCUMULATE(int64_t size)
{
	block(size + 1);
}

/* An operator: its node comes first, then its output. */
void MM(int64_t size)
{
	node(MM_BACKWARD, size, next_number++);
	block(size);
}

/* One that has a node and allocates nothing. */
void view(int64_t size)
{
	node(VIEW_BACKWARD, size, next_number++);
}

void parameter(int64_t size)
{
	node(ACCUMULATE, size, UINT64_MAX);
}

/* One without a node. */
void empty(int64_t size)
{
	block(size);
}

static void *engine_thread(void *none)
{
	pthread_setname_np(pthread_self(), "pt_autograd_0");
	while (nodes) {
		current = &graph[--nodes];
		current->apply(current->size);
	}
	current = NULL;
	return none;
}

struct returned EXECUTE(void *engine, const void *roots, const void *inputs, bool keep, bool create,
			bool accumulate, const void *outputs) {
	pthread_t thread;

	(void)engine;
	(void)inputs;
	(void)keep;
	(void)create;
	(void)accumulate;
	(void)outputs;
	pthread_create(&thread, NULL, engine_thread, NULL);
	pthread_join(thread, NULL);
	/* All of the arguments and the result must come through as they are. */
	return (struct returned){ { (uint64_t)roots, (uint64_t)outputs,
				    keep + 2u * create + 4u * accumulate } };
}

/* Nobody may keep a node, or end one: each has one owner, the graph. */
int owners(void)
{
	int wrong = 0;

	for (int i = 0; i < 64; i++)
		wrong += graph[i].apply && graph[i].control.owners != 1;
	return wrong;
}
