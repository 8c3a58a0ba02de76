/*
 * A training program, made up: parameters and optimizer state stay, each step's activations are
 * born forward and die in reverse, temporaries come and go, gradients live until the optimizer ran.
 *
 * Its pool does what PyTorch's does, simplified: 2 MiB segments for small blocks, 20 MiB ones for
 * blocks up to 10 MiB, one of its own for each larger block; a freed block waits for its next user
 * of the same size.
 */
#include <stdlib.h>
#include <string.h>

#include "generator.h"
#include "ledger/device_used.h"
#include "ledger/vmm.h"

enum { SMALL = 28, LARGE = 24, HUGE = 10, CLASSES = SMALL + LARGE + HUGE + 2 };
enum { CLASS_LEAK = SMALL + LARGE + HUGE, CLASS_GROWTH };
enum { NCCL_HANDLES = 6, FIRST_THREAD = 4242, EMPTY_EVERY = 50, EPOCH = 10 };

static const uint64_t MIB = 1 << 20;

/* Where blocks come from: addresses never used again but by the same class. */
struct class
{
	uint64_t size;
	uint64_t *free; /* addresses of cached blocks */
	size_t count, room;
};

struct segment {
	uint64_t at, end;
};

struct device {
	struct class classes[CLASSES];
	struct segment small, large; /* what is left of the newest ones */
	uint64_t next;               /* address */
	uint64_t *activations, *gradients;
	struct truth truth;
	bool sampled;
};

struct part { /* a tensor that every step makes anew */
	uint8_t class, temporary;
	uint32_t stack, temporary_stack;
};

struct program {
	const struct wish *wish;
	struct intern intern;
	struct ledger ledger;
	struct code code;
	struct device *devices;
	struct part *parts;
	uint64_t activations, parameters, gradients, optimizers; /* a device */
	uint64_t left, random, t;
	uint64_t steps, ranges, pinned, next_pinned;
	uint32_t pool, thread, owner, context;
	uint32_t api_malloc, api_free, api_block, api_host, api_host_free, api_create, api_map;
};

static uint64_t pick(struct program *program, uint64_t below)
{
	return random_next(&program->random) % below;
}

/* --- one event --- */

static bool tick(struct program *program)
{
	if (!program->left)
		return false;
	program->left--;
	program->t += 400 + pick(program, 12000);
	return true;
}

static struct event event_of(struct program *program, unsigned device, enum event_op op,
			     uint64_t ptr, uint64_t size, uint32_t stack)
{
	return (struct event){
		.op = (uint8_t)op,
		.t = program->t,
		.ptr = ptr,
		.size = size,
		.stack = stack,
		.thread = program->thread,
		.device = (int16_t)device,
	};
}

static void raise_truth(struct truth *truth)
{
	if (truth->allocated > truth->peak_allocated)
		truth->peak_allocated = truth->allocated;
	if (truth->reserved > truth->peak_reserved)
		truth->peak_reserved = truth->reserved;
}

/* What the driver says is used, about: sampled where the library samples it. */
static void sample_used(struct program *program, unsigned device)
{
	struct device *on = &program->devices[device];
	const struct spool_used sample = {
		.t = program->t,
		.used = on->truth.reserved + 550 * MIB,
		.named = 550 * MIB,
		.device = (int16_t)device,
		.bytes = 550 * MIB,
		.name = program->context,
		.kind = program->context,
	};

	used_enter(&program->ledger, &sample, 0, !on->sampled);
	on->sampled = true;
}

static bool plain_alloc(struct program *program, unsigned device, uint64_t ptr, uint64_t size,
			uint32_t stack, uint32_t owner)
{
	struct truth *truth = &program->devices[device].truth;
	struct event event;

	if (!tick(program))
		return false;
	event = event_of(program, device, EVENT_ALLOC, ptr, size, stack);
	event.api = program->api_malloc;
	ledger_enter(&program->ledger, &event, NODE_ADDRESS, owner, 0);
	truth->allocated += size;
	truth->reserved += size;
	truth->allocations++;
	raise_truth(truth);
	sample_used(program, device);
	return true;
}

static void plain_free(struct program *program, unsigned device, uint64_t ptr, uint64_t size,
		       uint32_t stack)
{
	struct truth *truth = &program->devices[device].truth;
	struct event event;

	if (!tick(program))
		return;
	event = event_of(program, device, EVENT_FREE, ptr, 0, stack);
	event.api = program->api_free;
	ledger_leave(&program->ledger, &event, NODE_ADDRESS, NULL);
	truth->allocated -= size;
	truth->reserved -= size;
	truth->frees++;
}

static bool reserve(struct program *program, unsigned device, uint64_t ptr, uint64_t size,
		    uint32_t stack)
{
	struct truth *truth = &program->devices[device].truth;
	struct event event;

	if (!tick(program))
		return false;
	event = event_of(program, device, EVENT_RESERVE, ptr, size, stack);
	event.api = program->api_malloc;
	event.pool = program->pool;
	ledger_enter(&program->ledger, &event, NODE_ADDRESS, program->owner, 0);
	truth->reserved += size;
	raise_truth(truth);
	sample_used(program, device);
	return true;
}

static void release(struct program *program, unsigned device, uint64_t ptr, uint64_t size)
{
	struct event event;

	if (!tick(program))
		return;
	event = event_of(program, device, EVENT_RELEASE, ptr, 0,
			 code_stack(&program->code, ROLE_BATCH, 0));
	event.api = program->api_free;
	ledger_leave(&program->ledger, &event, NODE_ADDRESS, NULL);
	program->devices[device].truth.reserved -= size;
}

static bool block_alloc(struct program *program, unsigned device, uint64_t ptr, uint64_t size,
			uint32_t stack)
{
	struct truth *truth = &program->devices[device].truth;
	struct event event;

	if (!tick(program))
		return false;
	event = event_of(program, device, EVENT_ALLOC, ptr, size, stack);
	event.api = program->api_block;
	event.pool = program->pool;
	ledger_enter(&program->ledger, &event, NODE_BLOCK, 0, 0);
	truth->allocated += size;
	truth->allocations++;
	raise_truth(truth);
	return true;
}

static void block_free(struct program *program, unsigned device, uint64_t ptr, uint64_t size,
		       uint32_t stack)
{
	struct truth *truth = &program->devices[device].truth;
	struct event event;

	if (!tick(program))
		return;
	event = event_of(program, device, EVENT_FREE, ptr, 0, stack);
	event.api = program->api_block;
	event.pool = program->pool;
	ledger_leave(&program->ledger, &event, NODE_BLOCK, NULL);
	truth->allocated -= size;
	truth->frees++;
}

static void range(struct program *program, enum event_op op, const char *name, unsigned level)
{
	struct event event = { .op = (uint8_t)op, .device = NO_DEVICE };

	if (level > program->wish->phases || !tick(program))
		return;
	event.t = program->t;
	event.thread = FIRST_THREAD;
	event.name = op == EVENT_POP ? 0 : intern_text(&program->intern, name);
	ledger_note(&program->ledger, &event);
	program->ranges += op == EVENT_PUSH;
}

/* --- the pool --- */

/* A new block of the class, with the segment for it if need be; 0 when the events are all made. */
static uint64_t new_block(struct program *program, unsigned number, unsigned class, uint32_t stack)
{
	struct device *device = &program->devices[number];
	uint64_t size = device->classes[class].size;
	bool small = size <= MIB;
	struct segment *segment = small ? &device->small : &device->large;
	struct segment own = { 0, 0 };
	uint64_t bytes = small ? 2 * MIB : 20 * MIB;

	if (size > 10 * MIB) {
		segment = &own;
		bytes = (size + 2 * MIB - 1) & ~(2 * MIB - 1);
	}
	if (segment->end - segment->at < size) {
		if (program->pool && !reserve(program, number, device->next, bytes, stack))
			return 0;
		*segment = (struct segment){ device->next, device->next + bytes };
		device->next += bytes;
	}
	segment->at += size;
	return segment->at - size;
}

static uint64_t take(struct program *program, unsigned number, unsigned class, uint32_t stack)
{
	struct class *from = &program->devices[number].classes[class];
	uint64_t ptr =
		from->count ? from->free[--from->count] : new_block(program, number, class, stack);

	if (!ptr)
		return 0;
	if (program->pool ? block_alloc(program, number, ptr, from->size, stack)
			  : plain_alloc(program, number, ptr, from->size, stack, program->owner))
		return ptr;
	return 0;
}

static void give(struct program *program, unsigned number, unsigned class, uint64_t ptr,
		 uint32_t stack)
{
	struct class *to = &program->devices[number].classes[class];

	if (!ptr || !program->left)
		return;
	if (program->pool)
		block_free(program, number, ptr, to->size, stack);
	else
		plain_free(program, number, ptr, to->size, stack);
	if (to->count == to->room) {
		size_t room = to->room ? to->room * 2 : 16;
		uint64_t *list = realloc(to->free, room * sizeof(*list));

		if (!list)
			abort();
		to->free = list;
		to->room = room;
	}
	to->free[to->count++] = ptr;
}

/* torch.cuda.empty_cache(): here only segments of a single block go. */
static void empty_cache(struct program *program, unsigned number)
{
	for (unsigned i = SMALL + LARGE; program->pool && i < SMALL + LARGE + HUGE; i++) {
		struct class *class = &program->devices[number].classes[i];

		while (class->count && program->left)
			release(program, number, class->free[--class->count], class->size);
	}
}

static void make_classes(struct program *program, struct device *device, uint64_t scale)
{
	uint64_t growth = program->wish->growth;

	for (unsigned i = 0; i < CLASSES; i++) {
		uint64_t size;

		if (i < SMALL)
			size = 512ull << (i % 11) | 512 * (i / 11) * 3;
		else if (i < SMALL + LARGE)
			size = MIB + 512 + (i - SMALL) * 384 * 1024;
		else
			size = (12 + 4 * (i - SMALL - LARGE)) * MIB;
		device->classes[i].size = size + (i < SMALL ? 0 : scale * 512);
	}
	for (unsigned i = SMALL + LARGE; i < SMALL + LARGE + HUGE; i++)
		device->classes[i].size &= ~(2 * MIB - 1);
	device->classes[CLASS_LEAK].size = 96 * 1024;
	device->classes[CLASS_GROWTH].size = ((growth ? growth : 1) + 511) & ~511ull;
}

/* Most tensors are small, most bytes are in large ones. */
static unsigned pick_class(struct program *program)
{
	uint64_t roll = pick(program, 100);

	if (roll < 55)
		return (unsigned)pick(program, SMALL);
	if (roll < 96)
		return SMALL + (unsigned)pick(program, LARGE);
	return SMALL + LARGE + (unsigned)pick(program, HUGE);
}

/* --- the training --- */

static uint32_t autograd_thread(const struct program *program, unsigned device)
{
	return program->wish->threads > 1 ? FIRST_THREAD + 1 + device % (program->wish->threads - 1)
					  : FIRST_THREAD;
}

static void pinned(struct program *program, enum event_op op, uint64_t ptr, uint64_t size)
{
	struct event event;

	if (!tick(program))
		return;
	event = event_of(program, 0, op, ptr, size, code_stack(&program->code, ROLE_PINNED, 0));
	event.device = NO_DEVICE;
	event.space = SPACE_PINNED;
	event.thread = FIRST_THREAD + program->wish->threads - 1;
	event.api = op == EVENT_ALLOC ? program->api_host : program->api_host_free;
	if (op == EVENT_ALLOC) {
		ledger_enter(&program->ledger, &event, NODE_ADDRESS, 0, 0);
		program->pinned += size;
	} else {
		ledger_leave(&program->ledger, &event, NODE_ADDRESS, NULL);
		program->pinned -= size;
	}
}

/* NCCL's buffers come through cuMemCreate and cuMemMap. */
static void nccl_buffers(struct program *program, unsigned number)
{
	struct device *device = &program->devices[number];

	for (unsigned i = 0; i < NCCL_HANDLES; i++) {
		uint64_t size = (2 + 4 * i) * MIB;
		uint64_t handle = 0x55d0c0000000u + number * 0x100000 + i * 0x200;
		struct event event;

		if (!tick(program))
			return;
		event = event_of(program, number, EVENT_ALLOC, handle, size,
				 code_stack(&program->code, ROLE_NCCL, i));
		event.api = program->api_create;
		ledger_enter(&program->ledger, &event, NODE_HANDLE,
			     intern_text(&program->intern, "libnccl.so.2"), 0);
		device->truth.allocated += size;
		device->truth.reserved += size;
		device->truth.allocations++;
		raise_truth(&device->truth);
		if (!tick(program))
			return;
		event = event_of(program, number, EVENT_MAP, device->next, size, event.stack);
		event.api = program->api_map;
		vmm_map(&program->ledger, &event, handle);
		device->next += size;
	}
}

static void start_device(struct program *program, unsigned number)
{
	struct device *device = &program->devices[number];

	for (unsigned i = 0; i < 2; i++) {
		if (plain_alloc(program, number, device->next, (8 + 56 * i) * MIB,
				code_stack(&program->code, ROLE_CUBLAS, i),
				intern_text(&program->intern, "libcublas.so.13")))
			device->next += 64 * MIB;
	}
	nccl_buffers(program, number);
	for (uint64_t i = 0; i < program->parameters; i++)
		take(program, number, pick_class(program),
		     code_stack(&program->code, ROLE_PARAMETER, i));
}

static void forward(struct program *program)
{
	program->thread = FIRST_THREAD;
	for (uint64_t i = 0; i < program->activations; i++) {
		const struct part *part = &program->parts[i];

		for (unsigned d = 0; d < program->wish->devices; d++) {
			uint64_t temporary =
				take(program, d, part->temporary, part->temporary_stack);

			program->devices[d].activations[i] =
				take(program, d, part->class, part->stack);
			give(program, d, part->temporary, temporary, part->temporary_stack);
		}
	}
}

static void backward(struct program *program)
{
	for (uint64_t i = program->activations; i--;) {
		const struct part *part = &program->parts[i];
		uint32_t stack = code_stack(&program->code, ROLE_GRADIENT, i);

		for (unsigned d = 0; d < program->wish->devices; d++) {
			struct device *device = &program->devices[d];
			uint64_t temporary;

			program->thread = autograd_thread(program, d);
			temporary = take(program, d, part->temporary, stack);
			if (i < program->gradients)
				device->gradients[i] = take(program, d, part->class, stack);
			give(program, d, part->class, device->activations[i], stack);
			device->activations[i] = 0;
			give(program, d, part->temporary, temporary, stack);
		}
	}
	program->thread = FIRST_THREAD;
}

static void optimize(struct program *program)
{
	for (unsigned d = 0; d < program->wish->devices; d++) {
		uint32_t stack = code_stack(&program->code, ROLE_OPTIMIZER, 0);

		for (uint64_t i = 0; !program->steps && i < program->optimizers; i++)
			take(program, d, pick_class(program),
			     code_stack(&program->code, ROLE_OPTIMIZER, i));
		for (uint64_t i = 0; i < program->gradients; i++) {
			give(program, d, program->parts[i].class, program->devices[d].gradients[i],
			     stack);
			program->devices[d].gradients[i] = 0;
		}
	}
}

static void step(struct program *program)
{
	uint64_t batch[2] = { program->next_pinned, 4 * MIB };
	uint64_t inputs[256] = { 0 };
	unsigned devices = program->wish->devices;
	uint32_t stack = code_stack(&program->code, ROLE_BATCH, 0);

	if (program->steps % EPOCH == 0)
		range(program, EVENT_MARK, "epoch", 0);
	range(program, EVENT_PUSH, "step", 1);
	pinned(program, EVENT_ALLOC, batch[0], batch[1]);
	for (unsigned d = 0; d < devices; d++)
		inputs[d] = take(program, d, SMALL + 3, stack);
	range(program, EVENT_PUSH, "forward", 2);
	forward(program);
	range(program, EVENT_POP, NULL, 2);
	range(program, EVENT_PUSH, "backward", 3);
	backward(program);
	range(program, EVENT_POP, NULL, 3);
	range(program, EVENT_PUSH, "optimizer", 4);
	optimize(program);
	range(program, EVENT_POP, NULL, 4);
	for (unsigned d = 0; d < devices; d++) {
		give(program, d, SMALL + 3, inputs[d], stack);
		if (program->wish->leak)
			take(program, d, CLASS_LEAK, code_stack(&program->code, ROLE_LEAK, 0));
		if (program->wish->growth)
			take(program, d, CLASS_GROWTH, code_stack(&program->code, ROLE_GROWTH, 0));
		if (program->steps % EMPTY_EVERY == EMPTY_EVERY - 1)
			empty_cache(program, d);
	}
	/* Loaders allocate ahead: every fourth batch stays pinned for good, up to a bound. */
	if (program->steps % 4 || program->steps > 32)
		pinned(program, EVENT_FREE, batch[0], batch[1]);
	else
		program->next_pinned += batch[1];
	range(program, EVENT_POP, NULL, 1);
	program->t += 2000000;
	program->steps++;
}

/* --- the whole --- */

static void *zeroed(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		abort();
	return p;
}

static void plan(struct program *program, unsigned rank)
{
	const struct wish *wish = program->wish;
	uint64_t live = wish->live / wish->devices;

	program->parameters = live / 8;
	program->optimizers = live / 4;
	program->gradients = live / 8;
	program->activations = live / 2 ? live / 2 : 1;
	program->parts = zeroed(program->activations, sizeof(*program->parts));
	for (uint64_t i = 0; i < program->activations; i++)
		program->parts[i] = (struct part){
			.class = (uint8_t)pick_class(program),
			.temporary = (uint8_t)pick_class(program),
			.stack = code_stack(&program->code, ROLE_ACTIVATION, i),
			.temporary_stack = code_stack(&program->code, ROLE_TEMPORARY, i),
		};
	program->devices = zeroed(wish->devices, sizeof(*program->devices));
	for (unsigned d = 0; d < wish->devices; d++) {
		struct device *device = &program->devices[d];

		device->next = 0x7f1200000000u + d * 0x20000000000ull;
		device->activations = zeroed(program->activations, sizeof(uint64_t));
		device->gradients = zeroed(program->gradients, sizeof(uint64_t));
		make_classes(program, device, rank);
	}
}

static void name_apis(struct program *program)
{
	struct intern *intern = &program->intern;

	program->context = intern_text(intern, "context");
	program->api_malloc = intern_text(intern, "cudaMalloc");
	program->api_free = intern_text(intern, "cudaFree");
	program->api_block = intern_text(intern, "torch");
	program->api_host = intern_text(intern, "cudaHostAlloc");
	program->api_host_free = intern_text(intern, "cudaFreeHost");
	program->api_create = intern_text(intern, "cuMemCreate");
	program->api_map = intern_text(intern, "cuMemMap");
	program->pool = intern_text(intern, program->wish->pool);
	program->owner = intern_text(intern, program->pool ? "libc10_cuda.so"
							   : "_C.cpython-312-x86_64-linux-gnu.so");
	for (unsigned i = 0; i < program->wish->threads; i++)
		intern_thread(intern, FIRST_THREAD + i, i ? "pt_autograd" : "python", 0);
}

struct program *program_run(const struct wish *wish, struct spool *spool, unsigned rank)
{
	struct program *program = zeroed(1, sizeof(*program));

	program->wish = wish;
	program->left = wish->events;
	program->random = wish->seed + rank * 1000003ull;
	program->t = 60000000;
	program->thread = FIRST_THREAD;
	program->next_pinned = 0x7f0010000000u;
	if (intern_init(&program->intern, spool) ||
	    ledger_init(&program->ledger, spool, wish->max_events)) {
		free(program);
		return NULL;
	}
	name_apis(program);
	code_make(&program->code, &program->intern, wish->stacks, program->pool != 0);
	plan(program, rank);
	for (unsigned d = 0; d < wish->devices; d++)
		start_device(program, d);
	while (program->left && !program->ledger.error)
		step(program);
	spool->header->end = program->t;
	return program;
}

const struct truth *program_truth(const struct program *program, unsigned device)
{
	return &program->devices[device].truth;
}

uint64_t program_pinned(const struct program *program)
{
	return program->pinned;
}

uint64_t program_steps(const struct program *program)
{
	return program->steps;
}

uint64_t program_ranges(const struct program *program)
{
	return program->ranges;
}

void program_free(struct program *program)
{
	for (unsigned d = 0; d < program->wish->devices; d++) {
		struct device *device = &program->devices[d];

		for (unsigned i = 0; i < CLASSES; i++)
			free(device->classes[i].free);
		free(device->activations);
		free(device->gradients);
	}
	free(program->devices);
	free(program->parts);
	code_clear(&program->code);
	ledger_clear(&program->ledger);
	intern_clear(&program->intern);
	free(program);
}
